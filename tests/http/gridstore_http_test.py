"""Goal: clients get the files of `gridstore serve --http`, and no client can harm it.

Method: the built programs, Python's http.client, curl, and raw sockets.
"""

import email
import hashlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
from xml.etree import ElementTree

from http_case import HttpRequests, PATIENCE_SECONDS

# The limits of http/http_server.h.
CONNECTIONS_MAX = 256
REFUSALS_MAX = 64
HEAD_BYTES_MAX = 16 * 1024
TARGET_BYTES_MAX = 8 * 1024


class GridstoreHttp(HttpRequests, unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.store = self.folder / "store.gfs"
        self.log = self.folder / "log"
        self.start("--create")

    # --- Verbs.

    def start(self, *options):
        with open(self.log, "wb") as log:
            self.server = subprocess.Popen(
                [os.environ["GRIDSTORE"], "serve", "--http", "127.0.0.1:0", *options, self.store],
                stderr=log,
            )
        self.addCleanup(self.stop)
        self.port = self.wait_until(
            lambda: self.server.poll() is not None or self.port_in(self.log.read_text()),
            "the log names no address",
        )
        self.assertIsNone(self.server.poll(), self.log.read_text())

    def stop(self):
        """Ends the server, which must end cleanly. Returns the log."""
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(PATIENCE_SECONDS), 0, self.log.read_text())
        return self.log.read_text()

    def put(self, name, content, *options):
        local = self.folder / "local"
        local.write_bytes(content)
        subprocess.run(
            [os.environ["GRIDFILES"], "--store", self.store, "--local", local, *options, "put", name],
            check=True,
            capture_output=True,
        )

    def assert_refused(self, *options, named):
        done = subprocess.run(
            [os.environ["GRIDSTORE"], "serve", *options, self.store], capture_output=True, text=True
        )
        self.assertNotEqual(done.returncode, 0)
        errors = [line for line in done.stderr.splitlines() if " info: " not in line]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn(named, errors[0])

    def threads(self):
        tasks = pathlib.Path(f"/proc/{self.server.pid}/task")
        return [(task / "comm").read_text().strip() for task in tasks.iterdir()]

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024

    # --- Files.

    def test_Files_AreSentWhole(self):
        for size in (0, 1, 262_144, 5_000_001):
            content = os.urandom(size)
            name = f"dir/file of {size}.bin"
            self.put(name, content)
            reply = self.get("/fs/" + urllib.parse.quote(name))
            self.assertEqual((reply.status, reply.body), (200, content))
            self.assertEqual(int(reply.headers["Content-Length"]), size)
            head = self.request("HEAD", "/fs/" + urllib.parse.quote(name))
            self.assertEqual((head.status, head.body), (200, b""))
            for field in ("Content-Length", "ETag", "Last-Modified", "Content-Type"):
                self.assertEqual(head.headers[field], reply.headers[field])

    def test_OneConnection_ServesManyRequests(self):
        self.put("file", b"content")
        client = self.connect()
        request = b"GET /fs/file HTTP/1.1\r\nHost: localhost\r\n\r\n"
        client.sendall(request * 200)
        client.shutdown(socket.SHUT_WR)
        received = self.receive_all(client)
        self.assertEqual(received.count(b"HTTP/1.1 200 OK\r\n"), 200)
        self.assertEqual(received.count(b"\r\n\r\ncontent"), 200)

    def test_Ranges_AreTheBytesAskedFor(self):
        content = os.urandom(1_000_000)
        self.put("file", content)
        for field, part in (
            ("bytes=0-0", content[:1]),
            ("bytes=262143-262145", content[262143:262146]),
            ("bytes=999999-", content[999999:]),
            ("bytes=-10", content[-10:]),
            ("bytes=5-99999999", content[5:]),
        ):
            reply = self.get("/fs/file", Range=field)
            self.assertEqual((reply.status, reply.body), (206, part), field)
        for field in ("bytes=1000000-", "bytes=5000000-6000000", "bytes=-0"):
            reply = self.get("/fs/file", Range=field)
            self.assertEqual(reply.status, 416, field)
            self.assertEqual(reply.headers["Content-Range"], "bytes */1000000")
        for field in ("bytes=5-4", "bytes=x", "lines=1-2", "bytes=0-999999,0-0"):
            self.assertEqual(self.get("/fs/file", Range=field).status, 200, field)

    def test_SeveralRanges_AreMultipart_AsPythonsMailReadsIt(self):
        content = os.urandom(100_000)
        self.put("file", content)
        reply = self.get("/fs/file", Range="bytes=0-9,50000-59999,-1")
        self.assertEqual(reply.status, 206)
        text = b"Content-Type: " + reply.headers["Content-Type"].encode() + b"\r\n\r\n" + reply.body
        # As latin-1, every byte is a character, and the parser keeps it.
        parts = email.message_from_string(text.decode("latin-1")).get_payload()
        self.assertEqual(
            [part["Content-Range"] for part in parts],
            ["bytes 0-9/100000", "bytes 50000-59999/100000", "bytes 99999-99999/100000"],
        )

    def test_Curl_ContinuesADownload_OnlyOfTheSameContent(self):
        content = os.urandom(3_000_000)
        self.put("file", content)
        half = self.folder / "half"
        half.write_bytes(content[:1_234_567])
        self.curl("-C", "-", "-o", str(half), self.url("/fs/file"))
        self.assertEqual(half.read_bytes(), content)
        tag = self.get("/fs/file").headers["ETag"]
        self.put("file", os.urandom(3_000_000), "--replace")
        reply = self.get("/fs/file", Range="bytes=5-9", If_Range=tag)
        self.assertEqual((reply.status, len(reply.body)), (200, 3_000_000))
        self.assertEqual(self.get("/fs/file", If_Match=tag).status, 412)

    def test_Conditions_SaveTheBody(self):
        self.put("file", b"content")
        reply = self.get("/fs/file")
        same = self.get("/fs/file", If_None_Match=reply.headers["ETag"])
        self.assertEqual((same.status, same.body), (304, b""))
        same = self.get("/fs/file", If_Modified_Since=reply.headers["Last-Modified"])
        self.assertEqual(same.status, 304)

    def test_ReplacedDuringADownload_EndsTheConnection(self):
        first = os.urandom(30_000_000)
        self.put("file", first)
        client = self.connect()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.sendall(b"GET /fs/file HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begin = client.recv(1000)
        self.put("file", os.urandom(30_000_000), "--replace")
        received = (begin + self.receive_all(client)).partition(b"\r\n\r\n")[2]
        self.assertLess(len(received), len(first))
        self.assertEqual(received, first[: len(received)])
        self.assertIn("the reply is cut off", self.stop())

    def test_Ids_LeadToFiles(self):
        self.put("file", b"content")
        entry = self.get("/fs/?format=json").json()["entries"][0]
        oid = entry["id"]["$oid"]
        quoted = urllib.parse.quote('{"$oid": "%s"}' % oid)
        for target in (f"/.id/fs/{oid}", f"/.id/fs/{quoted}"):
            self.assertEqual(self.get(target).body, b"content")
        reply = self.get(f"/.id/fs/{oid}?download")
        self.assertIn("filename*=UTF-8''file", reply.headers["Content-Disposition"])
        self.assertEqual(self.get("/.id/fs/nonsense").status, 400)
        self.assertEqual(self.get("/.id/fs/" + "0" * 24).status, 404)

    # --- Listings.

    def test_Listing_HasHostileNames_AsTextAndLinks(self):
        names = ['<script>alert("1")</script>', "a'b&c", "per%cent", "sp ace", "ünïcode", "qu?ery#x"]
        for name in names:
            self.put("dir/" + name.replace("/", "\u2215"), name.encode())
        page = self.get("/fs/dir/").body.decode()
        self.assertNotIn("<script>", page)
        links = [link for link in re.findall(r'href="([^"]+)"', page) if link != "/fs/"]
        self.assertEqual(len(links), len(names))
        entries = self.get("/fs/dir/?format=json").json()["entries"]
        self.assertEqual(sorted(links), sorted(entry["href"] for entry in entries))
        self.assertEqual(
            sorted(entry["name"] for entry in entries),
            sorted(name.replace("/", "\u2215") for name in names),
        )
        self.assertEqual(
            sorted(self.get(link).body for link in links), sorted(n.encode() for n in names)
        )

    def test_Listing_OfABucketAndOfAll(self):
        self.put("a/b/c", b"1")
        self.assertEqual(
            [entry["name"] for entry in self.get("/?format=json").json()["entries"]], ["fs"]
        )
        entry = self.get("/fs/a", Accept="application/json").json()["entries"][0]
        self.assertEqual((entry["name"], entry["type"]), ("b", "directory"))

    # --- Bad clients.

    def test_Traversal_LeadsNowhere(self):
        for target in (
            "/fs/../../etc/passwd",
            "/..",
            "/fs/%2e%2e/%2e%2e/etc/passwd",
            "/fs/..%2f..%2fetc%2fpasswd",
            "//etc/passwd",
            "/fs/%00",
            "/.id/../fs/x",
        ):
            received = self.send_bytes(
                f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
            )
            self.assertIn(b" 400 ", received.split(b"\r\n")[0], target)
            self.assertNotIn(b"root:", received)

    def test_ForeignHost_IsRefused(self):
        self.put("file", b"content")
        for host in ("example.com", "127.0.0.1.example.com", "", "a b"):
            reply = self.get("/fs/file", Host=host)
            self.assertIn(reply.status, (400, 421), host)
            self.assertNotEqual(reply.body, b"content")
        for host in ("localhost", f"localhost:{self.port}", "[::1]", "127.0.0.1"):
            self.assertEqual(self.get("/fs/file", Host=host).status, 200, host)

    def test_OtherMethods_AreNotAllowed(self):
        self.put("file", b"content")
        for method in ("PUT", "POST", "DELETE", "PATCH", "PROPPATCH", "TRACE", "STRANGE"):
            reply = self.request(method, "/fs/file")
            self.assertIn(reply.status, (400, 405), method)
            if reply.status == 405:
                self.assertEqual(reply.headers["Allow"], "OPTIONS, GET, HEAD, PROPFIND")
        self.assertEqual(self.get("/fs/file").body, b"content")

    def test_Propfind_DescribesFiles(self):
        self.put("dir/a b.txt", b"content")
        reply = self.request("PROPFIND", "/fs/dir/", Depth="1")
        self.assertEqual(reply.status, 207)
        responses = ElementTree.fromstring(reply.body).findall("{DAV:}response")
        self.assertEqual(
            [response.findtext("{DAV:}href") for response in responses],
            ["/fs/dir/", "/fs/dir/a%20b.txt"],
        )
        self.assertEqual(responses[1].findtext(".//{DAV:}getcontentlength"), "7")
        options = self.request("OPTIONS", "/fs/")
        self.assertEqual(options.status, 200)
        self.assertEqual(options.headers["DAV"], "1")
        # The connection can be used after a body.
        asked = b"<propfind xmlns='DAV:'><propname/></propfind>"
        head = b"Host: localhost\r\nDepth: 0\r\nContent-Length: %d\r\n\r\n" % len(asked)
        twice = (b"PROPFIND /fs/dir HTTP/1.1\r\n" + head + asked) * 2
        self.assertEqual(self.send_bytes(twice).count(b"HTTP/1.1 207 Multi-Status"), 2)
        bomb = b"<!DOCTYPE a [<!ENTITY b 'c'><!ENTITY d '&b;&b;'>]><propfind xmlns='DAV:'>&d;"
        self.assertEqual(self.request("PROPFIND", "/fs/dir", bomb, Depth="0").status, 400)
        self.assertEqual(self.request("PROPFIND", "/fs/dir", b" " * 70_000, Depth="0").status, 413)

    def test_Rclone_ReadsAllFiles(self):
        if not shutil.which("rclone"):
            self.skipTest("there is no rclone")
        contents = {"a b.txt": os.urandom(3_000_000), "dir/\u00e9%&": b"", "dir/below/x": b"y"}
        for name, content in contents.items():
            self.put(name, content)
        remote = [":webdav:/fs", "--webdav-url", self.url("/"), "--config", "/dev/null"]
        copy = self.folder / "copy"
        for command in (["copy", *remote, copy], ["check", "--download", *remote, copy]):
            done = subprocess.run(["rclone", *command], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
        found = {
            str(path.relative_to(copy)): path.read_bytes()
            for path in copy.rglob("*")
            if path.is_file()
        }
        self.assertEqual(found, contents)

    def test_Bombs_AreRefused(self):
        self.assertIn(b" 431 ", self.send_bytes(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000))
        self.assertIn(b" 431 ", self.send_bytes(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000))
        many = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 200 + b"\r\n"
        self.assertIn(b" 431 ", self.send_bytes(many))
        long_target = b"GET /" + b"x" * TARGET_BYTES_MAX + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.assertIn(b" 414 ", self.send_bytes(long_target))
        ranges = b"bytes=" + b",".join(b"%d-%d" % (i, i) for i in range(1000))
        self.put("file", os.urandom(5000))
        reply = self.get("/fs/file", Range=ranges.decode())
        self.assertEqual((reply.status, len(reply.body)), (200, 5000))

    def test_Garbage_HarmsNobody(self):
        self.put("file", b"content")
        for data in (b"", b"\r\n", b"GET /fs/file HTTP/1.1\r\nHost: loc", b"\0" * 1000, b"\x16\x03\x01"):
            self.send_bytes(data)
        for _ in range(100):
            self.send_bytes(os.urandom(3000))
        self.assertEqual(self.get("/fs/file").body, b"content")

    def test_ManyIdleConnections_TakeNeitherThreadsNorMemory(self):
        self.put("file", b"content")
        threads = len(self.threads())
        before = self.resident_bytes()
        clients = []
        for _ in range(2000):
            client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)
            clients.append(client)
        try:
            # The server closes connections beyond the limits at once.
            closed = 0
            for client in clients[CONNECTIONS_MAX + REFUSALS_MAX :]:
                closed += self.receive_all(client) == b""
            self.assertEqual(closed, len(clients) - CONNECTIONS_MAX - REFUSALS_MAX)
            self.assertEqual(len(self.threads()), threads)
            self.assertLess(self.resident_bytes() - before, 32 << 20)
        finally:
            for client in clients:
                client.close()
        self.wait_until(lambda: self.is_served("/fs/file"), "no connection is accepted any more")

    def is_served(self, target):
        try:
            return self.get(target).status == 200
        except OSError:
            return False

    def test_ParallelDownloads_AreRight(self):
        contents = {f"file{i}": os.urandom(2_000_000 + i) for i in range(8)}
        for name, content in contents.items():
            self.put(name, content)
        wrong = []

        def download(name):
            for _ in range(5):
                if self.get("/fs/" + name).body != contents[name]:
                    wrong.append(name)

        workers = [threading.Thread(target=download, args=(name,)) for name in contents]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(wrong, [])

    # --- Start and end.

    def test_Signal_EndsItDuringADownload(self):
        self.put("file", b"x" * 30_000_000)
        client = self.connect()
        client.sendall(b"GET /fs/file HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(len(client.recv(10)), 10)
        self.assertIn("gm-http", self.threads())
        self.stop()
        done = subprocess.run([os.environ["GRIDSTORE"], "check", self.store], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_UnsafeAddresses_AreRefusedInOneLine(self):
        self.stop()
        for address in ("0.0.0.0:0", "[::]:0"):
            self.assert_refused("--http", address, named="only loopback addresses")
        self.assert_refused("--http", "127.0.0.1", named="it has no port")
        self.assert_refused(
            "--http", "127.0.0.1:0", "--listen", "127.0.0.1:0", named="--http has no log-in"
        )
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assert_refused("--http", address, named="--http: cannot listen on " + address)

    def test_Limits_AreThoseOfTheOptions(self):
        self.put("file", b"x")
        self.stop()
        self.start("--http-connections=1", "--http-head-bytes=2K")
        request = b"GET /fs/file HTTP/1.1\r\nHost: localhost\r\n"

        def reply_to(head):
            client = self.connect()
            client.sendall(head)
            reply = client.recv(12)
            if reply.endswith(b" 503"):  # the connection before has not ended yet
                client.close()
                return None
            return client, reply

        long_field = b"X: " + b"x" * 3000 + b"\r\n\r\n"
        client, reply = self.wait_until(lambda: reply_to(request + long_field), "no reply")
        self.assertEqual(reply, b"HTTP/1.1 431")
        client.close()
        client, reply = self.wait_until(lambda: reply_to(request + b"\r\n"), "no reply")
        self.assertEqual(reply, b"HTTP/1.1 200")
        self.assertEqual(self.get("/fs/file").status, 503)
        self.stop()
        self.start("--http-idle-timeout=0.1")
        client = self.connect()
        client.sendall(request + b"\r\n")
        self.assertTrue(self.receive_all(client).endswith(b"\r\n\r\nx"))

    def test_LimitsThatCannotBe_AreRefused(self):
        self.stop()
        for option, value in (
            ("--http-connections", "0"),
            ("--http-connections", "10001"),
            ("--http-idle-timeout", "0"),
            ("--http-head-bytes", "100"),
            ("--http-head-bytes", "2M"),
        ):
            self.assert_refused("--http", "127.0.0.1:0", option, value, named=option)

    def test_OtherDatabase_IsShown(self):
        self.put("file", b"in the other", "--db", "media")
        self.assertEqual(self.get("/fs/file").status, 404)
        self.stop()
        self.start("--http-db", "media", "--listen", "127.0.0.1:0", "--no-auth")
        self.assertEqual(
            hashlib.md5(self.get("/fs/file").body).digest(), hashlib.md5(b"in the other").digest()
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
