"""Goal: a time beyond the range of a document's Date, as touch(1) can set it, becomes the nearest
time in range.
"""

import os
import unittest

from mount_case import MountCase, gridmount_only, main

# The last and the first second of a Date, whose milliseconds are an int64.
LAST = (2**63 - 1) // 1000
FIRST = -(2**63) // 1000


@gridmount_only
class FarTimes(MountCase):
    def test_FarTimes_BecomeTheNearest(self):
        cases = {
            "last": ("@9223372036854775", LAST),
            "far": ("@9223372036854776", LAST),
            "farther": ("@9223372036854775807", LAST),
            "first": ("@-9223372036854776", FIRST),
            "far-before": ("@-9223372036854777", FIRST),
            "farther-before": ("@-9223372036854775808", FIRST),
            "plain": ("@1700000000.123456789", 1700000000),
            "old": ("@-1.5", -2),
        }
        os.mkdir(self.path("folder"))
        for name, (text, _) in cases.items():
            self.run_program("touch", "-d", text, self.path(name))
            os.mkdir(self.path("folder", name))
            self.run_program("touch", "-d", text, self.path("folder", name))
            os.symlink("x", self.path(name + ".link"))
            self.run_program("touch", "-h", "-d", text, self.path(name + ".link"))
        held = os.open(self.path("far"), os.O_RDWR)
        os.write(held, b"x")
        os.close(held)
        self.run_program("touch", "-d", cases["far"][0], self.path("far"))
        self.system.remount()
        for name, (_, seconds) in cases.items():
            for path in (self.path(name), self.path("folder", name), self.path(name + ".link")):
                shown = self.run_program("stat", "-c", "%Y %X", path).decode().split()
                self.assertEqual(shown, [str(seconds)] * 2, path)
        self.assertEqual(os.stat(self.path("plain")).st_mtime_ns, 1700000000123456789)
        self.system.stop()
        self.check_store()


if __name__ == "__main__":
    main()
