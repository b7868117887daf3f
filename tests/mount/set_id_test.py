"""Goal: when another user changes a file, its set-user-ID and set-group-ID bits change as on ext4
of Linux 6.2 and later (xfstests generic/683 to 687). MOUNT_TEST_SYSTEM=plain runs the same
there.
"""

import os
import subprocess
import sys
import unittest

from mount_case import MountCase, SYSTEM, main

OWNER = 2001
OTHER = 2002
CALLS = {
    "write": "os.write(fd, b'x')",
    "pwrite beyond": "os.pwrite(fd, b'x', 70000)",
    "fallocate": "libc.fallocate(fd, 0, 0, 65536)",
    "punch": "libc.fallocate(fd, 3, 0, 4096)",
    "zero": "libc.fallocate(fd, 16, 0, 4096)",
    "ftruncate": "os.ftruncate(fd, 5)",
    "truncate": "os.truncate(path, 5)",
}
PROGRAM = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
path = sys.argv[1]
fd = os.open(path, os.O_RDWR)
{call}
os.close(fd)
"""


@unittest.skipIf(os.geteuid() != 0, "needs other users")
class SetId(MountCase):
    def setUp(self):
        super().setUp()
        if SYSTEM in ("gridmount", "deployment"):
            self.system.stop()
            self.system.options = ["-o", "allow_other"]
            self.system.start()
        os.chmod(self.system.temp, 0o755)
        os.chmod(self.root, 0o777)

    def mode_after(self, mode, call, user, groups):
        path = self.path("file")
        with open(path, "wb") as file:
            file.write(b"content" * 2000)
        os.chown(path, OWNER, OWNER)
        os.chmod(path, mode)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(call=call), path],
            user=user, group=9, extra_groups=groups, capture_output=True, text=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), (oct(mode), call))
        after = os.stat(path).st_mode & 0o7777
        os.unlink(path)
        return oct(after)

    def test_OthersChangeTheContent(self):
        for name, call in CALLS.items():
            for mode, user, groups, expected in (
                (0o2666, OTHER, [], 0o666),
                (0o2666, OTHER, [OWNER], 0o2666),
                (0o2666, OWNER, [], 0o666),
                (0o6666, OTHER, [], 0o666),
                (0o6676, OTHER, [OWNER], 0o676),
                (0o6777, OTHER, [], 0o777),
                (0o2666, 0, [], 0o2666),
                (0o6777, 0, [], 0o6777),
            ):
                self.assertEqual(self.mode_after(mode, call, user, groups), oct(expected),
                                 (name, oct(mode), user, groups))


if __name__ == "__main__":
    main()
