"""Goal: a process that holds a node without a name keeps its attributes: a directory that is open
or a working directory, or a file, link or pipe held by O_PATH. MOUNT_TEST_SYSTEM=plain runs the
same on ext4.
"""

import os
import stat
import unittest

from mount_case import MountCase, gridmount_only, main


def proc_path(fd):
    return f"/proc/self/fd/{fd}"


class LostNodes(MountCase):
    # --- Verbs.

    def hold(self, name, flags):
        fd = os.open(self.path(name), flags)
        self.addCleanup(os.close, fd)
        return fd

    def assert_takes_attributes(self, path, lead="user."):
        """`path` leads to a node that has the attribute `a` of "1"."""
        self.assertEqual(os.getxattr(path, lead + "a"), b"1")
        os.setxattr(path, lead + "b", b"2")
        self.assertEqual(os.getxattr(path, lead + "b"), b"2")
        self.assertLessEqual({lead + "a", lead + "b"}, set(os.listxattr(path)))
        os.removexattr(path, lead + "a")
        self.assertNotIn(lead + "a", os.listxattr(path))
        with self.assertRaises(OSError):
            os.setxattr(path, lead + "b", b"3", os.XATTR_CREATE)

    def assert_takes_a_mode(self, path):
        os.chmod(path, 0o640)
        os.utime(path, ns=(5, 6))
        shown = os.stat(path)
        self.assertEqual((shown.st_mode & 0o7777, shown.st_mtime_ns, shown.st_nlink), (0o640, 6, 0))

    # --- Tests.

    def test_Folder_KeepsItsAttributes(self):
        os.mkdir(self.path("d"))
        os.setxattr(self.path("d"), "user.a", b"1")
        fd = self.hold("d", os.O_RDONLY)
        os.rmdir(self.path("d"))
        self.assert_takes_attributes(fd)
        self.assert_takes_a_mode(fd)

    def test_Folder_ThatWasReplaced_KeepsItsAttributes(self):
        os.mkdir(self.path("d"))
        os.mkdir(self.path("other"))
        os.setxattr(self.path("d"), "user.a", b"1")
        fd = self.hold("d", os.O_RDONLY)
        os.rename(self.path("other"), self.path("d"))
        self.assert_takes_attributes(fd)
        self.assertEqual(os.listxattr(self.path("d")), [])

    def test_WorkingFolder_IsListedAsEmpty(self):
        os.mkdir(self.path("d"))
        listed = self.run_program("sh", "-c", "rmdir ../d && ls -a && stat -c %h . && ! touch x", cwd=self.path("d"))
        self.assertEqual(listed, b"0\n")

    def test_File_ByPathAlone_KeepsItsAttributes(self):
        for name in ("removed", "replaced"):
            with open(self.path(name), "wb"):
                pass
            os.setxattr(self.path(name), "user.a", b"1")
            fd = self.hold(name, os.O_PATH)
            if name == "removed":
                os.unlink(self.path(name))
            else:
                with open(self.path("other"), "wb"):
                    pass
                os.rename(self.path("other"), self.path(name))
            self.assert_takes_attributes(proc_path(fd))
            self.assert_takes_a_mode(proc_path(fd))

    def test_File_ThatWasOpenToo_HasWhatWasSetThroughThat(self):
        with open(self.path("f"), "wb") as file:
            held = self.hold("f", os.O_PATH)
            os.unlink(self.path("f"))
            os.setxattr(file.fileno(), "user.a", b"1")
            os.fchmod(file.fileno(), 0o604)
        self.assertEqual(os.getxattr(proc_path(held), "user.a"), b"1")
        self.assertEqual(os.stat(proc_path(held)).st_mode & 0o7777, 0o604)

    @unittest.skipIf(os.geteuid() != 0, "trusted. is root's")
    def test_Link_KeepsItsTarget_AndPipeItsAttributes(self):
        for target in ("a/b/c", "x" * 3000):
            os.symlink(target, self.path("l"))
            os.setxattr(self.path("l"), "trusted.a", b"1", follow_symlinks=False)
            fd = self.hold("l", os.O_PATH | os.O_NOFOLLOW)
            os.unlink(self.path("l"))
            self.assertEqual(os.readlink("", dir_fd=fd), target)
            self.assertTrue(stat.S_ISLNK(os.fstat(fd).st_mode))
        os.mkfifo(self.path("p"))
        os.setxattr(self.path("p"), "trusted.a", b"1")
        fd = self.hold("p", os.O_RDWR)
        os.unlink(self.path("p"))
        self.assert_takes_attributes(fd, "trusted.")
        self.assert_takes_a_mode(fd)

    @unittest.skipIf(os.geteuid() != 0, "allow_other is not given")
    def test_AccessList_FollowsTheMode(self):
        os.mkdir(self.path("d"))
        self.run_program("setfacl", "-m", "u:7:rwx", self.path("d"))
        fd = self.hold("d", os.O_RDONLY)
        os.rmdir(self.path("d"))
        os.fchmod(fd, 0o750)
        # The mask, of tag 0x10, is r-x.
        entries = os.getxattr(fd, "system.posix_acl_access")[4:]
        by_tag = {entries[i]: entries[i + 2] for i in range(0, len(entries), 8)}
        self.assertEqual(by_tag[0x10], 5)

    @gridmount_only
    def test_BucketThatWasRemoved_DoesNotComeBack(self):
        bucket = os.path.join(self.system.mount_point, "other")
        os.mkdir(bucket)
        path = os.path.join(bucket, "f")
        with open(path, "wb"):
            pass
        fd = os.open(path, os.O_PATH)
        self.addCleanup(os.close, fd)
        os.unlink(path)
        os.rmdir(bucket)
        os.chmod(proc_path(fd), 0o600)
        self.assertEqual(os.stat(proc_path(fd)).st_mode & 0o7777, 0o600)
        self.assertEqual(os.listdir(self.system.mount_point), ["fs"])


if __name__ == "__main__":
    main()
