"""Goal: each thread of a daemon has a name, and ARCHITECTURE.md, "Threads", lists all of them."""

import os
import pathlib
import re
import signal
import time

from mount_case import MountCase, gridmount_only, main

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"
# A mount has the threads of these rows before it gets any request.
FROM_THE_BEGINNING = {"start", "mounted", "opened"}
PATIENCE_SECONDS = 10


def table():
    """Returns {name: from when the thread exists} of the document."""
    rows = re.findall(
        r"^\| `([\w-]+)` \| [^|]+ \| ([^|]+) \|", DOCUMENT.read_text("utf-8"), re.MULTILINE
    )
    return {name: begins.strip() for name, begins in rows}


@gridmount_only
class ThreadNames(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self.system.options = ["--metrics-address", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--no-auth"]
        self.system.options += ["--http", "127.0.0.1:0", "--http-write"]
        self.system.start()

    def names(self):
        """Returns the names of all threads. A name appears once for each thread that has it."""
        pid = self.system.process.pid
        found = []
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8") as file:
                    found.append(file.read().rstrip("\n"))
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended meanwhile
        return found

    def wait_for(self, wanted):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while missing := wanted - set(self.names()):
            self.assertLess(time.monotonic(), deadline, f"no thread has the name of {missing}")
            time.sleep(0.02)

    def use_it(self):
        """Uses the mount in ways that start every kind of background work."""
        with open(self.path("file"), "wb") as file:
            file.write(b"in order" * 100_000)
            file.flush()
            os.fsync(file.fileno())
            file.seek(10)
            file.write(b"out of order")
        os.utime(self.path("file"), (1, 2))
        with open(self.path("file"), "rb") as file:
            file.read()
        os.unlink(self.path("file"))
        self.gridfiles("list")
        self.system.process.send_signal(signal.SIGUSR1)

    def test_MountInUse_NoThreadIsWithoutAName_AndTheDocumentHasEach(self):
        self.use_it()
        self.wait_for({name for name, begins in table().items() if begins in FROM_THE_BEGINNING})
        self.wait_for({"gm-metrics", "gm-http", "gm-http-change", "gm-writeback", "gm-md5"})
        names = self.names()
        self.assertEqual(set(names) - set(table()), set())
        # Only the first thread has the program's name.
        self.assertEqual(names.count("gridmount"), 1, sorted(names))

    def test_Table_NamesFitTheKernel(self):
        self.assertGreater(len(table()), 20)
        for name in table():
            self.assertLessEqual(len(name), 15, name)


if __name__ == "__main__":
    main()
