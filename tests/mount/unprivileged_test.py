"""Goal: users other than root can mount, by fusermount3(1).

Method: the test has its own mount namespace (unshare(2)), in which everybody may open /dev/fuse, as
with a machine's udev rules.
"""

import os
import stat
import subprocess
import tempfile
import unittest

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted, take_own_view_of_mounts, unmount

USER = 1000


def setUpModule():
    if os.getuid() != 0:
        raise unittest.SkipTest("only root may become another user")
    take_own_view_of_mounts()
    device = os.stat("/dev/fuse")
    with tempfile.TemporaryDirectory() as folder:
        # The file system of the folder may not support devices.
        subprocess.run(["mount", "-t", "tmpfs", "gridmount-test", folder], check=True)
        node = os.path.join(folder, "fuse")
        os.mknod(node, stat.S_IFCHR | 0o666, device.st_rdev)
        os.chmod(node, 0o666)
        subprocess.run(["mount", "--bind", node, "/dev/fuse"], check=True)
        subprocess.run(["umount", "-l", folder], check=True)


@gridmount_only
class Unprivileged(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self.home = os.path.join(self.system.temp, "home")
        self.folder = os.path.join(self.home, "mounted")
        os.chmod(self.system.temp, 0o755)
        for path in (self.home, self.folder):
            os.mkdir(path)
            os.chown(path, USER, USER)
        self.addCleanup(self.unmount)

    # --- Verbs.

    def mount(self, *options):
        return subprocess.run(
            [os.environ["GRIDMOUNT"], "--create", *options, "store", self.folder],
            cwd=self.home, user=USER, group=USER, extra_groups=[], capture_output=True, text=True,
        )

    def unmount(self):
        if is_mounted(self.folder):
            unmount(self.folder, user=USER)

    def flags(self):
        with open("/proc/self/mounts", encoding="utf-8") as table:
            for line in table:
                _, folder, _, flags = line.split(" ")[:4]
                if folder == self.folder:
                    return set(flags.split(","))
        return set()

    # --- Tests.

    def test_UsersMount_IsTheUsersAlone(self):
        mounted = self.mount()
        self.assertEqual((mounted.returncode, mounted.stderr), (0, ""))
        self.assertTrue({"nosuid", "nodev", f"user_id={USER}"} <= self.flags(), self.flags())
        file = os.path.join(self.folder, "fs", "file")
        self.run_program("sh", "-c", f"echo content > {file}", user=USER)
        self.assertEqual(self.run_program("cat", file, user=USER), b"content\n")
        owner = self.run_program("stat", "-c", "%u %g", file, user=USER)
        self.assertEqual(owner.split(), [b"%d" % USER] * 2)
        self.run_program("chown", "0", file, user=USER, status=1)
        # Even root is another user for the mount.
        with self.assertRaises(PermissionError):
            os.listdir(self.folder)
        self.unmount()
        self.assertFalse(is_mounted(self.folder))
        mounted = self.mount()
        self.assertEqual((mounted.returncode, mounted.stderr), (0, ""))
        self.assertEqual(self.run_program("cat", file, user=USER), b"content\n")

    def test_WhatNeedsRoot_IsRefused(self):
        with open("/etc/fuse.conf", encoding="utf-8") as settings:
            if any(line.strip() == "user_allow_other" for line in settings):
                self.skipTest("this machine lets users give allow_other")
        mounted = self.mount("-o", "allow_other")
        self.assertNotEqual(mounted.returncode, 0)
        self.assertIn("user_allow_other", mounted.stderr)
        self.assertFalse(is_mounted(self.folder))


if __name__ == "__main__":
    main()
