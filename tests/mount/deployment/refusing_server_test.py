#!/usr/bin/env python3
"""A mount of a deployment whose server refuses: its disk is full, its certificate has expired, or
it accepts no more connections.

Goal: a call fails in time with an errno or waits for its turn, the log says why, acknowledged
changes are kept, and the mount continues when the server accepts commands again.
"""

import errno
import os
import subprocess
import tempfile
import threading
import time
import unittest

import certificates
from deployment import Deployment, ReplicaSet
from mongod import require_mongod
from mounts import is_mounted, unmount

SERVER_SECONDS = 20.0
DISK_MIB = 400
FILE_BYTES = 2_000_000
CONNECTIONS_MAX = 12
WRITERS = 24
FILES_OF_A_WRITER = 4
# Enough time for the server to start. It does not start with an expired certificate.
CERTIFICATE_SECONDS = 8


class FullDiskTest(unittest.TestCase):
    def setUp(self):
        require_mongod()
        self.disk = tempfile.mkdtemp(prefix="gridmount-test-")
        self.addCleanup(os.rmdir, self.disk)
        self.mount_disk(f"size={DISK_MIB}m")
        self.addCleanup(unmount, self.disk, "umount")

    def mount_disk(self, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.disk], check=True)

    def test_what_was_acknowledged_is_there_and_the_mount_goes_on(self):
        with ReplicaSet(parent=self.disk) as servers:
            mount = Deployment(uri=servers.uri("test"), options=["--server-timeout=2"])
            self.addCleanup(mount.cleanup)
            mount.start()
            written = {}
            failed = None
            for number in range(2 * DISK_MIB):
                content = os.urandom(FILE_BYTES)
                try:
                    with open(os.path.join(mount.root, str(number)), "wb") as file:
                        file.write(content)
                        file.flush()
                        os.fsync(file.fileno())
                    written[str(number)] = content
                except OSError as error:
                    failed = error
                    break
            self.assertIn(failed.errno, (errno.ENOSPC, errno.EIO))
            # A server whose journal finds no room ends itself.
            servers.process.wait(timeout=SERVER_SECONDS)
            self.mount_disk(f"remount,size={2 * DISK_MIB}m")
            servers.start_again()
            for name, content in written.items():
                with open(os.path.join(mount.root, name), "rb") as file:
                    self.assertEqual(file.read(), content, name)
            os.mkdir(os.path.join(mount.root, "folder"))
            mount.cleanup()


class ConnectionLimitTest(unittest.TestCase):
    def test_calls_wait_for_a_connection(self):
        require_mongod()
        with ReplicaSet(options=["--maxConns", str(CONNECTIONS_MAX)]) as servers:
            mount = Deployment(uri=servers.uri("test"))
            self.addCleanup(mount.cleanup)
            mount.start()
            errors = []

            def write(owner):
                try:
                    for number in range(FILES_OF_A_WRITER):
                        path = os.path.join(mount.root, f"{owner}.{number}")
                        with open(path, "wb") as file:
                            file.write(path.encode())
                        with open(path, "rb") as file:
                            self.assertEqual(file.read(), path.encode())
                except (OSError, AssertionError) as error:
                    errors.append((owner, error))

            writers = [threading.Thread(target=write, args=(owner,)) for owner in range(WRITERS)]
            for each in writers:
                each.start()
            for each in writers:
                each.join()
            self.assertEqual(errors, [])
            self.assertEqual(len(os.listdir(mount.root)), WRITERS * FILES_OF_A_WRITER)
            mount.cleanup()


class CertificateTest(unittest.TestCase):
    def setUp(self):
        require_mongod()
        temp = tempfile.TemporaryDirectory(prefix="gridmount-test-")
        self.addCleanup(temp.cleanup)
        self.folder = os.path.join(temp.name, "certificates")
        certificates.make_certificates(self.folder)
        self.ends = time.time() + CERTIFICATE_SECONDS
        certificates.make_valid_until(self.folder, "server", self.ends)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_expired_certificate_is_said_in_one_line(self):
        options = ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", self.path("server.pem")]
        options += ["--tlsCAFile", self.path("ca.pem"), "--tlsAllowConnectionsWithoutCertificates"]
        client = {"tls": True, "tlsCAFile": self.path("ca.pem"), "tlsAllowInvalidCertificates": True}
        with ReplicaSet(options=options, client_options=client) as servers:
            uri = servers.uri("test", f"&tls=true&tlsCAFile={self.path('ca.pem')}")
            mount = Deployment(uri=uri, options=["--server-timeout=2"])
            self.addCleanup(mount.cleanup)
            mount.start()
            with open(os.path.join(mount.root, "a"), "wb") as file:
                file.write(b"content")
            time.sleep(max(0.0, self.ends - time.time()) + 1.0)
            # The existing connections continue to work.
            with open(os.path.join(mount.root, "a"), "rb") as file:
                self.assertEqual(file.read(), b"content")
            mount.cleanup()
            with tempfile.TemporaryDirectory() as folder:
                refused = subprocess.run(
                    [os.environ["GRIDMOUNT"], "--server-timeout=2", uri, folder],
                    capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                )
                self.assertFalse(is_mounted(folder))
            self.assertEqual(refused.returncode, 25, refused.stderr)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
            self.assertIn("certificate has expired", refused.stderr)


if __name__ == "__main__":
    unittest.main()
