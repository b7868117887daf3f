"""Goal: overlayfs works with the mount as its upper and as its lower directory."""

import os
import stat
import subprocess
import unittest

from mount_case import MountCase, gridmount_only, main
from mounts import unmount


def setUpModule():
    if os.geteuid() != 0:
        raise unittest.SkipTest("only root may mount")
    with open("/proc/filesystems", encoding="ascii") as known:
        if "\toverlay\n" not in known.read():
            raise unittest.SkipTest("this kernel has no overlayfs")


@gridmount_only
class Overlay(MountCase):
    def overlay(self, options):
        merged = os.path.join(self.scratch, "merged")
        os.mkdir(merged)
        done = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, merged],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.addCleanup(unmount, merged, "umount")
        return merged

    def test_UpperFolder_TakesChangesAndHidesNames(self):
        lower = os.path.join(self.scratch, "lower")
        os.makedirs(os.path.join(lower, "folder", "inner"))
        for name in ("file", "gone", "renamed", "folder/inner/f"):
            with open(os.path.join(lower, name), "w", encoding="ascii") as file:
                file.write(name)
        upper, work = self.path("upper"), self.path("work")
        os.mkdir(upper)
        os.mkdir(work)
        merged = self.overlay(f"lowerdir={lower},upperdir={upper},workdir={work}")
        with open(os.path.join(merged, "file"), "a", encoding="ascii") as file:
            file.write(" and more")
        os.unlink(os.path.join(merged, "gone"))
        os.rename(os.path.join(merged, "renamed"), os.path.join(merged, "moved"))
        os.unlink(os.path.join(merged, "folder", "inner", "f"))
        os.rmdir(os.path.join(merged, "folder", "inner"))
        os.mkdir(os.path.join(merged, "made"))
        self.assertEqual(sorted(os.listdir(merged)), ["file", "folder", "made", "moved"])
        self.assertEqual(os.listdir(os.path.join(merged, "folder")), [])
        with open(os.path.join(merged, "moved"), encoding="ascii") as file:
            self.assertEqual(file.read(), "renamed")
        with open(os.path.join(upper, "file"), encoding="ascii") as file:
            self.assertEqual(file.read(), "file and more")
        for hidden in ("gone", "renamed"):
            left = os.lstat(os.path.join(upper, hidden))
            self.assertTrue(stat.S_ISCHR(left.st_mode))
            self.assertEqual(left.st_rdev, 0)
        self.assertEqual(sorted(os.listdir(lower)), ["file", "folder", "gone", "renamed"])

    def test_LowerFolder_IsSeen(self):
        lower = os.path.join(self.scratch, "lower")
        os.mkdir(lower)
        with open(self.path("file"), "w", encoding="ascii") as file:
            file.write("content")
        merged = self.overlay(f"lowerdir={self.root}:{lower}")
        with open(os.path.join(merged, "file"), encoding="ascii") as file:
            self.assertEqual(file.read(), "content")


if __name__ == "__main__":
    main()
