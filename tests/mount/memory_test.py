"""Goal: the daemon's own memory stays below a fixed limit, however much data streams through the
mount.
"""

import os

from memory_sampler import MemorySampler
from mount_case import MountCase, gridmount_only, main

STREAM_BYTES = 1 << 30
LIMIT_BYTES = 300 << 20
SMALL_FILES = 3000


@gridmount_only
class Memory(MountCase):
    def assert_below_limit(self, sampler):
        self.assertGreater(sampler.samples, 10, "too few samples to mean anything")
        # A sampler that looked at the wrong process or field would see nothing.
        self.assertGreater(sampler.peaks["anonymous"], 1 << 20)
        for name in ("anonymous", "anonymous_rollup"):
            self.assertLess(sampler.peaks[name], LIMIT_BYTES, f"{name}, all: {sampler.peaks}")

    def test_Streaming_StaysBelowTheLimit_WritingAndReading(self):
        file = self.path("stream")
        with MemorySampler(self.system.pid) as sampler:
            self.run_program(
                "dd", "if=/dev/urandom", f"of={file}", "bs=1M", f"count={STREAM_BYTES >> 20}"
            )
        self.assert_below_limit(sampler)
        self.assertEqual(os.stat(file).st_size, STREAM_BYTES)
        self.system.remount()
        with MemorySampler(self.system.pid) as sampler:
            self.run_program("dd", f"if={file}", "of=/dev/null", "bs=1M")
        self.assert_below_limit(sampler)

    def test_ManyWritersAtOnce_StayBelowTheLimit(self):
        writers = " ".join(
            f"dd if=/dev/zero of={self.path(str(n))} bs=1M count=64 2>/dev/null &" for n in range(8)
        )
        with MemorySampler(self.system.pid) as sampler:
            self.run_program("sh", "-c", writers + " wait")
            for number in range(SMALL_FILES):
                with open(self.path(f"small{number}"), "wb") as file:
                    file.write(b"x" * 4096)
        self.assert_below_limit(sampler)
        self.assertEqual(len(os.listdir(self.root)), 8 + SMALL_FILES)


if __name__ == "__main__":
    main()
