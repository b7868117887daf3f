"""gridmount as a daemon: back in the shell once the mount answers, and gone after a clean unmount."""

import os
import signal
import subprocess
import time

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted

END_SECONDS_MAX = 30.0


@gridmount_only
class Daemon(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()

    def start_in_background(self):
        self.run_program(self.system.program, self.system.store, self.system.mount_point)

    def wait_for_release(self):
        """Until the store can be opened by another process: the daemon has ended."""
        deadline = time.monotonic() + END_SECONDS_MAX
        while True:
            tried = subprocess.run(
                [os.environ["GRIDFILES"], "--store", self.system.store, "list"],
                capture_output=True, text=True,
            )
            if tried.returncode == 0:
                return tried.stdout
            if time.monotonic() > deadline:
                self.fail(f"the store is still not free: {tried.stderr}")
            time.sleep(0.05)

    def test_Background_ReturnsWhenTheMountAnswers(self):
        self.start_in_background()
        self.assertTrue(is_mounted(self.system.mount_point))
        with open(self.path("file"), "wb") as file:
            file.write(b"content")
        self.run_program("fusermount3", "-u", self.system.mount_point)
        self.assertEqual(self.wait_for_release(), "file\t7\n")

    def test_Signals_UnmountCleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.system.start()
            with open(self.path(f"file{number}"), "wb") as file:
                file.write(b"content" * 100_000)
            self.system.process.send_signal(number)
            self.assertEqual(self.system.process.wait(timeout=END_SECONDS_MAX), 0)
            self.system.process = None
            self.assertFalse(is_mounted(self.system.mount_point))
            self.check_store()
        self.system.start()
        self.assertEqual(len(os.listdir(self.root)), 2)

    def test_Mkdir_AtTheRoot_MakesABucket(self):
        self.system.start()
        os.mkdir(os.path.join(self.system.mount_point, "photos"))
        with open(os.path.join(self.system.mount_point, "photos", "a"), "wb") as file:
            file.write(b"x" * 10)
        self.system.stop()
        self.assertEqual([file["filename"] for file, _ in self.documents("photos")], ["a"])
        self.assertEqual(self.gridfiles("--prefix", "photos", "list"), b"a\t10\n")

    def test_OneBucket_AtTheRoot(self):
        self.system.options = ["-o", "bucket=fs"]
        self.system.start()
        with open(os.path.join(self.system.mount_point, "top"), "wb") as file:
            file.write(b"x")
        self.assertEqual(os.listdir(self.system.mount_point), ["top"])
        self.system.stop()
        self.assertEqual(self.gridfiles("list"), b"top\t1\n")


if __name__ == "__main__":
    main()
