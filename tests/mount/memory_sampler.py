"""Samples the daemon's memory while a long stream passes through the mount.

RssAnon is what the program itself holds (heap, stacks, buffers). It is counted and checked against
the limit. RssFile is the pages of files mapped into the process, here the store's file, which LMDB
reads through a map. They belong to the kernel's page cache, and the kernel takes them back when
others need memory, so they are reported separately. smaps_rollup reports the same from the page
tables themselves, without the inexactness of per-thread counters. It is slower to read, so it is
sampled less often.
"""

import threading
import time

MEBIBYTE = 1024 * 1024
STATUS_INTERVAL_SECONDS = 0.02
ROLLUP_INTERVAL_SECONDS = 1.0


class MemorySampler:
    """Samples from entry to exit of the `with` block; then `peaks` holds bytes by name."""

    def __init__(self, pid):
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample_until_done)
        self._error = None
        self.samples = 0
        self.peaks = {"anonymous": 0, "file_mapped": 0, "anonymous_rollup": 0}

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, kind, value, traceback):
        self._done.set()
        self._thread.join()
        if self._error is not None and value is None:
            raise self._error

    def _sample_until_done(self):
        next_rollup = 0.0
        try:
            while not self._done.is_set():
                status = self._kibibytes(f"/proc/{self._pid}/status")
                # Shared anonymous memory belongs to the process as well.
                self._raise_peak("anonymous", status["RssAnon"] + status["RssShmem"])
                self._raise_peak("file_mapped", status["RssFile"])
                if time.monotonic() >= next_rollup:
                    rollup = self._kibibytes(f"/proc/{self._pid}/smaps_rollup")
                    self._raise_peak("anonymous_rollup", rollup["Anonymous"])
                    next_rollup = time.monotonic() + ROLLUP_INTERVAL_SECONDS
                self.samples += 1
                self._done.wait(STATUS_INTERVAL_SECONDS)
        except (OSError, KeyError) as error:
            self._error = error

    def _raise_peak(self, name, kibibytes):
        self.peaks[name] = max(self.peaks[name], kibibytes * 1024)

    @staticmethod
    def _kibibytes(path):
        values = {}
        with open(path, encoding="ascii", errors="replace") as lines:
            for line in lines:
                words = line.split()
                if len(words) == 3 and words[2] == "kB":
                    values[words[0].rstrip(":")] = int(words[1])
        return values
