"""Goal: when the file system fills up under a store, errors are clean, nothing is lost, and writes
continue when there is room again.

Method: the store is on a tmpfs of 64 MiB, and then, if loop devices are available, on an ext4 of 1
GiB, a size at which ext4 behaves as on real disks. Another file leaves 64 MiB of it. Several
writers fill it with files of many sizes until each has met ENOSPC. What was closed before is intact
and the store is sound, also after a kill. Everything can be removed. When there is room again, new
files can be written, and the daemon has never ended.
"""

import errno
import os
import random
import socket
import struct
import subprocess
import threading
import time

from mount_case import MountCase, gridmount_only, main
from mounts import unmount

DISK_BYTES = 64 << 20
WRITERS = 4
SIZES = [100, 5_000, 70_000, 262_144, 1_000_000, 3_000_000]
FULL = (errno.ENOSPC, errno.EDQUOT)


class Writer(threading.Thread):
    """Writes files until the disk is full."""

    def __init__(self, folder, number):
        super().__init__()
        self._folder = folder
        self._number = number
        self.whole = {}  # name -> bytes, of files whose close() has returned
        self.error = None
        self.failed = None  # the name of the file that met it

    def run(self):
        seeded = random.Random(self._number)
        for i in range(100_000):
            name = f"writer{self._number}.{i}"
            data = seeded.randbytes(seeded.choice(SIZES))
            try:
                with open(os.path.join(self._folder, name), "wb") as file:
                    file.write(data)
                    if i % 5 == 0:
                        os.fsync(file.fileno())
            except OSError as error:
                self.error = error
                self.failed = name
                return
            self.whole[name] = data


