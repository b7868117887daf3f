"""Goal: mount(8) and /etc/fstab work: `mount -t fuse.gridmount SOURCE FOLDER -o ...`, as root.

Method: mount(8) runs mount.fuse3, which looks for the program only in the system's directories. So
the test has its own mount namespace (unshare(2)), in which the program is in one of these
directories.
"""

import errno
import json
import os
import subprocess
import time
import unittest

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted, take_own_view_of_mounts, unmount

PROGRAMS = "/usr/local/sbin"
SECONDS_MAX = 30.0


def setUpModule():
    if os.getuid() != 0:
        raise unittest.SkipTest("only root may call mount(2)")
    take_own_view_of_mounts()
    subprocess.run(["mount", "-t", "tmpfs", "gridmount-test", PROGRAMS], check=True)
    os.symlink(os.environ["GRIDMOUNT"], os.path.join(PROGRAMS, "gridmount"))


@gridmount_only
class Fstab(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()

    # --- Verbs.

    def mount(self, *options):
        listed = ["-o", ",".join(options)] if options else []
        return subprocess.run(
            ["mount", "-t", "fuse.gridmount", self.system.store, self.system.mount_point, *listed],
            capture_output=True,
            text=True,
        )

    def assert_mounts(self, *options):
        tried = self.mount(*options)
        self.assertEqual((tried.returncode, tried.stderr), (0, ""), options)
        self.assertTrue(is_mounted(self.system.mount_point))

    def remount(self, options):
        self.run_program("mount", "-o", options, self.system.mount_point)

    def assert_not_remounted(self, message, options):
        tried = subprocess.run(
            ["mount", "-o", options, self.system.mount_point], capture_output=True, text=True
        )
        self.assertNotEqual(tried.returncode, 0, options)
        self.assertIn(message, tried.stderr)

    def unmount(self):
        unmount(self.system.mount_point, "umount")
        deadline = time.monotonic() + SECONDS_MAX
        while "owner" in json.loads(
            self.run_program(os.environ["GRIDSTORE"], "stats", self.system.store, "--json")
        ):
            self.assertLess(time.monotonic(), deadline, "the store is still not free")
            time.sleep(0.05)

    def flags(self):
        """Returns the flags of the mount from the kernel's table."""
        with open("/proc/self/mounts", encoding="utf-8") as table:
            for line in table:
                source, folder, kind, flags = line.split(" ")[:4]
                if folder == self.system.mount_point:
                    self.assertEqual((source, kind), (self.system.store, "fuse.gridmount"))
                    return set(flags.split(","))
        return None

    # --- Tests.

    def test_NoOptions_ReadsAndWrites(self):
        self.assert_mounts()
        with open(self.path("file"), "wb") as file:
            file.write(b"content")
        self.assertIn("rw", self.flags())
        self.unmount()
        self.assertEqual(self.gridfiles("list"), b"file\t7\n")

    def test_GenericOptions_HoldForTheMount(self):
        for options, there in (
            (["ro"], {"ro"}),
            (["rw", "dev", "suid", "exec", "noatime"], {"rw", "noatime"}),
            (["relatime", "nodiratime", "norelatime", "strictatime", "nostrictatime"], {"rw", "relatime"}),
            (["nodev", "nosuid", "noexec", "sync"], {"nodev", "nosuid", "noexec", "sync"}),
            (["defaults", "allow_other"], {"rw", "allow_other"}),
            (["user"], {"nodev", "nosuid", "noexec"}),
            (["user", "exec", "dev"], {"nosuid"}),
            (["_netdev", "nofail", "noauto", "x-systemd.automount", "x-a=b", "comment=c"], {"rw"}),
        ):
            self.assert_mounts(*options)
            flags = self.flags()
            self.assertLessEqual(there, flags, options)
            for absent in ("exec", "dev"):
                if absent in options:
                    self.assertNotIn("no" + absent, flags, options)
            if "ro" in options:
                with self.assertRaises(OSError):
                    os.mkdir(self.path("folder"))
            self.unmount()

    def test_OwnOptions_AreTaken(self):
        log = os.path.join(self.scratch, "log")
        self.gridfiles("--local", "/dev/null", "put", "file")
        self.assert_mounts("uid=5", "gid=6", "umask=077", "bucket=fs", f"log-file={log}", "no-md5")
        shown = os.stat(os.path.join(self.system.mount_point, "file"))
        self.assertEqual((shown.st_uid, shown.st_gid, shown.st_mode & 0o777), (5, 6, 0o600))
        self.unmount()
        with open(log, encoding="utf-8") as file:
            self.assertIn("is mounted at", file.read())

    def test_Unknown_IsRefusedByName(self):
        tried = self.mount("frobnicate")
        self.assertNotEqual(tried.returncode, 0)
        self.assertIn("frobnicate", tried.stderr)
        self.assertFalse(is_mounted(self.system.mount_point))

    def test_Remount_ChangesTheFlags(self):
        self.assert_mounts("nodev", "umask=027")
        with open(self.path("file"), "wb") as file:
            file.write(b"before")
        self.remount("remount,ro")
        self.assertLessEqual({"ro", "nodev"}, self.flags())
        with self.assertRaises(OSError) as refused:
            os.mkdir(self.path("folder"))
        self.assertEqual(refused.exception.errno, errno.EROFS)
        with open(self.path("file"), "rb") as file:
            self.assertEqual(file.read(), b"before")
        self.remount("remount,rw,noexec")
        self.assertLessEqual({"rw", "nodev", "noexec"}, self.flags())
        os.mkdir(self.path("folder"))
        self.remount("remount,exec,dev")
        self.assertFalse({"nodev", "noexec"} & self.flags())
        self.unmount()
        self.assertEqual(self.gridfiles("list"), b"file\t6\n")

    def test_Remount_OfALineOfFstab(self):
        table = os.path.join(self.scratch, "fstab")
        with open(table, "w", encoding="utf-8") as file:
            file.write(
                f"{self.system.store} {self.system.mount_point} fuse.gridmount "
                "noauto,x-a=b,stuck-after=10,umask=027,bucket=fs,no-md5 0 0\n"
            )
        self.run_program("mount", "--fstab", table, self.system.mount_point)
        for word in ("ro", "rw"):
            self.run_program("mount", "--fstab", table, "-o", f"remount,{word}", self.system.mount_point)
            self.assertIn(word, self.flags())
        self.unmount()

    def test_Remount_IsRefused_AndTheMountStaysAsItIs(self):
        self.assert_mounts()
        with open(self.path("file"), "wb"):
            self.assert_not_remounted("open for writing", "remount,ro")
        self.assert_not_remounted("noatime", "remount,noatime")
        self.assert_not_remounted("frobnicate", "remount,frobnicate")
        self.assertIn("rw", self.flags())
        os.mkdir(self.path("folder"))
        self.unmount()
        for options in ((), ("bucket=fs",)):
            self.assert_mounts("ro", *options)
            self.assert_not_remounted("mounted with ro", "remount,rw")
            self.assertIn("ro", self.flags())
            self.unmount()
        self.assert_not_remounted("", "remount,ro")

    def test_LineOfFstab_MountsByItsFolder(self):
        table = os.path.join(self.scratch, "fstab")
        with open(table, "w", encoding="utf-8") as file:
            file.write(
                f"{self.system.store} {self.system.mount_point} fuse.gridmount "
                "noauto,nofail,_netdev,x-systemd.requires=network.target,stuck-after=10,umask=027 0 0\n"
            )
        self.run_program("mount", "--fstab", table, "--all")
        self.assertFalse(is_mounted(self.system.mount_point))
        self.run_program("mount", "--fstab", table, self.system.mount_point)
        os.mkdir(self.path("folder"))
        self.unmount()


if __name__ == "__main__":
    main()
