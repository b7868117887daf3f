"""Goal: clients of WebDAV read and change the files of a mount, and programs see the changes in the
mount.

Method: the built gridmount, raw requests and rclone.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mount"))

# pylint: disable=wrong-import-position
from http_case import HttpRequests
from mount_case import MountCase, main


class GridmountWebdav(HttpRequests, MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self.system.options = ["--http", "127.0.0.1:0", "--http-write"]
        self.system.start()
        self.port = self.wait_until(
            lambda: self.port_in(self.system.log()), "the log names no address"
        )

    # --- Verbs.

    def write(self, name, content):
        path = pathlib.Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def tree(self, folder):
        folder = pathlib.Path(folder)
        return {
            str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")
        }

    def rclone(self, *arguments):
        if not shutil.which("rclone"):
            self.skipTest("there is no rclone")
        done = subprocess.run(
            ["rclone", "--config", "/dev/null", "--webdav-url", self.url("/fs"), *arguments],
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    # --- Tests.

    def test_Move_IsSeenInTheMount(self):
        self.write("a/b/file", b"content")
        self.write("a/open", b"before")
        with open(self.path("a/open"), "r+b") as file:
            self.assertEqual(sorted(os.listdir(self.path("a"))), ["b", "open"])
            moved = self.request("MOVE", "/fs/a", Destination=self.url("/fs/z"))
            self.assertEqual(moved.status, 201)
            file.write(b"later!")
        self.assertEqual(os.listdir(self.path("")), ["z"])
        self.assertFalse(os.path.exists(self.path("a/b/file")))
        self.assertEqual(
            self.tree(self.path("")),
            {"z": None, "z/b": None, "z/b/file": b"content", "z/open": b"later!"},
        )
        self.assertEqual(self.get("/fs/z/open").body, b"later!")
        self.system.stop()
        self.check_store()

    def test_Copy_IsSeenInTheMount(self):
        self.write("a/b/file", os.urandom(3_000_000))
        os.mkdir(self.path("a/empty"), mode=0o710)
        self.assertFalse(os.path.exists(self.path("z")))
        self.assertEqual(self.request("COPY", "/fs/a", Destination="/fs/z").status, 201)
        self.assertEqual(self.tree(self.path("z")), self.tree(self.path("a")))
        self.assertEqual(os.stat(self.path("z/empty")).st_mode & 0o777, 0o710)
        self.assertEqual(self.request("DELETE", "/fs/a").status, 204)
        self.assertEqual(os.listdir(self.path("")), ["z"])
        self.system.stop()
        self.check_store()

    def test_Locks_AreHeeded_ByClientsAlone(self):
        self.write("file", b"before")
        info = (
            b"<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope>"
            b"<locktype><write/></locktype><owner>me</owner></lockinfo>"
        )
        self.assertEqual(self.request("OPTIONS", "/fs/file").headers["DAV"], "1, 2")
        locked = self.request("LOCK", "/fs/file", info)
        self.assertEqual(locked.status, 200)
        token = locked.headers["Lock-Token"]
        self.assertEqual(self.request("PUT", "/fs/file", b"other").status, 423)
        self.assertEqual(self.request("LOCK", "/fs/file", info).status, 423)
        self.assertEqual(self.request("PUT", "/fs/file", b"new", If=f"({token})").status, 204)
        with open(self.path("file"), "wb") as file:
            file.write(b"from the mount")
        self.assertEqual(self.get("/fs/file").body, b"from the mount")
        self.assertEqual(self.request("UNLOCK", "/fs/file", Lock_Token=token).status, 204)
        self.assertEqual(self.request("PUT", "/fs/file", b"other").status, 204)
        self.assertEqual(self.request("LOCK", "/fs/new", info).status, 201)
        self.assertEqual(sorted(os.listdir(self.path(""))), ["file", "new"])

    def test_Properties_AreThoseOfTheMount(self):
        self.write("dir/a b", b"content")
        os.utime(self.path("dir/a b"), (0, 1_000_000_000))
        reply = self.request("PROPFIND", "/fs/dir", Depth="1")
        self.assertEqual(reply.status, 207)
        responses = ElementTree.fromstring(reply.body).findall("{DAV:}response")
        self.assertEqual(
            [response.findtext("{DAV:}href") for response in responses],
            ["/fs/dir/", "/fs/dir/a%20b"],
        )
        self.assertEqual(
            responses[1].findtext(".//{DAV:}getlastmodified"), "Sun, 09 Sep 2001 01:46:40 GMT"
        )
        patch = (
            b"<propertyupdate xmlns='DAV:'><set><prop><getlastmodified>"
            b"Sun, 09 Sep 2001 01:46:41 GMT</getlastmodified></prop></set></propertyupdate>"
        )
        for name in ("dir", "dir/a b"):
            target = "/fs/" + name.replace(" ", "%20")
            self.assertEqual(self.request("PROPPATCH", target, patch).status, 207)
            self.assertEqual(os.stat(self.path(name)).st_mtime, 1_000_000_001)

    def test_HostileRequests_HarmNobody(self):
        self.write("file", b"content")
        bomb = b"<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;&b;'>]>"
        nested = b"<a>" * 20_000
        for method in ("PROPFIND", "PROPPATCH", "LOCK"):
            for body in (bomb + b"<a xmlns='DAV:'>&c;</a>", b"<a", b"\xff\xfe", b"\0" * 1000):
                reply = self.request(method, "/fs/file", body, Depth="0")
                self.assertEqual(reply.status, 400, (method, body[:20]))
            for body in (nested, b" " * 5_000_000, b"<a>" + b"<b/>" * 10_000 + b"</a>"):
                head = f"{method} /fs/file HTTP/1.1\r\nHost: localhost\r\nDepth: 0\r\n"
                head += f"Content-Length: {len(body)}\r\n\r\n"
                reply = self.send_bytes(head.encode() + body)
                self.assertIn(b" 413 ", reply[:20], (method, body[:20]))
        for method in ("COPY", "MOVE"):
            for place in ("/fs/../x", "/fs/%2e%2e/x", "/fs/a%2fb", "/fs//x", "\\\\x", "file:///x"):
                reply = self.request(method, "/fs/file", Destination=place)
                self.assertIn(reply.status, (400, 502), place)
            self.assertEqual(self.request(method, "/fs/file", Destination="/fs/file").status, 403)
        for field in ("(" * 5000, "(<a>" * 3000, "<" * 8000, "([" * 4000):
            reply = self.request("PUT", "/fs/file", b"x", If=field)
            self.assertIn(reply.status, (400, 413))
        self.assertEqual(self.tree(self.path("")), {"file": b"content"})

    def test_Rclone_CopiesSyncsAndMoves(self):
        with tempfile.TemporaryDirectory() as local:
            source = pathlib.Path(local, "source")
            (source / "dir" / "below").mkdir(parents=True)
            (source / "dir" / "below" / "\u00e9 %&#?").write_bytes(os.urandom(2_000_000))
            (source / "dir" / "second").write_bytes(b"")
            (source / "first").write_bytes(b"one")
            self.rclone("copy", str(source), ":webdav:up")
            self.assertEqual(self.tree(self.path("up")), self.tree(source))
            self.rclone("check", "--download", str(source), ":webdav:up")
            # A sync removes files that are gone, and replaces files that have another size.
            (source / "first").write_bytes(b"longer")
            (source / "dir" / "second").unlink()
            self.rclone("sync", str(source), ":webdav:up")
            self.assertEqual(self.tree(self.path("up")), self.tree(source))
            self.rclone("moveto", ":webdav:up/first", ":webdav:up/dir/moved")
            self.rclone("copyto", ":webdav:up/dir/moved", ":webdav:copied")
            self.assertEqual(pathlib.Path(self.path("copied")).read_bytes(), b"longer")
            self.rclone("moveto", ":webdav:up/dir", ":webdav:up/renamed")
            self.assertEqual(sorted(os.listdir(self.path("up/renamed"))), ["below", "moved"])
            self.rclone("purge", ":webdav:up")
            self.assertEqual(os.listdir(self.path("")), ["copied"])
            self.assertIn("Used:", self.rclone("about", ":webdav:"))


if __name__ == "__main__":
    main()
