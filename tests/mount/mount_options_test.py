"""Goal: mount options have their effect on a real mount. fstab_test.py tests those that it mounts
with.
"""

import errno
import os
import shutil
import stat
import unittest

from mount_case import MountCase, gridmount_only, main
from mounts import MountError, is_mounted

USER = 12345


@gridmount_only
class MountOptions(MountCase):
    def mount(self, *options):
        self.system.stop()
        self.system.options = ["-o", ",".join(options)] if options else []
        self.system.start()

    def flags(self):
        """Returns the flags of the mount from the kernel's table."""
        with open("/proc/self/mounts", encoding="utf-8") as table:
            for line in table:
                _, folder, _, flags = line.split(" ")[:4]
                if folder == self.system.mount_point:
                    return set(flags.split(","))
        return self.fail("it is not mounted")

    def assert_refused(self, word, *options):
        self.system.stop()
        with self.assertRaises(MountError) as refused:
            self.mount(*options)
        self.assertIn("ended with status 1:", str(refused.exception))
        self.assertIn(word, str(refused.exception))
        self.assertFalse(is_mounted(self.system.mount_point))
        self.system.process = None

    @unittest.skipIf(os.geteuid() != 0, "others get no devices and no set-user-ID programs")
    def test_WhoMayMount_ImpliesFlags_UnlessWhatFollowsSaysOtherwise(self):
        for options, there, absent in (
            (["owner"], {"nosuid", "nodev"}, {"noexec"}),
            (["group"], {"nosuid", "nodev"}, {"noexec"}),
            (["users"], {"nosuid", "nodev", "noexec"}, set()),
            (["dev", "suid", "users"], {"nosuid", "nodev", "noexec"}, set()),
            (["users", "dev", "suid", "exec"], set(), {"nosuid", "nodev", "noexec"}),
            (["owner", "dev", "suid"], set(), {"nosuid", "nodev", "noexec"}),
        ):
            self.mount(*options)
            flags = self.flags()
            self.assertLessEqual(there, flags, options)
            self.assertFalse(absent & flags, (options, flags))

    def test_TheKernels_ReachIt(self):
        for options in (["sync"], ["dirsync"], ["noexec"], ["nosuid", "nodev"], ["ro"]):
            self.mount(*options)
            self.assertLessEqual(set(options), self.flags())
        self.mount("sync", "async", "exec")
        self.assertFalse({"sync", "noexec"} & self.flags())

    def test_Lazytime_AndUnknownOnes_AreRefused(self):
        self.assert_refused("lazytime", "lazytime")
        self.assert_refused("foreground", "foreground")
        self.assert_refused("nosuch", "nosuch")

    def test_OthersOwn_DoNothing(self):
        self.mount("rw")
        plain = self.flags()
        self.mount("auto", "noauto", "nofail", "nouser", "_netdev", "x-a.b", "x-a=b", "X-a=b", "comment=c")
        self.assertEqual(self.flags(), plain)

    def test_CommaInAValue(self):
        log = os.path.join(self.scratch, "a,b")
        self.mount("rw", "log-file=" + log.replace(",", "\\,"), "no-md5")
        self.assertTrue(os.path.exists(log))

    def test_LongOptions_AreTakenAsThoseWithDashes(self):
        self.mount("db=media", "no-md5", "chunk-size=1000")
        os.mkdir(self.root)
        with open(self.path("file"), "wb") as file:
            file.write(bytes(2500))
        self.assertEqual(os.getxattr(self.path("file"), "user.gridfs.chunkSize"), b"1000")
        with self.assertRaises(OSError) as caught:
            os.getxattr(self.path("file"), "user.gridfs.md5")
        self.assertEqual(caught.exception.errno, errno.ENODATA)
        self.mount("db=test")
        self.assertEqual(os.listdir(self.root), [])

    @unittest.skipIf(os.geteuid() != 0, "devices and other users are root's")
    def test_DevicesAndSetUserIdPrograms_WorkWithTheirOptions(self):
        os.mknod(self.path("null"), 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        shutil.copy("/usr/bin/id", self.path("id"))
        os.chmod(self.path("id"), 0o4755)
        os.chmod(self.system.temp, 0o755)
        for options, works in (([], False), (["dev", "suid"], True), (["nodev", "nosuid"], False)):
            self.mount("allow_other", *options)
            # The nodes have the same attributes with all options.
            self.assertEqual(os.stat(self.path("null")).st_mode, 0o600 | stat.S_IFCHR)
            self.assertEqual(os.stat(self.path("null")).st_rdev, os.makedev(1, 3))
            self.assertEqual(stat.S_IMODE(os.stat(self.path("id")).st_mode), 0o4755)
            if works:
                with open(self.path("null"), "wb") as device:
                    device.write(b"x")
            else:
                with self.assertRaises(PermissionError):
                    os.open(self.path("null"), os.O_WRONLY)
            shown = self.run_program(self.path("id"), "-u", cwd="/", user=USER)
            self.assertEqual(int(shown), 0 if works else USER)


if __name__ == "__main__":
    main()
