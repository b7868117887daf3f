"""Goal: clients of HTTP see what programs write into a mount, and the mount ends beside them."""

import os
import pathlib
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mount"))

# pylint: disable=wrong-import-position
from http_case import HttpRequests
from mount_case import MountCase, main
from mounts import is_mounted


class GridmountHttp(HttpRequests, MountCase):
    def setUp(self):
        super().setUp()
        self.start()

    # --- Verbs.

    def start(self, *options):
        self.system.stop()
        self.system.options = ["--http", "127.0.0.1:0", *options]
        self.system.start()
        self.port = self.wait_until(
            lambda: self.port_in(self.system.log()), "the log names no address"
        )

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    # --- Tests.

    def test_WrittenFiles_AreServed(self):
        os.makedirs(self.path("a", "b"))
        content = os.urandom(1_000_000)
        self.write("a/b/c.png", content)
        reply = self.get("/fs/a/b/c.png")
        self.assertEqual((reply.status, reply.body), (200, content))
        self.assertEqual(reply.headers["Content-Type"], "image/png")
        self.assertEqual(self.curl(self.url("/fs/a/b/c.png"), "-r", "5-9"), content[5:10])

    def test_EachChange_HasATagOfItsOwn(self):
        self.write("file", b"first")
        tags = [self.get("/fs/file").headers["ETag"]]
        for number in range(20):
            # Overwrites the content in place, with the same length, as fast as possible.
            with open(self.path("file"), "r+b") as file:
                file.write(b"%05d" % number)
            reply = self.get("/fs/file")
            self.assertEqual(reply.body, b"%05d" % number)
            tags.append(reply.headers["ETag"])
        self.assertEqual(len(set(tags)), len(tags))
        os.chmod(self.path("file"), 0o600)
        os.utime(self.path("file"), (1, 784111777))
        os.rename(self.path("file"), self.path("other"))
        reply = self.get("/fs/other")
        self.assertEqual(reply.headers["ETag"], tags[-1])
        self.assertEqual(reply.headers["Last-Modified"], "Sun, 06 Nov 1994 08:49:37 GMT")

    def test_ChangedInPlaceDuringADownload_EndsTheConnection(self):
        content = b"a" * 30_000_000
        self.write("file", content)
        client = self.connect()
        client.sendall(b"GET /fs/file HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begin = client.recv(1000)
        with open(self.path("file"), "r+b") as file:
            file.seek(29_000_000)
            file.write(b"b")
        received = (begin + self.receive_all(client)).partition(b"\r\n\r\n")[2]
        self.assertLess(len(received), len(content))
        self.assertNotIn(b"b", received)

    def test_WhatIsNoFile_IsListed_AndNotServed(self):
        self.write("file", b"content")
        os.symlink("/etc/passwd", self.path("link"))
        os.symlink("file", self.path("near"))
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("empty"))
        entries = {e["name"]: e["type"] for e in self.get("/fs?format=json").json()["entries"]}
        self.assertEqual(
            entries,
            {
                "file": "file",
                "link": "symlink",
                "near": "symlink",
                "pipe": "other",
                "empty": "directory",
            },
        )
        for name in ("link", "near", "pipe"):
            self.assertEqual(self.get(f"/fs/{name}").status, 403, name)
        self.assertEqual(self.get("/fs/empty?format=json").json()["entries"], [])

    def test_Holes_AreZeros(self):
        with open(self.path("file"), "wb") as file:
            file.truncate(3_000_000)
            file.seek(1_500_000)
            file.write(b"data")
        expected = bytes(1_500_000) + b"data" + bytes(3_000_000 - 1_500_004)
        self.assertEqual(self.get("/fs/file").body, expected)

    def test_UnlinkedFile_IsGone(self):
        self.write("file", b"content")
        with open(self.path("file"), "rb") as file:
            os.unlink(self.path("file"))
            self.assertEqual(self.get("/fs/file").status, 404)
            self.assertEqual(file.read(), b"content")

    def test_Unmount_EndsConnections(self):
        self.write("file", b"x" * 30_000_000)
        silent = self.connect()
        reading = self.connect()
        reading.sendall(b"GET /fs/file HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(len(reading.recv(10)), 10)
        self.system.stop()
        self.assertEqual(self.receive_all(silent), b"")
        self.check_store()

    def test_UnsafeAddress_IsRefusedBeforeTheMount(self):
        self.system.stop()
        self.assert_refused(["--http", "0.0.0.0:0"], "only loopback addresses")
        self.assert_refused(
            ["--http", "127.0.0.1:0", "--listen", "127.0.0.1:0"], "--http has no log-in"
        )
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assert_refused(["--http", address], address)
        tried = subprocess.run(
            [self.system.program, "--http", "127.0.0.1:0", "mongodb://127.0.0.1/x", self.root],
            capture_output=True,
            text=True,
        )
        self.assertEqual(tried.returncode, 1)
        self.assertIn("--http is for stores in folders", tried.stderr)

    def assert_refused(self, options, named):
        tried = subprocess.run(
            [self.system.program, *options, self.system.store, self.system.mount_point],
            capture_output=True,
            text=True,
        )
        self.assertNotEqual(tried.returncode, 0)
        self.assertIn(named, tried.stderr)
        self.assertFalse(is_mounted(self.system.mount_point))


if __name__ == "__main__":
    main()
