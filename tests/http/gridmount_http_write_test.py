"""Goal: a file that a client of HTTP writes is in the mount, whole or not at all, and such clients
can change the mount's files."""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mount"))

# pylint: disable=wrong-import-position
from http_case import HttpRequests
from mount_case import MountCase, main


class GridmountHttpWrite(HttpRequests, MountCase):
    def setUp(self):
        super().setUp()
        self.start()

    # --- Verbs.

    def start(self, *options):
        self.system.stop()
        self.system.options = ["--http", "127.0.0.1:0", "--http-write", *options]
        self.system.start()
        self.port = self.wait_until(
            lambda: self.port_in(self.system.log()), "the log names no address"
        )

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def local_file(self, size):
        """Returns the path of a file outside of the mount."""
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        file.write(os.urandom(size))
        file.flush()
        return file.name

    def begin_upload(self, name, size, sent):
        """Returns a connection on which `sent` bytes of a body have been sent."""
        client = self.connect()
        client.sendall(
            f"PUT /fs/{name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode()
        )
        client.sendall(os.urandom(sent))
        return client

    # --- Tests.

    def test_Files_GoBothWays(self):
        # The kernel has learnt that the name does not exist.
        self.assertFalse(os.path.exists(self.path("file")))
        content = os.urandom(5_000_000)
        reply = self.request("PUT", "/fs/file", body=content)
        self.assertEqual(reply.status, 201)
        self.assertEqual(self.read("file"), content)
        before = os.stat(self.path("file"))
        with open(self.path("file"), "r+b") as file:
            file.write(b"from the mount")
        got = self.get("/fs/file")
        self.assertEqual(got.body, b"from the mount" + content[14:])
        self.assertNotEqual(got.headers["ETag"], reply.headers["ETag"])
        os.chmod(self.path("file"), 0o640)
        self.assertEqual(self.request("PUT", "/fs/file", body=b"short").status, 204)
        self.assertEqual(self.read("file"), b"short")
        self.assertEqual(os.stat(self.path("file")).st_mode & 0o777, 0o640)
        self.assertEqual(os.stat(self.path("file")).st_uid, before.st_uid)

    def test_Directories_GoBothWays(self):
        self.assertEqual(self.request("MKCOL", "/fs/made").status, 201)
        self.assertEqual(os.listdir(self.path("")), ["made"])
        self.assertEqual(os.stat(self.path("made")).st_uid, os.getuid())
        os.mkdir(self.path("made", "below"))
        self.assertEqual(self.request("MKCOL", "/fs/made/second").status, 201)
        self.assertEqual(sorted(os.listdir(self.path("made"))), ["below", "second"])
        self.assertEqual(self.request("PUT", "/fs/made/below/file", body=b"x").status, 201)
        self.assertEqual(os.listdir(self.path("made", "below")), ["file"])
        self.assertEqual(self.request("DELETE", "/fs/made/below").status, 204)
        self.assertEqual(os.listdir(self.path("made")), ["second"])

    def test_Removal_IsSeen(self):
        with open(self.path("file"), "wb") as file:
            file.write(b"x" * 10_000_000)
        os.stat(self.path("file"))
        self.assertEqual(self.request("DELETE", "/fs/file").status, 204)
        self.assertFalse(os.path.exists(self.path("file")))
        self.assertEqual(self.request("DELETE", "/fs/file").status, 404)

    def test_ConcurrentUploadsOfOneName_LeaveOneOfThem(self):
        contents = [bytes([65 + number]) * 3_000_000 for number in range(4)]
        statuses = []

        def put(content):
            statuses.append(self.request("PUT", "/fs/file", body=content).status)

        for _ in range(3):
            threads = [threading.Thread(target=put, args=(content,)) for content in contents]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertIn(self.read("file"), contents)
        self.assertEqual(statuses.count(201), 1)
        self.assertEqual(statuses.count(204), 11)
        self.assertEqual(os.listdir(self.path("")), ["file"])

    def test_UploadThatIsCutOff_LeavesNothing(self):
        with open(self.path("file"), "wb") as file:
            file.write(b"before")
        self.begin_upload("file", 20_000_000, 10_000_000).close()
        self.begin_upload("other", 20_000_000, 10_000_000).close()
        self.assertEqual(self.read("file"), b"before")
        self.assertEqual(os.listdir(self.path("")), ["file"])
        self.system.stop()
        self.check_store()

    def test_KillDuringAnUpload_LeavesNothing(self):
        with open(self.path("file"), "wb") as file:
            file.write(b"before")
            os.fsync(file.fileno())
        self.begin_upload("file", 50_000_000, 30_000_000)
        self.system.kill()
        self.start()
        self.assertEqual(self.read("file"), b"before")
        self.system.stop()
        self.check_store()

    def test_UnmountDuringAnUpload_IsClean(self):
        self.begin_upload("file", 50_000_000, 30_000_000)
        self.system.stop()
        self.check_store()

    def test_Limits_AreThoseOfTheOptions(self):
        self.start("--http-upload-max=1M")
        self.assertEqual(self.request("PUT", "/fs/file", body=b"x" * 1_048_576).status, 201)
        local = self.local_file(2_000_000)
        for options in ([], ["-H", "Transfer-Encoding: chunked"]):
            written = self.curl(
                *options, "-o", "/dev/null", "-w", "%{http_code}", "-T", local, self.url("/fs/big")
            )
            self.assertEqual(written, b"413")
        self.assertEqual(os.listdir(self.path("")), ["file"])
        self.start("--size-limit=16M")
        self.assertEqual(self.request("PUT", "/fs/large", body=b"x" * 3_000_000).status, 201)
        client = self.begin_upload("large", 60_000_000, 0)
        try:
            client.sendall(os.urandom(60_000_000))
        except (ConnectionResetError, BrokenPipeError):
            pass
        self.assertEqual(self.read("large"), b"x" * 3_000_000)

    def test_Curl_Uploads(self):
        local = self.local_file(3_000_000)
        content = pathlib.Path(local).read_bytes()
        for options in ([], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"]):
            self.curl("-f", *options, "-T", local, self.url("/fs/up"))
            self.assertEqual(self.read("up"), content)
        self.curl("-f", "-X", "DELETE", self.url("/fs/up"))
        self.assertEqual(os.listdir(self.path("")), [])

    def test_ReadOnlyMount_IsRefused(self):
        self.system.stop()
        for option in ("ro", "at=2030-01-01T00:00:00Z"):
            tried = subprocess.run(
                [self.system.program, "--http", "127.0.0.1:0", "--http-write", "-o", option]
                + [self.system.store, self.system.mount_point],
                capture_output=True,
                text=True,
            )
            self.assertNotEqual(tried.returncode, 0)
            self.assertIn("--http-write changes files", tried.stderr)
            self.assertEqual(len(tried.stderr.splitlines()), 1)

    def test_OptionAlone_IsRefused(self):
        self.system.stop()
        tried = subprocess.run(
            [self.system.program, "--http-write", self.system.store, self.system.mount_point],
            capture_output=True,
            text=True,
        )
        self.assertNotEqual(tried.returncode, 0)
        self.assertIn("--http-write", tried.stderr)


if __name__ == "__main__":
    main()
