"""Goal: open_by_handle_at(2) finds a node by its ino after the kernel has forgotten it (xfstests
generic/477, 777).
"""

import contextlib
import ctypes
import errno
import os
import stat
import unittest

from mount_case import MountCase, gridmount_only, main

AT_FDCWD = -100
HANDLE_BYTES = 128


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("handle", ctypes.c_char * HANDLE_BYTES)]


LIBC = ctypes.CDLL(None, use_errno=True)


@gridmount_only
@unittest.skipIf(os.geteuid() != 0, "opening by a handle is root's")
class FileHandles(MountCase):
    # --- Verbs.

    def handle_of(self, path):
        handle = Handle(bytes=HANDLE_BYTES)
        unused = ctypes.c_int()
        if LIBC.name_to_handle_at(AT_FDCWD, os.fsencode(path), ctypes.byref(handle), ctypes.byref(unused), 0) != 0:
            raise OSError(ctypes.get_errno(), "name_to_handle_at")
        return handle

    @contextlib.contextmanager
    def open(self, handle, flags=os.O_RDONLY):
        mount = os.open(self.system.mount_point, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fd = LIBC.open_by_handle_at(mount, ctypes.byref(handle), flags)
        finally:
            os.close(mount)
        if fd < 0:
            raise OSError(ctypes.get_errno(), "open_by_handle_at")
        try:
            yield fd
        finally:
            os.close(fd)

    def assert_stale(self, handle):
        with self.assertRaises(OSError) as refused, self.open(handle):
            pass
        self.assertEqual(refused.exception.errno, errno.ESTALE)

    def mount(self, *options):
        self.system.stop()
        self.system.options = ["-o", ",".join(options)] if options else []
        self.system.start()

    # --- Tests.

    def test_Nodes_AreFoundAgain(self):
        os.makedirs(self.path("a", "b", "c"))
        for name in ("plain", "a/b/file", "gone"):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(name)
        os.link(self.path("plain"), self.path("a", "link"))
        self.gridfiles("--local", "/etc/hostname", "put", "implied/deep/f")
        paths = ["plain", "a/b/file", "a", "a/b", "a/b/c", "implied", "implied/deep", ""]
        handles = {path: self.handle_of(self.path(path)) for path in paths}
        numbers = {path: os.stat(self.path(path)).st_ino for path in paths}
        gone = self.handle_of(self.path("gone"))
        os.unlink(self.path("gone"))
        self.system.remount()
        self.assert_stale(gone)
        # The files come first, so that the mount does not know their folders from other look-ups.
        for path in paths:
            with self.open(handles[path]) as fd:
                self.assertEqual(os.fstat(fd).st_ino, numbers[path], path)
                if stat.S_ISDIR(os.fstat(fd).st_mode):
                    self.assertEqual(os.readlink(f"/proc/self/fd/{fd}"), self.path(path).rstrip("/"))
                    self.assertEqual(sorted(os.listdir(fd)), sorted(os.listdir(self.path(path))), path)
                else:
                    self.assertEqual(os.read(fd, 100).decode(), path)
        self.system.remount()
        with self.open(handles["a/b/file"], os.O_RDWR | os.O_TRUNC) as fd:
            os.write(fd, b"new")
            os.fsync(fd)
        with open(self.path("a/b/file"), encoding="ascii") as file:
            self.assertEqual(file.read(), "new")
        # A moved folder keeps its ino.
        os.rename(self.path("implied"), self.path("moved"))
        self.system.remount()
        with self.open(handles["implied/deep"]) as fd:
            self.assertEqual(os.readlink(f"/proc/self/fd/{fd}"), self.path("moved", "deep"))
        os.unlink(self.path("plain"))
        with self.open(handles["plain"]) as fd:
            self.assertEqual(os.fstat(fd).st_nlink, 1)
        os.unlink(self.path("a", "link"))
        self.system.remount()
        self.assert_stale(handles["plain"])

    def test_OfOneBucketAsTheRoot(self):
        os.makedirs(self.path("a", "b"))
        self.mount("bucket=fs")
        handle = self.handle_of(os.path.join(self.system.mount_point, "a", "b"))
        self.mount("bucket=fs")
        with self.open(handle) as fd:
            self.assertEqual(os.readlink(f"/proc/self/fd/{fd}"), os.path.join(self.system.mount_point, "a", "b"))


if __name__ == "__main__":
    main()
