"""Goal: gridmount works as a systemd service: it reports when the mount answers, and when it ends.

Method: the test is the service manager. It listens on the socket that NOTIFY_SOCKET names.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import unittest

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted, unmount

UNIT = pathlib.Path(__file__).parents[2] / "packaging" / "gridmount@.service"
SECONDS_MAX = 30.0


@gridmount_only
class Service(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        path = os.path.join(self.scratch, "notify")
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.bind(path)
        self.manager.settimeout(SECONDS_MAX)
        os.environ["NOTIFY_SOCKET"] = path
        self.addCleanup(os.environ.pop, "NOTIFY_SOCKET", None)

    def command(self, *options):
        return [self.system.program, *options, self.system.store, self.system.mount_point]

    def next_message(self):
        """Returns the message as {name: value}."""
        lines = self.manager.recv(65536).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def assert_silent(self):
        self.manager.setblocking(False)
        with self.assertRaises(BlockingIOError):
            self.manager.recv(65536)

    def test_Ready_WhenTheMountAnswers_StoppingWhenItEnds(self):
        for end in (
            lambda daemon: daemon.send_signal(signal.SIGTERM),
            lambda _: unmount(self.system.mount_point),
        ):
            daemon = subprocess.Popen(self.command("-f"), stderr=subprocess.DEVNULL)
            try:
                ready = self.next_message()
                self.assertEqual(ready["READY"], "1")
                self.assertEqual(ready["MAINPID"], str(daemon.pid))
                self.assertIn("is mounted at", ready["STATUS"])
                self.assertTrue(is_mounted(self.system.mount_point))
                os.statvfs(self.system.mount_point)
                end(daemon)
                self.assertEqual(self.next_message()["STOPPING"], "1")
                self.assertEqual(daemon.wait(timeout=SECONDS_MAX), 0)
            finally:
                daemon.kill()
                daemon.wait()
            # A stop by a signal sends this message twice.
            self.manager.setblocking(False)
            try:
                while True:
                    self.assertNotIn("READY", self.next_message())
            except BlockingIOError:
                self.manager.settimeout(SECONDS_MAX)

    def test_InTheBackground_TheDaemonIsNamed(self):
        self.run_program(*self.command())
        ready = self.next_message()
        self.assertEqual(ready["READY"], "1")
        os.kill(int(ready["MAINPID"]), signal.SIGTERM)
        self.assertEqual(self.next_message()["STOPPING"], "1")

    def test_FailedStart_IsNeverReady(self):
        self.run_program(*self.command("-f", "-o", "bucket=absent"), status=23)
        self.run_program(*self.command("-f", "--metrics-address", "nothing"), status=1)
        self.assert_silent()

    def test_ManagerGone_TheMountGoesOn(self):
        self.manager.close()
        self.system.start()
        os.mkdir(self.path("folder"))
        self.system.stop()
        self.assertIn("cannot notify the service manager", self.system.log())

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_Unit_IsUnderstood(self):
        """systemd itself checks the unit, with the path of the built program instead of the
        installed one."""
        unit = os.path.join(self.scratch, "gridmount@media.service")
        text = UNIT.read_text(encoding="utf-8").replace("/usr/bin/gridmount", self.system.program)
        pathlib.Path(unit).write_text(text, encoding="utf-8")
        checked = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit],
            capture_output=True,
            text=True,
        )
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))


if __name__ == "__main__":
    main()
