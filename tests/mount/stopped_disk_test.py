"""Goal: while a disk does not answer, only the requests that need it wait. With --stuck-after 0 the
log does not report them.
"""

import http.client
import os
import re
import signal
import subprocess
import threading
import time

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted

SECONDS_MAX = 30.0
LONG_ENOUGH = 1.0  # to say that there is no answer


@gridmount_only
class StoppedDisk(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        behind, self.disk = (os.path.join(self.scratch, name) for name in ("behind", "disk"))
        os.mkdir(behind)
        os.mkdir(self.disk)
        self.disk_process = subprocess.Popen(
            [os.environ["FAILING_DISK"], behind, os.path.join(self.scratch, "faults"), self.disk],
            stdin=subprocess.DEVNULL,
        )
        self.addCleanup(self.end_disk)
        self.wait_until(lambda: is_mounted(self.disk))
        self.addCleanup(self.system.stop)
        self.addCleanup(self.disk_process.send_signal, signal.SIGCONT)
        self.system.store = os.path.join(self.disk, "store")
        self.system.options = ["--metrics-address", "127.0.0.1:0", "--stuck-after", "0"]
        self.system.start()

    def end_disk(self):
        subprocess.run(["fusermount3", "-u", "-z", self.disk], check=True)
        try:
            self.disk_process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.disk_process.kill()
            self.disk_process.wait()

    def wait_until(self, holds):
        deadline = time.monotonic() + SECONDS_MAX
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def request_metrics(self, seconds):
        """Returns the text of the metrics, or None if it does not arrive in time."""
        pattern = r"metrics at http://127\.0\.0\.1:(\d+)/metrics"
        self.wait_until(lambda: re.search(pattern, self.system.log()))
        port = int(re.findall(pattern, self.system.log())[-1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        except TimeoutError:
            return None
        finally:
            connection.close()

    def test_MetricsDoNotAnswer_AndWhatWaitsIsNotLogged_IfThatIsTurnedOff(self):
        with open(self.path("file"), "wb") as file:
            file.write(b"content")
        # The kernel then has in its cache the attributes that it checks before it removes the file.
        os.stat(self.root)
        os.stat(self.path("file"))
        self.assertIn("gridmount_open_files", self.request_metrics(SECONDS_MAX))
        removing = threading.Thread(target=os.unlink, args=[self.path("file")])
        self.disk_process.send_signal(signal.SIGSTOP)
        try:
            removing.start()
            self.assertIsNone(self.request_metrics(LONG_ENOUGH))
            self.assertTrue(removing.is_alive())
        finally:
            self.disk_process.send_signal(signal.SIGCONT)
        removing.join()
        self.assertIn("gridmount_open_files", self.request_metrics(SECONDS_MAX))
        self.assertNotIn("waiting for", self.system.log())
        self.assertFalse(os.path.exists(self.path("file")))
    def test_WhileAFolderIsRenamed_WhoAsksForSomethingInItWaits_AndOthersAreAnswered(self):
        """The rename lasts as long as the disk is stopped. The kernel does not know the names."""
        for folder in ("moved", "moved/inner", "elsewhere"):
            os.mkdir(self.path(folder))
        with open(self.path("elsewhere", "file"), "wb") as file:
            file.write(b"content")
        for folder in ("moved", "moved/inner", "elsewhere"):
            self.assertFalse(os.path.exists(self.path(folder, "absent")))
        inner = os.open(self.path("moved", "inner"), os.O_RDONLY)
        self.addCleanup(os.close, inner)
        found = []

        def start(work):
            thread = threading.Thread(target=lambda: found.append(work()))
            thread.start()
            return thread

        def asks_in_the_folder():
            try:
                return os.stat("unknown", dir_fd=inner)
            except FileNotFoundError:
                return "asked in the folder"

        threads = []
        # If a thread waits that need not wait, the disk answers in the end.
        rescue = threading.Timer(SECONDS_MAX, self.disk_process.send_signal, [signal.SIGCONT])
        rescue.start()
        self.disk_process.send_signal(signal.SIGSTOP)
        try:
            threads.append(start(lambda: os.rename(self.path("moved"), self.path("renamed")) or "renamed"))
            time.sleep(0.3)
            threads.append(start(asks_in_the_folder))
            for number in range(20):
                self.assertFalse(os.path.exists(self.path("elsewhere", f"unknown{number}")))
            with open(self.path("elsewhere", "file"), "rb") as file:
                self.assertEqual(file.read(), b"content")
            time.sleep(0.3)
            self.assertEqual(found, [])
        finally:
            self.disk_process.send_signal(signal.SIGCONT)
            rescue.cancel()
            for thread in threads:
                thread.join()
        self.assertEqual(sorted(found), ["asked in the folder", "renamed"])
        self.assertEqual(os.listdir(self.path("renamed")), ["inner"])


if __name__ == "__main__":
    main()
