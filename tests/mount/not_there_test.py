"""Goal: calls that the mount does not support, and calls beyond its limits, fail with the right
error.

Method: if a call could fail for another reason, the test also makes the same call on a file system
where it succeeds.
"""

import datetime
import errno
import fcntl
import os
import select
import struct
import subprocess
import unittest

from driver_client import DriverCase, call
from mount_case import gridmount_only, main

IS_ROOT = os.geteuid() == 0
FIEMAP = 0xC020660B
FICLONE = 0x40049409
AT_EMPTY_PATH = 0x1000
MOUNT_ATTR_IDMAP = 0x100000
OPEN_TREE_CLONE = 1
OPEN_TREE, MOUNT_SETATTR = 428, 442  # everywhere


@gridmount_only
class NotThere(DriverCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("file")
        self.write("file", b"content" * 1000)

    def open_file(self, flags=os.O_RDWR):
        fd = os.open(self.file, flags)
        self.addCleanup(os.close, fd)
        return fd

    # --- What the kernel does not ask for.

    def test_TimeOfBirth_IsNotTold(self):
        self.assertEqual(self.run_program("stat", "-c", "%W", self.file), b"0\n")

    def test_Fiemap_IsNotSupported(self):
        request = struct.pack("=QQLLLL", 0, (1 << 63) - 1, 0, 0, 4, 0) + bytes(4 * 56)
        self.assert_fails(errno.EOPNOTSUPP, fcntl.ioctl, self.open_file(), FIEMAP, request)

    def test_Clones_AreRefused_AndCpCopies(self):
        with open(self.path("clone"), "wb") as file:
            self.assert_fails(errno.EOPNOTSUPP, fcntl.ioctl, file, FICLONE, self.open_file())
        self.run_program("cp", "--reflink=auto", self.file, self.path("clone"))
        self.assert_same_file(self.file, self.path("clone"))

    def test_PlainFiles_AreAlwaysReadyForEpoll(self):
        with select.epoll() as ready:
            ready.register(self.open_file(), select.EPOLLIN | select.EPOLLOUT)
            self.assertEqual(ready.poll(10)[0][1], select.EPOLLIN | select.EPOLLOUT)

    def test_WithoutWaiting_NothingIsReadOrWritten(self):
        fd = self.open_file()
        self.assert_fails(errno.EOPNOTSUPP, os.preadv, fd, [bytearray(1)], 0, os.RWF_NOWAIT)
        self.assert_fails(errno.EOPNOTSUPP, os.pwritev, fd, [b"x"], 0, os.RWF_NOWAIT)
        self.assertEqual(os.preadv(fd, [bytearray(1)], 0), 1)

    @unittest.skipUnless(IS_ROOT, "only root may swap")
    def test_SwapFiles_AreRefused(self):
        self.make_random_file(self.file, 1 << 20)
        os.chmod(self.file, 0o600)
        self.run_program("/sbin/mkswap", self.file)
        self.assert_fails(errno.EINVAL, call, "swapon", self.file.encode(), 0)

    @unittest.skipUnless(IS_ROOT, "only root may mount")
    def test_IdMappedMounts_AreRefused(self):
        tree = call("syscall", OPEN_TREE, -100, self.system.mount_point.encode(), OPEN_TREE_CLONE)
        self.addCleanup(os.close, tree)
        child = subprocess.Popen(["unshare", "--user", "sh", "-c", "echo; read _"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if child.stdout.read(1) != b"\n":
                self.skipTest("no user namespace can be had")
            for name in ("uid_map", "gid_map"):
                with open(f"/proc/{child.pid}/{name}", "w", encoding="ascii") as file:
                    file.write("0 1000 10")
            with open(f"/proc/{child.pid}/ns/user", "rb") as namespace:
                wanted = struct.pack("=QQQQ", MOUNT_ATTR_IDMAP, 0, 0, namespace.fileno())
                self.assert_fails(
                    errno.EINVAL, call, "syscall", MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH, wanted, 32
                )
        finally:
            child.communicate(b"\n")

    # --- Limits.

    def insert(self, name, **fields):
        self.db.fs.files.insert_one({
            "filename": name, "length": 0, "chunkSize": 1000,
            "uploadDate": datetime.datetime(2020, 1, 2), **fields,
        })

    def test_NamesOfAFile_BeyondTheLimit(self):
        self.insert("many", metadata={"posix": {"links": 64_998}})
        file = self.db.fs.files.find_one({"filename": "many"})["_id"]
        self.db.fs.links.insert_many(
            {"_id": f"name {number}", "file": file} for number in range(64_998))
        os.link(self.path("many"), self.path("the last"))
        self.assertEqual(os.stat(self.path("the last")).st_nlink, 65_000)
        self.assert_fails(errno.EMLINK, os.link, self.path("many"), self.path("one more"))
        self.assertFalse(os.path.exists(self.path("one more")))
        os.unlink(self.path("name 7"))
        os.link(self.path("many"), self.path("one more"))

    def test_DocumentsLargerThanTheStoreTakes(self):
        self.insert("large", padding="x" * ((16 << 20) - 1000))
        self.assert_fails(errno.E2BIG, os.setxattr, self.path("large"), "user.a", bytes(1 << 16))
        self.assertEqual(os.listxattr(self.path("large")), [])
        os.setxattr(self.path("large"), "user.a", b"1")

    def test_SizeOfAWriteThatWasRefused_StaysUntilTheKernelHasForgottenTheFile(self):
        beyond = 1 << 60
        with open(self.file, "r+b", buffering=0) as file:
            self.assertEqual(os.pwrite(file.fileno(), bytes(4096), beyond), 4096)
            self.assert_fails(errno.EFBIG, os.fsync, file.fileno())
        self.assertEqual(os.stat(self.file).st_size, beyond + 4096)
        self.assertEqual(self.document("file")["length"], 7000)
        self.system.remount()
        self.assertEqual(os.stat(self.file).st_size, 7000)
        self.assertEqual(self.read("file"), b"content" * 1000)


if __name__ == "__main__":
    main()
