"""Goal: the kernel answers repeated requests from its caches, and asks the mount only when it must.

Method: the daemon's metrics count the operations. A request that is answered from a cache is not
counted.
"""

import os
import time

from driver_client import CountedCase
from mount_case import gridmount_only, main

ALWAYS = {"open", "flush", "release", "opendir", "releasedir"}


@gridmount_only
class KernelCaches(CountedCase):
    """The bucket is the root of the mount, because the kernel caches buckets below a root for only
    one second."""

    options = [*CountedCase.options, "-o", "bucket=fs"]

    def setUp(self):
        super().setUp()
        self.root = self.system.root = self.system.mount_point
        os.mkdir(self.path("folder"))
        os.symlink("file", self.path("link"))
        self.write("file", b"content")
        self.write("not read", b"content")

    def look(self):
        os.stat(self.path("not read"))
        # Reading changes access times, so that attributes are asked for after it.
        fd = os.open(self.path("file"), os.O_RDONLY)
        os.read(fd, 100)
        os.close(fd)
        os.listdir(self.path("folder"))
        os.readlink(self.path("link"))
        self.assertFalse(os.path.exists(self.path("absent")))

    def test_WhatWasLookedAtOnce_IsNotAskedForAgain(self):
        self.system.remount()
        asked = set(self.asked(self.look))
        self.assertLessEqual({"lookup", "read", "readlink"}, asked)
        self.assertTrue({"readdir", "readdirplus"} & asked, asked)
        self.look()
        self.assertLessEqual(set(self.asked(self.look)), ALWAYS)

    def test_WithStrictatime_ContentsNamesAndTargetsAre(self):
        self.system.options = [*self.options, "-o", "strictatime"]
        self.system.remount()
        self.look()
        self.look()
        asked = self.asked(self.look)
        self.assertEqual((asked["read"], asked["readlink"]), (1, 1))
        self.assertTrue({"readdir", "readdirplus"} & set(asked), asked)

    def test_SizeAndTimes_AreKeptAndTold(self):
        """The kernel sends them to the daemon with the written data, and not earlier."""
        file = open(self.path("file"), "r+b", buffering=0)
        self.addCleanup(file.close)
        stored = self.document("file")["metadata"]["posix"]["mtime"]
        time.sleep(0.02)

        def write():
            file.write(b"longer content")
            self.assertEqual(os.stat(self.path("file")).st_size, 14)

        self.assertNotIn("write", self.asked(write))
        shown = os.stat(self.path("file")).st_mtime_ns
        self.assertEqual(self.document("file")["metadata"]["posix"]["mtime"], stored)
        asked = self.asked(file.close)
        self.assertEqual((asked["write"], asked["setattr"]), (1, 1))
        posix = self.document("file")["metadata"]["posix"]
        self.assertGreater(posix["mtime"], stored)
        self.assertEqual(posix["mtimeNs"], shown % 1_000_000)
        self.assertEqual(os.stat(self.path("file")).st_mtime_ns, shown)

    def test_WithoutAccessLists_LsAsksForLess(self):
        def asked_by_ls():
            self.system.remount()
            return self.asked(lambda: self.run_program("ls", "-l", self.root))

        with_lists = asked_by_ls()
        self.system.options = [*self.options, "-o", "noacl"]
        without = asked_by_ls()
        self.assertGreater(sum(with_lists.values()), sum(without.values()))
        self.assertGreater(with_lists.get("getxattr", 0), without.get("getxattr", 0))

    def test_ADriversChange_LeavesOthersNamesAndContents(self):
        os.mkdir(self.path("changed"))
        self.write("changed/old", b"content of another")
        for _ in range(2):
            self.look()
            self.read("changed/old")
            os.listdir(self.path("changed"))
        self.db.fs.files.update_one({"filename": "changed/old"}, {"$set": {"filename": "changed/new"}})
        # The kernel asks again for the attributes of the folders above the file.
        self.assertLessEqual(set(self.asked(self.look)), {*ALWAYS, "getattr"})
        asked = self.asked(lambda: self.assertEqual(os.listdir(self.path("changed")), ["new"]))
        self.assertTrue({"readdir", "readdirplus"} & set(asked), asked)
        asked = self.asked(lambda: self.assertFalse(os.path.exists(self.path("changed", "old"))))
        self.assertIn("lookup", asked)


@gridmount_only
class KernelCachesOfBuckets(CountedCase):
    def test_Buckets_AreAskedForAgainAfterASecond_AndAbsentOnesAlways(self):
        bucket, absent = (os.path.join(self.system.mount_point, name) for name in ("fs", "absent"))
        self.assertEqual(self.asked(lambda: [os.path.exists(absent) for _ in range(3)])["lookup"], 3)
        # If the machine is slow, the test tries again.
        for _ in range(20):
            os.stat(bucket)
            begin = time.monotonic()
            asked = self.asked(lambda: os.stat(bucket))
            if time.monotonic() - begin < 0.5:
                self.assertEqual(asked, {})
                break
        else:
            self.fail("this machine is too slow to say")
        time.sleep(1.1)
        self.assertGreaterEqual(self.asked(lambda: os.stat(bucket)).get("lookup", 0), 1)


@gridmount_only
class ScarceRoom(CountedCase):
    """The store has less than 256 MiB of room, but more than 64 MiB."""

    options = [*CountedCase.options, "--size-limit", "200M"]

    def test_SmallWrites_AreNotAskedForOneByOne(self):
        pieces = 4096

        def write():
            fd = os.open(self.path("file"), os.O_WRONLY | os.O_CREAT)
            for _ in range(pieces):
                os.write(fd, b"x" * 4096)
            os.close(fd)

        self.assertLess(self.asked(write).get("getattr", 0), pieces // 4)


if __name__ == "__main__":
    main()
