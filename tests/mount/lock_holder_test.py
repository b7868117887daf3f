"""Goal: a program that refuses a store because it is in use names the process that uses it.

Method: the kernel lists locks by the numbers of files. The test locks files of another file system
that have the same numbers as the store's files.
"""

import fcntl
import os
import subprocess

from mount_case import MountCase, gridmount_only, main
from mounts import unmount

NUMBER_MAX = 64


@gridmount_only
class LockHolder(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self.folders = [os.path.join(self.scratch, name) for name in ("with the store", "other")]
        for folder in self.folders:
            os.mkdir(folder)
            self.run_program("mount", "-t", "tmpfs", "tmpfs", folder)
            self.addCleanup(unmount, folder, "umount")
        self.addCleanup(self.system.stop)
        self.system.store = os.path.join(self.folders[0], "store")
        self.system.start()

    def test_locks_of_other_files_with_the_same_number_do_not_count(self):
        number = os.stat(os.path.join(self.system.store, "owner")).st_ino
        self.assertLess(number, NUMBER_MAX)
        numbers = set()
        for n in range(NUMBER_MAX):
            file = open(os.path.join(self.folders[1], str(n)), "wb")
            self.addCleanup(file.close)
            fcntl.flock(file, fcntl.LOCK_EX)
            numbers.add(os.fstat(file.fileno()).st_ino)
        self.assertIn(number, numbers)
        refused = subprocess.run(
            [os.environ["GRIDSTORE"], "compact", self.system.store], capture_output=True, text=True
        )
        self.assertEqual(refused.returncode, 13)
        self.assertIn(f"is in use by process {self.system.pid};", refused.stderr)


if __name__ == "__main__":
    main()
