"""Goal: st_blocks shows how much of a file is stored, and programs that rely on it make sparse
copies.

Method: a file of 1 GiB with data in its middle is made as programs make it. The test runs du(1),
cp(1) and tar(1) on it, and everything again after a remount. At the end the store is checked.
"""

import mmap
import os
import unittest

from mount_case import MountCase, gridmount_only, main

GIB = 1 << 30
MIB = 1 << 20
CHUNK = 256 * 1024
BLOCK = 512


@gridmount_only
class Blocks(MountCase):
    def tearDown(self):
        self.system.stop()
        self.check_store()
        super().tearDown()

    def blocks(self, name):
        """Returns st_blocks. stat(1) and stat(2) must agree."""
        told = int(self.run_program("stat", "-c", "%b", self.path(name)))
        self.assertEqual(told, os.stat(self.path(name)).st_blocks)
        return told

    def assert_stored(self, name, size):
        """Checks that `size` bytes of the file are stored, now and after a remount."""
        self.assertEqual(self.blocks(name) * BLOCK, size)
        self.system.remount()
        self.assertEqual(self.blocks(name) * BLOCK, size)

    def make_sparse(self, name):
        """Makes a file of 1 GiB with 1 MiB of data in the middle. Returns the data."""
        self.run_program("truncate", "-s", "1G", self.path(name))
        data = os.path.join(self.scratch, "data")
        self.make_random_file(data, MIB)
        self.run_program(
            "dd", f"if={data}", f"of={self.path(name)}", "bs=64K", "seek=8192", "conv=notrunc"
        )
        with open(data, "rb") as file:
            return file.read()

    def assert_holds(self, path, data):
        self.assertEqual(os.stat(path).st_size, GIB)
        with open(path, "rb") as file:
            self.assertEqual(os.lseek(file.fileno(), 0, os.SEEK_DATA), GIB // 2)
            self.assertEqual(os.lseek(file.fileno(), GIB // 2, os.SEEK_HOLE), GIB // 2 + MIB)
            self.assertEqual(os.pread(file.fileno(), MIB, GIB // 2), data)

    def test_FileWithoutHoles_HasTheBlocksOfItsLength(self):
        self.make_random_file(self.path("a"), MIB + 1)
        self.assert_stored("a", MIB + BLOCK)

    def test_Truncate_StoresNothing(self):
        self.run_program("truncate", "-s", "1G", self.path("a"))
        # A file never has 0 blocks, because programs would then not look for data.
        self.assert_stored("a", BLOCK)

    def test_SymbolicLinks_HaveNone(self):
        for length in (1, 59, 4000):
            name = f"link of {length}"
            os.symlink("x" * length, self.path(name))
            self.assertEqual(os.lstat(self.path(name)).st_blocks, 0)
            self.assertEqual(self.run_program("du", "-k", self.path(name)).split()[0], b"0")

    def test_Data_CountsByItsChunks(self):
        self.make_sparse("a")
        self.assert_stored("a", MIB)
        self.assertEqual(self.run_program("du", "-k", self.path("a")).split()[0], b"1024")
        self.run_program("dd", "if=/dev/urandom", f"of={self.path('a')}", "bs=1", "count=1",
                         "conv=notrunc")
        self.assert_stored("a", MIB + CHUNK)
        # Writes once more to the same place.
        self.run_program("dd", "if=/dev/urandom", f"of={self.path('a')}", "bs=1", "count=1",
                         "conv=notrunc")
        self.assert_stored("a", MIB + CHUNK)

    def test_Punching_LowersThem(self):
        self.make_random_file(self.path("a"), 4 * MIB)
        self.run_program("fallocate", "-p", "-o", MIB, "-l", MIB, self.path("a"))
        self.assert_stored("a", 3 * MIB)
        self.run_program("fallocate", "-p", "-o", 0, "-l", 4 * MIB, self.path("a"))
        self.assert_stored("a", BLOCK)

    def test_Zeroing_KeepsThem_AsDoesWritingThere(self):
        """A zeroed range is allocated (fallocate(2)), although it is a hole."""
        self.make_random_file(self.path("a"), 4 * MIB)
        self.run_program("fallocate", "-z", "-o", 0, "-l", 2 * MIB, self.path("a"))
        self.assert_stored("a", 4 * MIB)
        self.run_program("dd", "if=/dev/urandom", f"of={self.path('a')}", "bs=1M", "count=1",
                         "conv=notrunc")
        self.assert_stored("a", 4 * MIB)
        self.run_program("fallocate", "-p", "-o", 0, "-l", 2 * MIB, self.path("a"))
        self.assert_stored("a", 2 * MIB)

    def test_Allocating_RaisesThem_UntilItIsPunchedOrCut(self):
        with open(self.path("a"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 8192)
            self.assertEqual(os.fstat(file.fileno()).st_blocks, 16)
        self.assertEqual(os.stat(self.path("a")).st_size, 8192)
        self.assert_stored("a", 8192)
        # A block that is allocated in part counts as a whole.
        self.run_program("fallocate", "-o", 20479, "-l", 2, self.path("a"))
        self.assert_stored("a", 16384)
        # Allocates behind the end of the file.
        self.run_program("fallocate", "-n", "-o", MIB, "-l", MIB, self.path("a"))
        self.assert_stored("a", 16384 + MIB)
        self.run_program("fallocate", "-p", "-o", 4096, "-l", 4096, self.path("a"))
        self.assert_stored("a", 12288 + MIB)
        self.run_program("truncate", "-s", 20000, self.path("a"))
        self.assert_stored("a", 8192)
        self.run_program("truncate", "-s", 0, self.path("a"))
        self.assert_stored("a", 0)

    def test_WhatIsAllocatedAndWritten_CountsOnce(self):
        self.run_program("fallocate", "-l", 4 * MIB, self.path("a"))
        self.assert_stored("a", 4 * MIB)
        self.run_program("dd", "if=/dev/urandom", f"of={self.path('a')}", "bs=64K", "count=16",
                         "seek=8", "conv=notrunc")
        self.assert_stored("a", 4 * MIB)
        self.run_program("dd", "if=/dev/urandom", f"of={self.path('a')}", "bs=1M", "count=4",
                         "conv=notrunc")
        self.assert_stored("a", 4 * MIB)
        self.run_program("fallocate", "-p", "-l", 4 * MIB, self.path("a"))
        self.assert_stored("a", BLOCK)

    def test_Cutting_LowersThem(self):
        self.make_sparse("a")
        self.run_program("truncate", "-s", GIB // 2 + CHUNK, self.path("a"))
        self.assert_stored("a", CHUNK)
        self.run_program("truncate", "-s", 0, self.path("a"))
        self.assert_stored("a", 0)

    def test_CuttingManyStoredChunks(self):
        self.make_random_file(self.path("a"), 40 * MIB)
        self.run_program("truncate", "-s", "60M", self.path("a"))
        self.assert_stored("a", 40 * MIB)
        self.run_program("truncate", "-s", "2M", self.path("a"))
        self.assert_stored("a", 2 * MIB)

    def test_WhileItIsWritten_TheyShowAtLeastWhatIsThere(self):
        with open(self.path("a"), "wb", buffering=0) as file:
            file.truncate(GIB)
            os.pwrite(file.fileno(), os.urandom(MIB), 0)
            os.fdatasync(file.fileno())
            self.assertGreater(os.fstat(file.fileno()).st_blocks, 0)
        self.assert_stored("a", MIB)

    def test_Cp_MakesASparseCopy(self):
        data = self.make_sparse("a")
        self.run_program("cp", "-a", self.path("a"), self.path("b"))
        self.assert_holds(self.path("b"), data)
        self.assert_stored("b", MIB)
        outside = os.path.join(self.scratch, "outside")
        self.run_program("cp", "-a", self.path("a"), outside)
        self.assertLess(os.stat(outside).st_blocks * BLOCK, 4 * MIB)

    def test_Tar_MakesASparseArchive(self):
        data = self.make_sparse("a")
        archive = os.path.join(self.scratch, "a.tar")
        self.run_program("tar", "-S", "-cf", archive, "-C", self.root, "a")
        self.assertLess(os.stat(archive).st_size, 2 * MIB)
        os.mkdir(self.path("out"))
        self.run_program("tar", "-S", "-xf", archive, "-C", self.path("out"))
        self.assert_holds(self.path("out", "a"), data)
        self.assert_stored(os.path.join("out", "a"), MIB)

    def test_Tar_OfWhatWasWrittenThroughAMapping(self):
        path = self.path("a")
        self.run_program("truncate", "-s", "16M", path)
        self.assertEqual(self.blocks("a"), 1)
        fd = os.open(path, os.O_RDWR)
        mapping = mmap.mmap(fd, 16 * MIB)
        os.close(fd)  # no other close will tell the kernel that something was written
        mapping[5 * MIB : 5 * MIB + 4] = b"data"
        mapping.flush()
        archive = os.path.join(self.scratch, "a.tar")
        self.run_program("tar", "-S", "-cf", archive, "-C", self.root, "a")
        self.run_program("tar", "-S", "-xf", archive, "-C", self.scratch)
        mapping.close()
        with open(os.path.join(self.scratch, "a"), "rb") as file:
            self.assertEqual(file.read()[5 * MIB : 5 * MIB + 4], b"data")
        self.system.remount()
        self.assert_stored("a", CHUNK)

    def test_Hole_OfAFileThatLostItsName(self):
        with open(self.path("a"), "w+b", buffering=0) as file:
            file.truncate(GIB)
            os.unlink(self.path("a"))
            os.pwrite(file.fileno(), b"data", GIB // 2)
            os.fsync(file.fileno())
            self.assertLess(os.fstat(file.fileno()).st_blocks * BLOCK, MIB)


if __name__ == "__main__":
    main()
