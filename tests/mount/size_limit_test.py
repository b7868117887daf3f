"""Goal: df reports the limit of a store with --size-limit, writers fail at the limit, and files can
still be removed then.

The limit applies to write(2), drivers' uploads and mkdir. Removed space is free at once. Without
the option, the store works as on any disk.
"""

import errno
import os
import subprocess

from mount_case import MountCase, gridmount_only, main

LIMIT = 48 << 20


@gridmount_only
class SizeLimit(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self.system.options = [*self.system.options, "--size-limit", "48M"]
        self.system.start()

    def room(self):
        told = os.statvfs(self.root)
        return told.f_blocks * told.f_frsize, told.f_bavail * told.f_frsize

    def fill(self, name):
        written = 0
        file = os.open(self.path(name), os.O_WRONLY | os.O_CREAT)
        try:
            while written < 16 * LIMIT:
                written += os.write(file, os.urandom(1 << 18))
            self.fail("there is no limit")
        except OSError as error:
            self.assertEqual(error.errno, errno.ENOSPC)
        finally:
            try:
                os.close(file)
            except OSError as error:
                self.assertEqual(error.errno, errno.ENOSPC)
        return written

    def test_it_is_told_and_met_and_can_be_left(self):
        self.assertEqual(self.room()[0], LIMIT)
        for round in range(2):
            written = self.fill("big")
            self.assertLess(written, LIMIT + (16 << 20))
            self.assertGreater(written, LIMIT // 2)
            total, free = self.room()
            self.assertLess(free, 20 << 20)
            self.assertLess(total, LIMIT + (1 << 20))
            with self.assertRaises(OSError) as refused:
                with open(self.path("large"), "wb") as file:
                    os.posix_fallocate(file.fileno(), 0, LIMIT)
            self.assertEqual(refused.exception.errno, errno.ENOSPC)
            self.assertLess(self.fill("rest"), 20 << 20)
            for name in os.listdir(self.path()):
                path = self.path(name)
                os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
            self.assertGreater(self.room()[1], LIMIT * 3 // 4)
        with open(self.path("kept"), "wb") as file:
            file.write(b"kept" * 1000)
        self.system.stop()
        self.assertLess(os.path.getsize(os.path.join(self.system.store, "data.mdb")), LIMIT + (1 << 20))
        self.assertIn("no problems", self.check_store())

    def test_an_upload_that_goes_beyond_it_is_refused(self):
        local = os.path.join(self.scratch, "local")
        self.make_random_file(local, 2 * LIMIT)
        put = subprocess.run(
            [os.environ["GRIDFILES"], "--store", self.system.store, "--local", local, "put", "up"],
            capture_output=True,
            text=True,
        )
        self.assertNotEqual(put.returncode, 0)
        self.assertIn("size limit", put.stderr)
        self.assertEqual(os.listdir(self.path()), [])
        self.make_random_file(local, LIMIT // 2)
        self.gridfiles("--local", local, "put", "up")
        self.assert_same_file(local, self.path("up"))


if __name__ == "__main__":
    main()
