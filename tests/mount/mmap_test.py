"""Goal: files in the mount can be mapped: read, written, shared between processes, and private."""

import mmap
import os

from mount_case import MountCase, main

SIZE = 3 * 1024 * 1024 + 777


class Mmap(MountCase):
    def setUp(self):
        super().setUp()
        self.original = os.path.join(self.scratch, "original")
        self.make_random_file(self.original, SIZE)
        self.file = self.path("mapped")
        self.run_program("cp", self.original, self.file)

    def change(self, buffer):
        """Makes the same changes in a map and in a bytearray, at the edges of pages and chunks."""
        for at in (0, 4095, 262143, 262144, 1048575, SIZE - 5):
            buffer[at : at + 5] = b"MARK!"

    def test_WritesThroughASharedMap_AreInTheFile_AlsoAfterRemount(self):
        with open(self.original, "rb") as file:
            expected = bytearray(file.read())
        self.change(expected)
        with open(self.file, "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
            self.change(view)
            # Visible to read(2) before any msync.
            self.assertEqual(os.pread(file.fileno(), 5, 262143), bytes(expected[262143:262148]))
            view.flush()
        for _ in range(2):
            with open(self.file, "rb") as file:
                self.assertEqual(file.read(), bytes(expected))
            self.system.remount()

    def test_ReadMap_ShowsTheFileAndLaterWrites(self):
        with open(self.file, "r+b") as file:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                with open(self.original, "rb") as original:
                    self.assertEqual(view[:], original.read())
                os.pwrite(file.fileno(), b"later", 500_000)
                self.assertEqual(view[500_000:500_005], b"later")

    def test_PrivateMap_LeavesTheFileAlone(self):
        with open(self.file, "r+b") as file:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as view:
                self.change(view)
        self.system.remount()
        self.assert_same_file(self.original, self.file)

    def test_SharedMap_OfAChild_IsSeenByTheParent(self):
        with open(self.file, "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
            child = os.fork()
            if child == 0:
                view[4096:4101] = b"child"
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(view[4096:4101], b"child")
            self.assertEqual(os.pread(file.fileno(), 5, 4096), b"child")

    def test_MapOfAGrownFile_ReadsZerosInTheHole(self):
        with open(self.file, "r+b") as file:
            file.truncate(SIZE + 2_000_000)
            with mmap.mmap(file.fileno(), 0) as view:
                self.assertEqual(view[SIZE:].strip(b"\0"), b"")
                view[SIZE + 1_000_000] = 7
        self.system.remount()
        with open(self.file, "rb") as file:
            tail = file.read()[SIZE:]
        self.assertEqual(tail, b"\0" * 1_000_000 + b"\7" + b"\0" * 999_999)


if __name__ == "__main__":
    main()