@gridmount_only
class FullDisk(MountCase):
    never_free = 0  # what the file system keeps for itself

    def setUp(self):
        super().setUp()
        self.system.stop()
        self.disk = os.path.join(self.scratch, "disk")
        os.mkdir(self.disk)
        self.mount_disk()
        self.addCleanup(unmount, self.disk, "umount")
        self.addCleanup(self.system.stop)
        self.system.store = os.path.join(self.disk, "store")
        self.system.start()

    def mount_disk(self):
        self.run_program("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", self.disk)

    def enlarge_disk(self):
        self.run_program("mount", "-o", f"remount,size={2 * DISK_BYTES}", self.disk)

    def fill(self):
        writers = [Writer(self.path(), number) for number in range(WRITERS)]
        self.writers = writers
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
            self.assertIsNotNone(writer.error, "the disk did not fill up")
            self.assertIn(writer.error.errno, FULL, writer.error)
        return {name: data for writer in writers for name, data in writer.whole.items()}

    def assert_holds(self, expected):
        for name, data in expected.items():
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), data, name)

    def test_files_that_were_closed_are_whole_and_writing_goes_on(self):
        expected = self.fill()
        self.assertGreater(sum(map(len, expected.values())), DISK_BYTES // 4)
        self.assert_holds(expected)
        self.enlarge_disk()
        for name in sorted(expected)[::2]:
            os.unlink(self.path(name))
            del expected[name]
        data = os.urandom(2_000_000)
        with open(self.path("afterwards"), "wb") as file:
            file.write(data)
            os.fsync(file.fileno())
        expected["afterwards"] = data
        self.assert_holds(expected)
        self.system.stop()
        self.assertIn("no problems", self.check_store())
        self.system.start()
        self.assert_holds(expected)

    def test_a_reader_hears_nothing_of_a_failed_write(self):
        self.fill()
        for writer in self.writers:
            try:
                with open(self.path(writer.failed), "rb") as file:
                    while file.read(1 << 20):
                        pass
            except FileNotFoundError:
                pass  # not even made
        # Afterwards nothing is left to be written at the end.
        for name in os.listdir(self.path()):
            os.unlink(self.path(name))
        self.wait_for_room()

    def fill_to_the_brim(self, refusals=50):
        """Fills the disk until the room is too small for the smallest change, even after a
        while."""
        created = 0
        refused = 0
        while refused < refusals:
            try:
                with open(self.path(f"small.{created}"), "wb") as file:
                    file.write(b"x" * (10_000 if created % 2 else 1))
                    os.fsync(file.fileno())
                created += 1
            except OSError as error:
                self.assertIn(error.errno, FULL, error)
                refused += 1

    def test_writes_refused_while_somebody_reads_leave_room_for_removals(self):
        self.fill()
        # Nobody reads its archive, so the dump holds its snapshot, and no page that is freed since
        # is reused.
        reader = subprocess.Popen(
            [os.environ["GRIDSTORE"], "dump", "--archive", self.system.store],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.assertTrue(reader.stdout.read(1))
            self.fill_to_the_brim(refusals=150)
            # Of these the last has data that was never written, and is the first to be noted.
            small = sorted(name for name in os.listdir(self.path()) if name.startswith("small."))
            for name in small[-10:]:
                os.unlink(self.path(name))
        finally:
            # A killed reader leaves its slot in the table of readers occupied.
            reader.kill()
            reader.wait()
            reader.stdout.close()
        for name in os.listdir(self.path()):
            os.unlink(self.path(name))
        self.wait_for_room()

    def wait_for_room(self):
        """Waits until there is room. The space of removed files becomes free in the background,
        after one or two checkpoints."""
        deadline = time.monotonic() + 30
        while True:
            try:
                with open(self.path("room"), "wb") as file:
                    file.write(bytes(1_000_000))
                    os.fsync(file.fileno())
                os.unlink(self.path("room"))
                return
            except OSError as error:
                self.assertIn(error.errno, FULL, error)
                self.assertLess(time.monotonic(), deadline, "the room does not come back")
                time.sleep(0.1)

    def free_bytes(self):
        disk = os.statvfs(self.disk)
        return disk.f_bfree * disk.f_frsize

    def test_full_to_the_brim_everything_can_be_removed(self):
        expected = self.fill()
        os.mkdir(self.path("folder"))
        self.fill_to_the_brim()
        self.assertLess(self.free_bytes(), self.never_free + (1 << 20))
        os.rmdir(self.path("folder"))
        names = os.listdir(self.path())
        self.assertGreaterEqual(len(names), len(expected))
        # Empties one file first, and replaces another one by it.
        os.truncate(self.path(names[0]), 0)
        os.rename(self.path(names[0]), self.path(names[1]))
        for name in names[1:]:
            os.unlink(self.path(name))
        self.assertEqual(os.listdir(self.path()), [])
        # Other files can use the removed files' space, although the disk has no more room than
        # before.
        expected = self.fill()
        self.assertGreater(sum(map(len, expected.values())), DISK_BYTES // 4)
        self.assert_holds(expected)
        # Data that could not be written yet finds room at the end.
        for name in sorted(expected)[::2]:
            os.unlink(self.path(name))
            del expected[name]
        self.wait_for_room()
        self.system.stop()
        self.assertIn("no problems", self.check_store())
        self.system.start()
        self.assert_holds(expected)

    def write_until_refused(self, name, bytes_max=16 * DISK_BYTES):
        """Writes until write(2) itself, and not close(2), fails because the disk is full. Returns
        the number of bytes written."""
        piece = os.urandom(128 << 10)
        written = 0
        file = os.open(self.path(name), os.O_WRONLY | os.O_CREAT)
        try:
            while written < bytes_max:
                written += os.write(file, piece)
            self.fail(f"{name}: {written} bytes were taken, and the disk has {DISK_BYTES}")
        except OSError as error:
            self.assertIn(error.errno, FULL, error)
        finally:
            try:
                os.close(file)
            except OSError as error:
                self.assertIn(error.errno, FULL, error)
        return written

    def test_a_writer_learns_of_it_by_write(self):
        with open(self.path("first"), "wb") as file:
            file.write(os.urandom(DISK_BYTES // 5))
            os.fsync(file.fileno())
        written = self.write_until_refused("endless")
        self.assertGreater(written, DISK_BYTES // 4)
        self.assertLess(written, DISK_BYTES)
        # The disk is still full, so a second file gets little.
        self.assertLess(self.write_until_refused("more"), 16 << 20)
        os.unlink(self.path("endless"))
        os.unlink(self.path("more"))
        self.wait_for_room()

    def test_writers_at_once_learn_of_it_by_write(self):
        written = {}

        def write(name):
            written[name] = self.write_until_refused(name)

        writers = [threading.Thread(target=write, args=[f"endless.{i}"]) for i in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        self.assertEqual(len(written), WRITERS)
        self.assertLess(sum(written.values()), 2 * DISK_BYTES)
        for name in written:
            os.unlink(self.path(name))
        self.wait_for_room()

    def test_what_is_removed_is_free_for_the_next_write(self):
        for round in range(3):
            written = self.write_until_refused(f"big.{round}")
            free = os.statvfs(self.root)
            free = free.f_bavail * free.f_frsize
            if round == 1:
                # The file is removed when its reader closes it, not when it loses its name.
                with open(self.path(f"big.{round}"), "rb") as reader:
                    os.unlink(self.path(f"big.{round}"))
                    self.assertTrue(reader.read(1))
            else:
                os.unlink(self.path(f"big.{round}"))
                now = os.statvfs(self.root)
                self.assertGreater(now.f_bavail * now.f_frsize, free + written // 2)
            with open(self.path("next"), "wb") as file:
                file.write(os.urandom(written // 2))
                os.fsync(file.fileno())
            os.unlink(self.path("next"))

    def compact(self):
        """Sends the command as a driver does: an OP_MSG with {compact: "fs.chunks", $db:
        "test"}."""

        def text(name, value):
            size = struct.pack("<i", len(value) + 1)
            return b"\x02" + name + b"\0" + size + value + b"\0"

        fields = text(b"compact", b"fs.chunks") + text(b"$db", b"test")
        document = struct.pack("<i", len(fields) + 5) + fields + b"\0"
        body = struct.pack("<I", 0) + b"\0" + document
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.path.join(self.system.store, "gridmount.sock"))
            client.sendall(struct.pack("<iiii", 16 + len(body), 1, 0, 2013) + body)
            self.assertIn(b"bytesFreed", client.recv(4096))

    def test_room_that_was_given_back_and_taken_by_others(self):
        expected = self.fill()
        before = self.free_bytes()
        kept = sorted(expected)[::4]
        for name in os.listdir(self.path()):
            if name not in kept:
                os.unlink(self.path(name))
        self.wait_for_room()
        # Frees the rest of the unused space. The full disk may have made the store free a part of
        # it before.
        self.compact()
        self.assertGreater(self.free_bytes(), before + (8 << 20))
        self.assert_holds({name: expected[name] for name in kept})
        with open(os.path.join(self.disk, "other"), "wb", buffering=0) as other:
            with self.assertRaises(OSError):
                while True:
                    other.write(bytes(1 << 16))
        # The store has free pages, but the disk has no room for them.
        self.fill_to_the_brim()
        self.assert_holds({name: expected[name] for name in kept})
        for name in os.listdir(self.path()):
            os.unlink(self.path(name))
        self.wait_for_room()
        os.unlink(os.path.join(self.disk, "other"))
        expected = self.fill()
        self.assert_holds(expected)
        # Makes room, because data that could not be written would be missing at the end.
        for name in os.listdir(self.path()):
            if name not in expected or name in sorted(expected)[::2]:
                os.unlink(self.path(name))
                expected.pop(name, None)
        self.wait_for_room()
        self.assert_holds(expected)
        self.system.stop()
        self.assertIn("no problems", self.check_store())

    def test_killed_while_full_nothing_is_lost(self):
        expected = self.fill()
        self.system.kill()
        self.system.start()
        self.assert_holds(expected)
        self.system.stop()
        self.assertIn("no problems", self.check_store())


class FullLoopDisk(FullDisk):
    """A file system that allocates blocks when it writes back, and keeps a journal. It shows the
    superuser room that it reserves for itself: a fiftieth of its size, which on larger disks is
    more than the store's reserve."""

    IMAGE_BYTES = 1 << 30
    BLOCK_BYTES = 4096
    never_free = min(IMAGE_BYTES // 50, 4096 * BLOCK_BYTES)

    def mount_disk(self):
        image = os.path.join(self.scratch, "image")
        with open(image, "wb") as file:
            file.truncate(self.IMAGE_BYTES)
        self.run_program("mkfs.ext4", "-q", "-b", str(self.BLOCK_BYTES), image)
        mounted = subprocess.run(
            ["mount", "-o", "loop", image, self.disk], capture_output=True, text=True
        )
        if mounted.returncode != 0:
            self.skipTest(f"no loop device can be had: {mounted.stderr.strip()}")
        self.filler = os.path.join(self.disk, "filler")
        self.make_random_file(self.filler, DISK_BYTES // 8)
        with open(os.path.join(self.disk, "rest"), "wb") as file:
            rest = self.free_bytes() - self.never_free - DISK_BYTES * 7 // 8
            os.posix_fallocate(file.fileno(), 0, rest)

    def enlarge_disk(self):
        os.unlink(self.filler)


if __name__ == "__main__":
    main()
