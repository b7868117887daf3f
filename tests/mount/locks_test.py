"""Goal: file locks work between the processes of the machine: they are taken, waited for, and
released when their holder ends.
"""

import errno
import fcntl
import multiprocessing
import os
import signal
import subprocess

from mount_case import MountCase, main

SECONDS_MAX = 30.0
FLOCK = "flock"
RANGE = "range"
FIRST_PROCESSES = "pid:[4026531836]"  # their namespace


def lock(fd, kind, how):
    """Locks or unlocks the whole file, or its bytes 10 to 19."""
    if kind == FLOCK:
        fcntl.flock(fd, how)
    else:
        fcntl.lockf(fd, how, 10, 10)


def hold(path, kind, told):
    """Waits for the lock, takes it, and keeps it until the process ends."""
    fd = os.open(path, os.O_RDWR)
    lock(fd, kind, fcntl.LOCK_EX)
    told.send("held")
    signal.pause()


class Locks(MountCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("file")
        with open(self.file, "wb") as file:
            file.write(bytes(100))
        self.fd = os.open(self.file, os.O_RDWR)
        self.addCleanup(os.close, self.fd)

    def start_holder(self, kind):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=hold, args=(self.file, kind, there))
        process.start()
        self.addCleanup(process.join)
        self.addCleanup(process.kill)
        return process, here

    def assert_refused(self, kind, how=fcntl.LOCK_EX):
        with self.assertRaises(OSError) as caught:
            lock(self.fd, kind, how | fcntl.LOCK_NB)
        self.assertEqual(caught.exception.errno, errno.EAGAIN)

    def assert_held(self, told):
        self.assertTrue(told.poll(SECONDS_MAX), "the lock is not had")
        self.assertEqual(told.recv(), "held")

    def test_HeldByAnother_IsRefused_UntilItHasEnded(self):
        for kind in (FLOCK, RANGE):
            process, told = self.start_holder(kind)
            self.assert_held(told)
            self.assert_refused(kind)
            self.assert_refused(kind, fcntl.LOCK_SH)
            process.kill()
            process.join()
            lock(self.fd, kind, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock(self.fd, kind, fcntl.LOCK_UN)

    def test_ProcLocks_NamesTheFileByItsNumber_AlsoWhenWhoTookItHasEnded(self):
        """Does the same as xfstests generic/504."""
        if os.readlink("/proc/self/ns/pid") != FIRST_PROCESSES:
            self.skipTest("only there are locks of processes told that have ended")
        for _ in range(2):
            with open(self.path("listed"), "w", encoding="ascii") as file:
                number = os.stat(self.path("listed")).st_ino
                subprocess.run(["flock", "-x", "0"], stdin=file, check=True)
                with open("/proc/locks", encoding="ascii") as locks:
                    self.assertIn(f":{number} ", locks.read())
            # The file must not be open during the remount.
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, self.fd)
            os.close(null)
            self.system.remount()

    def test_WhoWaits_HasItWhenItIsGivenBack(self):
        for kind in (FLOCK, RANGE):
            lock(self.fd, kind, fcntl.LOCK_EX)
            _, told = self.start_holder(kind)
            self.assertFalse(told.poll(0.2), "it is held twice")
            lock(self.fd, kind, fcntl.LOCK_UN)
            self.assert_held(told)

    def test_OtherRanges_AreFree(self):
        _, told = self.start_holder(RANGE)
        self.assert_held(told)
        fcntl.lockf(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
        fcntl.lockf(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 0, 20)
        with self.assertRaises(OSError):
            fcntl.lockf(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 19)

    def test_SharedLocks_AreForMany_AndKeepNobodyFromReadingAndWriting(self):
        fcntl.flock(self.fd, fcntl.LOCK_SH)
        with open(self.file, "r+b", buffering=0) as other:
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
            with self.assertRaises(OSError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            other.write(b"x")
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(1), b"x")


if __name__ == "__main__":
    main()
