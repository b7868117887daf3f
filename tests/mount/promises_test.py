"""Goal: when a call has returned, the promises of the table in SEMANTICS.md hold, row by row.

Method: a driver must see committed changes, and they must survive a kill of the daemon. Durable
changes must be in a copy of the killed store's folder that goes back to its last checkpoint, as the
store itself does after a power loss.
"""

import ctypes
import json
import mmap
import os
import shutil
import signal
import stat
import subprocess
import time
import unittest

from driver_client import SECONDS_MAX, DriverCase
from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted, unmount

libc = ctypes.CDLL(None, use_errno=True)
SYNC_FILE_RANGE_WRITE = 2


@gridmount_only
class Committed(DriverCase):
    def length_in_the_store(self, name):
        return self.document(name)["length"]

    def test_Written_IsReadable_AndNotYetInTheStore(self):
        with open(self.path("file"), "wb", buffering=0) as file:
            file.write(b"written")
            self.assertEqual(self.length_in_the_store("file"), 0)
            self.assertEqual(self.read("file"), b"written")
            self.assertEqual(os.stat(self.path("file")).st_size, 7)
        self.assertEqual(self.length_in_the_store("file"), 7)

    def test_StoredToAMapping_IsReadable_AndNotYetInTheStore(self):
        self.write("file", bytes(4096))
        with open(self.path("file"), "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
            view[:6] = b"stored"
            self.assertEqual(self.read("file")[:6], b"stored")
            id = self.document("file")["_id"]
            self.assertNotIn(b"stored", self.db.fs.chunks.find_one({"files_id": id})["data"])
        self.assertIn(b"stored", self.db.fs.chunks.find_one({"files_id": id})["data"])

    def test_NamesAndAttributes_AreThereAfterAKill(self):
        """Each change is on its own file, which was closed before. The daemon is killed immediately
        after the last change."""
        names = ("mode", "owner", "times", "longer", "attribute", "linked", "removed", "renamed", "replaced")
        for name in names:
            self.write(name, name.encode())
        os.mkdir(self.path("old"))
        os.mkdir(self.path("gone"))
        os.close(os.open(self.path("made"), os.O_CREAT | os.O_WRONLY, 0o640))
        os.mkdir(self.path("folder"), 0o750)
        os.mkfifo(self.path("pipe"), 0o600)
        os.symlink("nowhere", self.path("symlink"))
        os.chmod(self.path("mode"), 0o751)
        os.chown(self.path("owner"), os.getuid(), os.getgid())
        os.utime(self.path("times"), ns=(1_000_000_001, 2_000_000_002))
        os.truncate(self.path("longer"), 1000)
        os.setxattr(self.path("attribute"), "user.a", b"value")
        os.link(self.path("linked"), self.path("second"))
        os.unlink(self.path("removed"))
        os.rmdir(self.path("gone"))
        os.rename(self.path("renamed"), self.path("replaced"))
        os.rename(self.path("old"), self.path("folder", "new"))
        self.system.kill()
        self.system.start()
        kept = [name for name in names if name not in ("removed", "renamed")]
        self.assertEqual(
            sorted(os.listdir(self.root)), sorted(kept + ["made", "folder", "pipe", "symlink", "second"])
        )
        self.assertEqual(os.stat(self.path("made")).st_mode, stat.S_IFREG | 0o640)
        self.assertEqual(os.stat(self.path("folder")).st_mode, stat.S_IFDIR | 0o750)
        self.assertEqual(os.stat(self.path("pipe")).st_mode, stat.S_IFIFO | 0o600)
        self.assertEqual(os.readlink(self.path("symlink")), "nowhere")
        self.assertEqual(os.stat(self.path("mode")).st_mode & 0o777, 0o751)
        times = os.stat(self.path("times"))
        self.assertEqual((times.st_atime_ns, times.st_mtime_ns), (1_000_000_001, 2_000_000_002))
        self.assertEqual(os.stat(self.path("longer")).st_size, 1000)
        self.assertEqual(os.getxattr(self.path("attribute"), "user.a"), b"value")
        self.assertEqual(os.stat(self.path("second")).st_nlink, 2)
        self.assertEqual(self.read("replaced"), b"renamed")
        self.assertEqual(os.listdir(self.path("folder")), ["new"])

    def changes_of_an_open_file(self):
        """Returns pairs of a change of `file`, which has 1000 bytes, and its length afterwards."""

        def allocate(file):
            os.posix_fallocate(file.fileno(), 0, 5000)

        def empty(_):
            fd = os.open(self.path("file"), os.O_WRONLY | os.O_TRUNC)
            self.addCleanup(os.close, fd)

        return (
            (lambda file: file.truncate(10), 10),
            (lambda _: os.truncate(self.path("file"), 20), 20),
            (allocate, 5000),
            (empty, 0),
        )

    def test_ChangesOfAnOpenFile_AreCommittedThoughItStaysOpen(self):
        for change, length in self.changes_of_an_open_file():
            self.write("file", bytes(1000))
            with open(self.path("file"), "r+b", buffering=0) as file:
                change(file)
                self.wait_until(
                    lambda length=length: self.length_in_the_store("file") == length,
                    f"a length of {length} is not committed while the file is open",
                )

    def test_ChangesOfAnOpenFile_AreCommittedByTheNextClose(self):
        for change, length in self.changes_of_an_open_file():
            self.write("file", bytes(1000))
            with open(self.path("file"), "r+b", buffering=0) as file:
                change(file)
            self.assertEqual(self.length_in_the_store("file"), length)

    def test_SyncsOfMoreThanAFile_HandOverWhatWasWritten(self):
        def range_of(file):
            first, size = ctypes.c_int64(0), ctypes.c_int64(0)
            return libc.sync_file_range(file.fileno(), first, size, SYNC_FILE_RANGE_WRITE)

        calls = (range_of, lambda file: libc.syncfs(file.fileno()), lambda _: os.sync())
        for number, call in enumerate(calls):
            name = f"file{number}"
            with open(self.path(name), "wb", buffering=0) as file:
                file.write(b"written")
                self.assertFalse(call(file))
                self.wait_until(
                    lambda name=name: self.length_in_the_store(name) == 7, f"{name} is not handed over"
                )


@gridmount_only
class Durable(MountCase):
    def mount(self, interval):
        self.system.stop()
        self.system.options = ["--checkpoint-interval", str(interval)]
        self.system.start()

    def durable_names(self):
        """Returns the names that would survive a power loss. Kills the daemon for this, and starts
        it again."""
        self.system.kill()
        copy = os.path.join(self.scratch, "copy")
        shutil.copytree(self.system.store, copy, ignore=shutil.ignore_patterns("*.sock"))
        listed = self.run_program(os.environ["GRIDFILES"], "--store", copy, "list").decode()
        shutil.rmtree(copy)
        self.system.start()
        return {line.split("\t")[0] for line in listed.splitlines()}

    def write(self, name, flags=0, sync=lambda fd: None):
        fd = os.open(self.path(name), os.O_CREAT | os.O_RDWR | flags)
        try:
            os.write(fd, b"content")
            sync(fd)
        finally:
            os.close(fd)

    def sync_a_mapping(self, fd):
        with mmap.mmap(fd, 7) as view:
            view[0] = 1
            view.flush()

    def sync_the_folder(self, _):
        fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(fd)
        os.close(fd)

    def test_WhatIsClosed_IsDurableAfterACheckpoint(self):
        self.mount(3600)
        self.write("closed")
        self.assertEqual(self.durable_names(), set())
        # A kill is not a power loss.
        self.assertEqual(os.listdir(self.root), ["closed"])
        self.mount(0.2)
        self.write("other")
        written = time.monotonic()

        def is_made():
            with open(self.path(".gridfs", "stats.json"), encoding="utf-8") as file:
                age = json.load(file)["store"]["secondsSinceCheckpoint"]
            return age < time.monotonic() - written

        deadline = written + SECONDS_MAX
        while not is_made():
            self.assertLess(time.monotonic(), deadline, "no checkpoint is made")
            time.sleep(0.05)
        self.assertEqual(self.durable_names(), {"closed", "other"})

    def test_WhatIsSynced_IsDurableAtOnce(self):
        self.mount(3600)
        expected = set()
        for name, flags, sync in (
            ("fsync", 0, os.fsync),
            ("fdatasync", 0, os.fdatasync),
            ("msync", 0, self.sync_a_mapping),
            ("O_SYNC", os.O_SYNC, lambda fd: None),
            ("O_DSYNC", os.O_DSYNC, lambda fd: None),
        ):
            self.write(name, flags, sync)
            expected.add(name)
            self.assertEqual(self.durable_names(), expected)
        self.write("named")
        self.sync_the_folder(None)
        self.write("later")
        self.assertEqual(self.durable_names(), expected | {"named"})


@gridmount_only
class Unmounted(MountCase):
    @unittest.skipIf(os.geteuid() != 0, "umount(8) is root's")
    def test_WhatWasStoredToAMapping_IsThere(self):
        """Only the unmount makes the kernel send the stored bytes, because the file was closed
        before."""
        for command in (["fusermount3", "-u"], ["umount"]):
            with open(self.path("file"), "wb") as file:
                file.write(bytes(4096))
            with open(self.path("file"), "r+b") as file:
                fd = os.dup(file.fileno())
            view = mmap.mmap(fd, 0)
            os.close(fd)
            view[:6] = b"stored"
            view.close()
            unmount(self.system.mount_point, *command)
            self.assertEqual(self.system.process.wait(SECONDS_MAX), 0)
            self.system.start()
            with open(self.path("file"), "rb") as file:
                self.assertEqual(file.read(6), b"stored")

    def test_ReturnsBeforeTheDaemonEnds_AndTheNextOneWaitsForIt(self):
        with open(self.path("file"), "wb") as file:
            file.write(b"content")
        first = self.system.process
        first.send_signal(signal.SIGSTOP)
        try:
            # A program that asks for the free space at this moment gets no answer, and the mount is
            # busy.
            deadline = time.monotonic() + SECONDS_MAX
            while subprocess.run(["fusermount3", "-u", self.system.mount_point]).returncode != 0:
                self.assertLess(time.monotonic(), deadline)
                first.send_signal(signal.SIGCONT)
                time.sleep(0.05)
                first.send_signal(signal.SIGSTOP)
            self.assertIsNone(first.poll())
            self.system.process = subprocess.Popen(
                self.system.command(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            with self.assertRaises(subprocess.TimeoutExpired):
                self.system.process.wait(0.5)
            self.assertFalse(is_mounted(self.system.mount_point))
        finally:
            first.send_signal(signal.SIGCONT)
            first.wait(SECONDS_MAX)
            self.wait_until_mounted()
        self.assertEqual(first.returncode, 0)
        with open(self.path("file"), "rb") as file:
            self.assertEqual(file.read(), b"content")

    def wait_until_mounted(self):
        """Waits for the mount even if the test fails. A later mount would be left behind."""
        deadline = time.monotonic() + SECONDS_MAX
        while self.system.process.poll() is None and not is_mounted(self.system.mount_point):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.assertIsNone(self.system.process.poll(), "the second one has not waited")


if __name__ == "__main__":
    main()
