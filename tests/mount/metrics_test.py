"""Goal: the metrics over HTTP report what programs did in the mount, and no client can harm it."""

import http.client
import os
import re
import socket
import subprocess
import time

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted

CONNECTIONS_MAX = 16
HEAD_BYTES_MAX = 8192
PATIENCE_SECONDS = 5
PREFIX = "gridmount_operation_duration_seconds"


def parse(text):
    """Returns {(name, labels as text): value}."""
    values = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", line)
        assert found, line
        values[(found.group(1), found.group(2) or "")] = float(found.group(3))
    return values


def count_of(values, operation):
    return values.get((PREFIX + "_count", f'operation="{operation}"'), 0)


@gridmount_only
class Metrics(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self.system.options = ["--metrics-address", "127.0.0.1:0"]
        self.system.start()
        self.port = self.wait_for_port()

    # --- Verbs.

    def wait_for_port(self):
        deadline = time.monotonic() + 10
        while True:
            found = re.findall(r"metrics at http://127\.0\.0\.1:(\d+)/metrics", self.system.log())
            if found:
                return int(found[-1])
            self.assertLess(time.monotonic(), deadline, "the log names no address")
            time.sleep(0.01)

    def request(self, method, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read().decode()
        finally:
            connection.close()

    def metrics(self):
        status, _, text = self.request("GET", "/metrics")
        self.assertEqual(status, 200)
        return parse(text)

    def metrics_when_counted(self, **operations):
        """Returns the metrics when at least so many operations of each kind are counted. An
        operation is counted just after its reply, and close(2) does not wait for the release."""
        deadline = time.monotonic() + 10
        while True:
            values = self.metrics()
            if all(count_of(values, name) >= count for name, count in operations.items()):
                return values
            self.assertLess(time.monotonic(), deadline, f"not counted: {operations}, {values}")
            time.sleep(0.01)

    def send_bytes(self, data):
        """Sends the bytes. Returns the reply until the server ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as client:
            try:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                received = b""
                while part := client.recv(65536):
                    received += part
                return received
            except (ConnectionResetError, BrokenPipeError):
                return b""

    # --- What they tell.

    def test_Operations_AreCountedAsTheyHappen(self):
        for i in range(7):
            with open(self.path(f"file{i}"), "wb") as file:
                file.write(b"x" * 100_000)
        for _ in range(3):
            self.assertFalse(os.path.exists(self.path("absent")))
        values = self.metrics_when_counted(create=7, write=7, flush=7, release=7)
        self.assertEqual(count_of(values, "create"), 7)
        self.assertGreaterEqual(
            values[("gridmount_operation_errors_total", 'operation="lookup",kind="ordinary"')], 1
        )
        for (name, labels), value in values.items():
            if name == "gridmount_operation_errors_total" and 'kind="failure"' in labels:
                self.assertEqual(value, 0, labels)

    def test_Durations_AreConsistent(self):
        with open(self.path("file"), "wb") as file:
            file.write(os.urandom(3_000_000))
            os.fsync(file.fileno())
        values = self.metrics_when_counted(fsync=1, release=1)
        operations = [labels for name, labels in values if name == PREFIX + "_count"]
        for operation in operations:
            buckets = [
                value
                for (name, labels), value in values.items()
                if name == PREFIX + "_bucket" and labels.startswith(operation + ",")
            ]
            self.assertEqual(buckets, sorted(buckets))
            self.assertEqual(buckets[-1], values[(PREFIX + "_count", operation)])
            quantiles = [
                values[("gridmount_operation_quantile_seconds", f'{operation},quantile="{share}"')]
                for share in ("0.5", "0.9", "0.99", "1")
            ]
            self.assertEqual(quantiles, sorted(quantiles))
            self.assertLessEqual(quantiles[-1], values[(PREFIX + "_sum", operation)])

    def test_FilesAndStore_AreAsTheyAre(self):
        before = self.metrics()
        self.assertEqual(before[("gridmount_open_files", "")], 0)
        with open(self.path("file"), "wb") as file, open(self.path("file"), "rb"):
            file.write(os.urandom(100_000))
            during = self.metrics()
            self.assertEqual(during[("gridmount_open_files", "")], 2)
            self.assertGreaterEqual(during[("gridmount_operations_in_progress", "")], 0)
        self.assertGreaterEqual(during[("gridmount_dirty_bytes", "")], 0)
        after = self.metrics_when_counted(release=2)
        self.assertEqual(after[("gridmount_open_files", "")], 0)
        size = os.stat(os.path.join(self.system.store, "data.mdb")).st_size
        self.assertEqual(after[("gridmount_store_file_bytes", "")], size)
        used = after[("gridmount_store_used_bytes", "")]
        self.assertTrue(0 < used <= size, used)
        self.assertLess(after[("gridmount_store_checkpoint_age_seconds", "")], 3600)

    # --- Clients.

    def test_OtherRequests_AreRefused(self):
        for method, path, status in (
            ("GET", "/", 404),
            ("GET", "/metrics/", 404),
            ("POST", "/metrics", 405),
            ("GET", "/metrics?a=b", 200),
        ):
            self.assertEqual(self.request(method, path)[0], status, (method, path))
        status, headers, text = self.request("HEAD", "/metrics")
        self.assertEqual((status, text), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 0)

    def test_Garbage_HarmsNobody(self):
        self.assertIn(b" 400 ", self.send_bytes(b"\r\n\r\n"))
        self.assertIn(b" 400 ", self.send_bytes(b"GET\r\n\r\n"))
        self.assertIn(b" 400 ", self.send_bytes(b"GET /metrics HTTP/2\r\n\r\n"))
        self.assertIn(b" 431 ", self.send_bytes(b"a" * (HEAD_BYTES_MAX + 1)))
        self.assertEqual(self.send_bytes(b""), b"")
        self.assertEqual(self.send_bytes(b"GET /metrics HTTP/1.1\r\n"), b"")
        for _ in range(50):
            self.send_bytes(os.urandom(4000))
        self.assertGreater(len(self.metrics()), 10)

    def test_SilentClients_AreCutOff(self):
        """There are more silent clients than the server accepts. Other clients get a connection
        when the time of these is over."""
        clients = [
            socket.create_connection(("127.0.0.1", self.port), timeout=30)
            for _ in range(3 * CONNECTIONS_MAX)
        ]
        try:
            clients[0].sendall(b"GET /met")
            with open(self.path("file"), "wb") as file:
                file.write(b"the mount answers")
            begin = time.monotonic()
            for client in clients:
                try:
                    self.assertEqual(client.recv(1), b"")
                except ConnectionResetError:
                    pass
            self.assertLess(time.monotonic() - begin, 2 * PATIENCE_SECONDS)
        finally:
            for client in clients:
                client.close()
        self.assertGreater(len(self.metrics()), 10)

    def test_UnmountDuringARequest_IsClean(self):
        with socket.create_connection(("127.0.0.1", self.port)) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\n")
            self.system.stop()
        self.check_store()

    # --- The address.

    def test_AddressTaken_IsSaidBeforeTheMountAnswers(self):
        self.system.stop()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            for foreground in ([], ["-f"]):
                self.assert_refused([*foreground, "--metrics-address", address], address)

    def test_NoAddress_IsRefused(self):
        self.system.stop()
        for text in ("9100", "127.0.0.1:", "127.0.0.1:65536", "no.such.host.invalid:1"):
            self.assert_refused(["--metrics-address", text], text.rsplit(":", 1)[0])

    def assert_refused(self, options, named):
        tried = subprocess.run(
            [self.system.program, *options, self.system.store, self.system.mount_point],
            capture_output=True,
            text=True,
        )
        self.assertEqual(tried.returncode, 1, tried.stderr)
        self.assertIn("--metrics-address", tried.stderr)
        self.assertIn(named, tried.stderr)
        self.assertFalse(is_mounted(self.system.mount_point))


if __name__ == "__main__":
    main()
