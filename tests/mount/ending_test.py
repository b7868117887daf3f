"""Goal: a mount ends correctly on signals: what open files can still do, a second signal, and the
exit status.
"""

import errno
import os
import signal
import subprocess
import sys
import time
import unittest

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted, unmount

SECONDS_MAX = 30.0
DISK_BYTES = 64 << 20


class EndingCase(MountCase):
    def open_file(self):
        file = open(self.path("file"), "w+b", buffering=0)
        self.addCleanup(self.close_quietly, file)
        file.write(b"content")
        return file

    @staticmethod
    def close_quietly(file):
        try:
            file.close()
        except OSError:
            pass  # its mount has gone

    def send(self, number):
        self.system.process.send_signal(number)

    def wait_until_detached(self):
        deadline = time.monotonic() + SECONDS_MAX
        while is_mounted(self.system.mount_point):
            self.assertLess(time.monotonic(), deadline, "the mount is not detached")
            time.sleep(0.005)

    def wait_for_status(self):
        status = self.system.process.wait(SECONDS_MAX)
        self.system.process = None
        return status

    def assert_cut_off(self, call, *arguments):
        with self.assertRaises(OSError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.errno, errno.ENOTCONN)


@gridmount_only
class Signals(EndingCase):
    def test_OpenFiles_AreServedForAWhile_AndThenCutOff(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            file = self.open_file()
            self.send(number)
            self.wait_until_detached()
            self.assertIsNone(self.system.process.poll())
            os.pwrite(file.fileno(), b"C", 0)
            os.ftruncate(file.fileno(), 5)
            os.fsync(file.fileno())
            self.assertEqual(os.pread(file.fileno(), 10, 0), b"Conte")
            self.assertEqual(self.wait_for_status(), 0)
            self.assert_cut_off(os.fsync, file.fileno())
            self.assert_cut_off(os.ftruncate, file.fileno(), 1)
            self.assert_cut_off(file.close)
            self.system.start()
            with open(self.path("file"), "rb") as again:
                self.assertEqual(again.read(), b"Conte")

    def test_WithNothingOpen_EverythingIsThere(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with open(self.path("file"), "wb") as file:
                file.write(b"%d" % number)
            self.send(number)
            self.assertEqual(self.wait_for_status(), 0)
            self.assertFalse(is_mounted(self.system.mount_point))
            self.check_store()
            self.system.start()
            with open(self.path("file"), "rb") as file:
                self.assertEqual(file.read(), b"%d" % number)

    def test_BesideWriters_ItEnds_AndKeepsWhatWasWrittenBefore(self):
        """The writers continue to write as fast as they can."""
        with open(self.path("before"), "wb") as file:
            file.write(b"b" * (1 << 20))
        script = "f = open('%s', 'wb', buffering=0)\nwhile f.write(bytes(1 << 20)): f.seek(0)"
        writers = [
            subprocess.Popen([sys.executable, "-c", script % self.path(f"writer{number}")],
                             stderr=subprocess.DEVNULL)
            for number in range(3)
        ]
        for writer in writers:
            # The kernel accepts the writers' data even when no daemon serves the mount any more.
            self.addCleanup(self.end_writer, writer)
        self.wait_until_written(*(f"writer{number}" for number in range(3)))
        self.send(signal.SIGTERM)
        self.assertEqual(self.wait_for_status(), 0)
        for writer in writers:
            self.end_writer(writer)
        self.assertNotIn("still writes", self.system.log())
        self.check_store()
        self.system.start()
        with open(self.path("before"), "rb") as file:
            self.assertEqual(file.read(), b"b" * (1 << 20))

    @staticmethod
    def end_writer(writer):
        writer.kill()
        writer.wait(SECONDS_MAX)

    def wait_until_written(self, *names):
        deadline = time.monotonic() + SECONDS_MAX
        while not all(os.path.exists(self.path(name)) and os.path.getsize(self.path(name)) for name in names):
            self.assertLess(time.monotonic(), deadline, "nothing is written")
            time.sleep(0.01)

    def test_SecondSignal_EndsItAtOnce(self):
        """The signal ends the daemon although a file is open, which the daemon still serves after
        the first signal. Files that were closed before are kept."""
        with open(self.path("closed"), "wb") as file:
            file.write(b"content")
        for first, second in ((signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGTERM)):
            file = self.open_file()
            self.send(first)
            self.wait_until_detached()
            self.send(second)
            self.assertNotEqual(self.wait_for_status(), 0)
            self.assertIn("a second signal", self.system.log())
            self.assert_cut_off(os.fsync, file.fileno())
            self.check_store()
            self.system.start()
            with open(self.path("closed"), "rb") as file:
                self.assertEqual(file.read(), b"content")


@gridmount_only
@unittest.skipIf(os.geteuid() != 0, "only root may mount a disk of its own")
class FullAtTheEnd(EndingCase):
    """The store is on a disk that is too small."""

    def setUp(self):
        super().setUp()
        self.system.stop()
        self.disk = os.path.join(self.scratch, "disk")
        os.mkdir(self.disk)
        self.run_program("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", self.disk)
        self.addCleanup(unmount, self.disk, "umount")
        self.addCleanup(self.end)
        self.system.store = os.path.join(self.disk, "store")
        self.system.start()

    def end(self):
        """Ends the mount, however full the disk is."""
        if self.system.process is not None:
            subprocess.run(["fusermount3", "-u", "-z", self.system.mount_point], capture_output=True)
            self.system.process.wait(SECONDS_MAX)
            self.system.process = None

    def fill(self):
        number = 0
        while True:
            try:
                with open(self.path(f"filler{number}"), "wb", buffering=0) as file:
                    file.write(os.urandom(1 << 20))
                    os.fsync(file.fileno())
            except OSError as error:
                self.assertEqual(error.errno, errno.ENOSPC)
                return
            number += 1

    def test_WhatCannotBeWritten_IsToldByTheExitStatus(self):
        self.fill()
        file = self.open_file()
        file.write(os.urandom(8 << 20))
        self.send(signal.SIGTERM)
        self.assertEqual(self.wait_for_status(), 24)
        self.assertIn("the disk is full", self.system.log())

    def test_RoomThatWasAllocated_IsNotKept(self):
        with open(self.path("allocated"), "wb", buffering=0) as file:
            with self.assertRaises(OSError) as caught:
                os.posix_fallocate(file.fileno(), 0, 2 * DISK_BYTES)
            self.assertEqual(caught.exception.errno, errno.ENOSPC)
            os.posix_fallocate(file.fileno(), 0, 16 << 20)
            os.fsync(file.fileno())
            self.fill()
            with self.assertRaises(OSError) as caught:
                file.write(os.urandom(16 << 20))
                os.fsync(file.fileno())
            self.assertEqual(caught.exception.errno, errno.ENOSPC)
            self.close_quietly(file)


if __name__ == "__main__":
    main()
