"""Goal: with O_DIRECT beside reads through the page cache, a read that starts after a write has
ended returns the written data.

This includes Linux's asynchronous writes (io_submit(2)), which databases and virtual machines use.
Debian's Python has no library for them.
"""

import ctypes
import mmap
import os
import platform
import struct
import threading
import unittest

from mount_case import MountCase, main

SIZE = 640 * 1024
ROUNDS = 200
# The numbers of system calls on x86-64: io_setup, io_destroy, io_getevents, io_submit.
SETUP, DESTROY, GETEVENTS, SUBMIT = 206, 207, 208, 209
PWRITE = 1

libc = ctypes.CDLL(None, use_errno=True)


class AsynchronousWrites:
    def __init__(self):
        self.context = ctypes.c_ulong(0)
        self.call(SETUP, 1, ctypes.byref(self.context))

    @staticmethod
    def call(number, *arguments):
        done = libc.syscall(number, *arguments)
        if done < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return done

    def write(self, fd, buffer):
        """Writes the buffer at the beginning of the file, and waits for the end of the write.
        Returns the number of bytes written."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        block = ctypes.create_string_buffer(
            struct.pack("<QIiHhIQQqQII", 0, 0, 0, PWRITE, 0, fd, address, len(buffer), 0, 0, 0, 0), 64
        )
        blocks = ctypes.c_void_p(ctypes.addressof(block))
        self.call(SUBMIT, self.context, 1, ctypes.byref(blocks))
        event = ctypes.create_string_buffer(32)
        self.call(GETEVENTS, self.context, 1, 1, event, None)
        return struct.unpack_from("<q", event, 16)[0]

    def close(self):
        self.call(DESTROY, self.context)


class DirectIo(MountCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("file")
        self.fd = os.open(self.file, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o644)
        os.posix_fallocate(self.fd, 0, SIZE)

    def tearDown(self):
        os.close(self.fd)
        super().tearDown()

    def assert_reads_what_was_written(self, write):
        ended = threading.Event()

        def read_on():
            fd = os.open(self.file, os.O_RDONLY)
            while not ended.is_set():
                os.pread(fd, SIZE, 0)
            os.close(fd)

        readers = [threading.Thread(target=read_on) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            buffer = mmap.mmap(-1, SIZE)
            for number in range(ROUNDS):
                content = bytes([number % 251 + 1]) * SIZE
                buffer[:] = content
                self.assertEqual(write(buffer), SIZE)
                with open(self.file, "rb") as file:
                    self.assertTrue(file.read() == content, f"stale after write {number}")
        finally:
            ended.set()
            for reader in readers:
                reader.join()

    def test_Pwrite_IsSeenThroughTheCache(self):
        self.assert_reads_what_was_written(lambda buffer: os.pwrite(self.fd, buffer, 0))

    @unittest.skipUnless(platform.machine() == "x86_64", "numbers of system calls")
    def test_AsynchronousWrite_IsSeenThroughTheCache(self):
        writes = AsynchronousWrites()
        self.addCleanup(writes.close)
        self.assert_reads_what_was_written(lambda buffer: writes.write(self.fd, buffer))


if __name__ == "__main__":
    main()
