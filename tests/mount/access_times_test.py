"""Goal: reading changes access times by the rules: relatime as on a local file system, noatime,
nodiratime.

Method: every statement of SEMANTICS.md about them is tried on a mount of its own, with the kernel's
caches filled, and with empty ones after a remount.
"""

import mmap
import os
import shutil
import subprocess
import time
import unittest

from mount_case import MountCase, gridmount_only, main

SECOND = 10**9
DAY = 24 * 3600 * SECOND


def atime(path):
    return os.stat(path, follow_symlinks=False).st_atime_ns


def read(path, flags=os.O_RDONLY):
    fd = os.open(path, flags)
    try:
        return os.read(fd, 1 << 20)
    finally:
        os.close(fd)


@gridmount_only
class AccessTimes(MountCase):
    options = []

    def setUp(self):
        super().setUp()
        if self.options:
            self.system.options += self.options
            self.system.remount()
        self.file = self.path("file")
        with open(self.file, "wb") as file:
            file.write(b"content")
        # Later operations have another time.
        time.sleep(0.02)

    def tearDown(self):
        self.system.stop()
        self.check_store()
        super().tearDown()

    def assert_changes(self, path, action):
        """Checks that the action sets the access time of `path` to the present time, and that
        stat(2) shows this at once."""
        before, begin = atime(path), time.time_ns()
        action()
        after = atime(path)
        self.assertGreater(after, before, "atime has not changed")
        # The kernel's clock of file times ticks every few milliseconds.
        self.assertGreater(after, begin - SECOND // 50)
        self.assertLess(after, time.time_ns() + SECOND // 50)

    def assert_stays(self, path, action):
        before = atime(path)
        time.sleep(0.02)
        action()
        self.assertEqual(atime(path), before)

    def touch_content(self):
        time.sleep(0.02)
        with open(self.file, "ab") as file:
            file.write(b"more")
        time.sleep(0.02)


class Relatime(AccessTimes):
    def test_FirstReadingAfterAChange_ThenNoMore(self):
        for _ in range(3):
            self.assert_changes(self.file, lambda: read(self.file))
            self.assert_stays(self.file, lambda: read(self.file))
            self.touch_content()

    def test_ReadingWhatTheKernelDoesNotHave(self):
        self.system.remount()
        self.assert_changes(self.file, lambda: read(self.file))
        self.assert_stays(self.file, lambda: read(self.file))

    def test_IsShownWhileTheFileIsStillOpen_IfTheKernelHasToAsk(self):
        self.system.remount()
        before = atime(self.file)
        with open(self.file, "rb", buffering=0) as file:
            self.assertEqual(os.fstat(file.fileno()).st_atime_ns, before)
            file.read(1)
            self.assertGreater(os.fstat(file.fileno()).st_atime_ns, before)

    def test_AfterAChangeOfAttributes(self):
        read(self.file)
        time.sleep(0.02)
        os.chmod(self.file, 0o600)
        time.sleep(0.02)
        self.assert_changes(self.file, lambda: read(self.file))

    def test_OtherTimesStay(self):
        before = os.stat(self.file)
        read(self.file)
        after = os.stat(self.file)
        self.assertEqual(after.st_mtime_ns, before.st_mtime_ns)
        self.assertEqual(after.st_ctime_ns, before.st_ctime_ns)

    def test_OfTheFuture_Stays(self):
        os.utime(self.file, ns=(time.time_ns() + DAY, time.time_ns()))
        self.assert_stays(self.file, lambda: read(self.file))

    def test_Utimes_HasTheLastWord(self):
        self.assert_changes(self.file, lambda: read(self.file))
        os.utime(self.file, ns=(5 * SECOND, 6 * SECOND))
        self.assertEqual(atime(self.file), 5 * SECOND)
        self.system.remount()
        self.assertEqual(atime(self.file), 5 * SECOND)

    def test_RemainsAfterARemount(self):
        folder = self.path("folder")
        os.mkdir(folder)
        os.symlink("nowhere", self.path("link"))
        time.sleep(0.02)
        read(self.file)
        os.listdir(folder)
        os.readlink(self.path("link"))
        paths = (self.file, folder, self.path("link"))
        shown = [atime(path) for path in paths]
        for path, shown_atime in zip(paths, shown):
            self.assertGreater(shown_atime, os.lstat(path).st_mtime_ns)
        self.system.remount()
        self.assertEqual([atime(path) for path in paths], shown)

    def test_WritingAlone_IsNoReading(self):
        def write():
            fd = os.open(self.file, os.O_WRONLY)
            os.write(fd, b"x")
            os.close(fd)

        self.assert_stays(self.file, write)
        self.assert_stays(self.file, lambda: os.close(os.open(self.file, os.O_RDWR)))
        self.system.remount()
        # Writes a part of a page, of which the kernel has to read the rest.
        self.assert_stays(self.file, write)

    def test_ReadingAndWriting_CountsWhenTheKernelHasToAsk(self):
        self.system.remount()
        self.assert_changes(self.file, lambda: read(self.file, os.O_RDWR))

    def test_ONoatime(self):
        self.assert_stays(self.file, lambda: read(self.file, os.O_RDONLY | os.O_NOATIME))
        self.system.remount()
        self.assert_stays(self.file, lambda: read(self.file, os.O_RDONLY | os.O_NOATIME))
        self.assert_stays(self.root, lambda: os.close(self.list_without_atime(self.root)))

    @staticmethod
    def list_without_atime(path):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOATIME)
        os.listdir(fd)
        return fd

    def test_Mapping(self):
        def look():
            with open(self.file, "rb") as file:
                mapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            self.assertEqual(mapping[:7], b"content")
            mapping.close()

        self.assert_changes(self.file, look)

    def test_RunningAProgram(self):
        program = self.path("program")
        shutil.copy("/bin/true", program)
        before = atime(program)
        time.sleep(0.02)
        subprocess.run([program], check=True)
        deadline = time.monotonic() + 5
        while atime(program) <= before:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_Copying_CountsForTheSource(self):
        self.assert_changes(
            self.file, lambda: self.run_program("cp", self.file, self.path("copy"))
        )

    def test_Looking_IsNoReading(self):
        def look():
            os.stat(self.file)
            os.access(self.file, os.R_OK)
            os.listxattr(self.file)
            os.close(os.open(self.file, os.O_PATH))

        self.assert_stays(self.file, look)

    def test_Listing_AfterAChange(self):
        folder = self.path("folder")
        os.mkdir(folder)
        for name in ("a", "b"):
            time.sleep(0.02)
            with open(os.path.join(folder, name), "wb"):
                pass
            time.sleep(0.02)
            self.assert_changes(folder, lambda: os.listdir(folder))
            self.assert_stays(folder, lambda: os.listdir(folder))

    def test_RenamedFolder_KeepsIt(self):
        os.mkdir(self.path("folder"))
        time.sleep(0.02)
        os.listdir(self.path("folder"))
        shown = atime(self.path("folder"))
        os.rename(self.path("folder"), self.path("renamed"))
        self.assertEqual(atime(self.path("renamed")), shown)
        self.system.remount()
        self.assertEqual(atime(self.path("renamed")), shown)

    def test_SymbolicLink(self):
        link = self.path("link")
        os.symlink("file", link)
        time.sleep(0.02)
        self.assert_changes(link, lambda: os.readlink(link))
        self.assert_stays(link, lambda: os.readlink(link))

    def test_FileThatLostItsName_IsReadOn(self):
        with open(self.file, "rb", buffering=0) as file:
            os.unlink(self.file)
            self.assertEqual(file.read(), b"content")

    def test_ReadOnlyMount_ChangesNothing(self):
        self.system.stop()
        before = self.documents()
        self.system.options = ["-o", "ro"]
        self.system.start()
        self.assert_stays(self.file, lambda: read(self.file))
        self.assert_stays(self.root, lambda: os.listdir(self.root))
        self.system.stop()
        self.assertEqual(self.documents(), before)


class Strictatime(AccessTimes):
    options = ["-o", "strictatime"]

    def test_EachReadingCounts(self):
        folder = self.path("folder")
        link = self.path("link")
        os.mkdir(folder)
        os.symlink("file", link)
        for _ in range(3):
            for path, action in (
                (self.file, lambda: read(self.file)),
                (folder, lambda: os.listdir(folder)),
                (link, lambda: os.readlink(link)),
            ):
                time.sleep(0.02)
                self.assert_changes(path, action)

    def test_ReadingOnThroughOneOpen_CountsWhenItIsClosed(self):
        with open(self.file, "rb", buffering=0) as file:
            file.read(1)
            shown = atime(self.file)
            time.sleep(0.02)
            file.read(1)
            self.assertEqual(atime(self.file), shown)
        self.assertGreater(atime(self.file), shown)

    def test_OpeningAlone_IsNoReading(self):
        self.assert_stays(self.file, lambda: os.close(os.open(self.file, os.O_RDONLY)))
        self.assert_stays(self.file, lambda: read(self.file, os.O_RDONLY | os.O_NOATIME))

    def test_WhatIsWrittenIsRead(self):
        with open(self.file, "r+b", buffering=0) as writer, open(self.file, "rb") as reader:
            writer.write(b"other")
            self.assertEqual(reader.read(), b"othernt")
            writer.seek(0)
            writer.write(b"third")
            self.assertEqual(read(self.file), b"thirdnt")

    def test_RemainsAfterARemount(self):
        read(self.file)
        shown = atime(self.file)
        self.system.remount()
        self.assertEqual(atime(self.file), shown)


class Noatime(AccessTimes):
    options = ["-o", "noatime"]

    def test_NothingChanges(self):
        os.symlink("file", self.path("link"))
        for path, action in (
            (self.file, lambda: read(self.file)),
            (self.root, lambda: os.listdir(self.root)),
            (self.path("link"), lambda: os.readlink(self.path("link"))),
        ):
            self.assert_stays(path, action)
            self.system.remount()
            self.assert_stays(path, action)

    def test_Utimes_Works(self):
        os.utime(self.file, ns=(5 * SECOND, 6 * SECOND))
        self.assertEqual(atime(self.file), 5 * SECOND)


class Nodiratime(AccessTimes):
    options = ["-o", "nodiratime"]

    def test_FilesChange_FoldersDoNot(self):
        os.mkdir(self.path("folder"))
        time.sleep(0.02)
        self.assert_changes(self.file, lambda: read(self.file))
        self.assert_stays(self.path("folder"), lambda: os.listdir(self.path("folder")))


class LastOptionCounts(AccessTimes):
    options = ["-o", "noatime,relatime"]

    def test_ReadingChanges(self):
        time.sleep(0.02)
        self.assert_changes(self.file, lambda: read(self.file))


# The base class is not a test by itself.
del AccessTimes


if __name__ == "__main__":
    main()
