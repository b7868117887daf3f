"""Goal: gridmount works as a daemon: the command returns once the mount answers, and the daemon
ends after a clean unmount.
"""

import json
import os
import signal
import subprocess
import time

from mount_case import MountCase, gridmount_only, main
from mounts import is_mounted, unmount

END_SECONDS_MAX = 30.0


@gridmount_only
class Daemon(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()

    def start_in_background(self):
        self.run_program(self.system.program, self.system.store, self.system.mount_point)

    def wait_for_release(self):
        """Waits until another process can open the store, which means that the daemon has ended.
        Returns the list of files."""
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

    def wait_for_end(self, pid):
        """Waits for the end of a process that is not a child of this one. Until then it may still
        answer requests to the store."""
        deadline = time.monotonic() + END_SECONDS_MAX
        while os.path.exists(f"/proc/{pid}"):
            self.assertLess(time.monotonic(), deadline, f"process {pid} does not end")
            time.sleep(0.02)

    def test_Background_ReturnsWhenTheMountAnswers(self):
        self.start_in_background()
        self.assertTrue(is_mounted(self.system.mount_point))
        with open(self.path("file"), "wb") as file:
            file.write(b"content")
        unmount(self.system.mount_point)
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

    def test_Log_NamesWithNewlines_StayWithinTheirLine(self):
        self.system.start()
        path = self.path("file")
        with open(path, "wb"):
            pass
        with self.assertRaises(OSError):
            for i in range(17):
                os.setxattr(path, f"user.a\ngridmount: error: {i} \x1b[2J", bytes(1 << 16))
        self.system.stop()
        told = [line for line in self.system.log().splitlines() if "setxattr" in line]
        self.assertEqual(len(told), 1)
        self.assertIn("name user.a\\ngridmount: error: 15 \\x1b[2J: ", told[0])
        self.assertNotIn("\ngridmount: error", self.system.log())

    def test_HangUp_ReopensTheLogFile(self):
        log = os.path.join(self.scratch, "log")
        self.system.options = ["--log-file", log]
        self.system.start()
        os.rename(log, log + ".1")
        self.system.process.send_signal(signal.SIGHUP)
        self.wait_for_text(log, "the log file was reopened")
        self.system.stop()
        with open(log + ".1", encoding="utf-8") as old, open(log, encoding="utf-8") as new:
            self.assertNotIn("is unmounted", old.read())
            self.assertIn("is unmounted", new.read())

    def test_HangUp_LogFileNotToBeHad_GoesOnInTheOldOne(self):
        log = os.path.join(self.scratch, "log")
        self.system.options = ["--log-file", log]
        self.system.start()
        os.rename(log, log + ".1")
        os.mkdir(log)
        self.system.process.send_signal(signal.SIGHUP)
        self.wait_for_text(log + ".1", "the old one stays in use")
        self.system.stop()
        self.wait_for_text(log + ".1", "is unmounted")

    def test_HangUp_InTheBackgroundWithoutALogFile_IsIgnored(self):
        self.start_in_background()
        daemon = self.daemon_of_the_store()
        os.kill(daemon, signal.SIGHUP)
        time.sleep(0.3)
        os.statvfs(self.system.mount_point)
        os.kill(daemon, signal.SIGTERM)
        self.wait_for_end(daemon)
        self.assertFalse(is_mounted(self.system.mount_point))

    def test_UserSignal_WritesTheStateToTheLog(self):
        self.system.start()
        with open(self.path("file"), "wb") as file:
            file.write(b"x" * 1000)
            file.flush()
            # An operation is counted just after its reply: perhaps not yet at the first signal.
            deadline = time.monotonic() + END_SECONDS_MAX
            while "state: create: 1 done" not in self.system.log():
                self.assertLess(time.monotonic(), deadline, "the file's making is not counted")
                self.system.process.send_signal(signal.SIGUSR1)
                time.sleep(0.05)
            self.wait_for_text(self.system.log_path, "last checkpoint")
        log = self.system.log()
        self.assertRegex(log, r"state: \d+ operations? in progress")
        self.assertRegex(log, r"state: create: 1 done, 0 ordinary errors, 0 failures; 50 % within ")
        self.assertIn("state: 1 open file, ", log)
        self.assertRegex(log, r"state: the store: [1-9]\d* bytes, [1-9]\d* in use")

    def daemon_of_the_store(self):
        """Returns the pid of a daemon in the background: gridstore names it as the store's
        owner."""
        text = self.run_program(
            os.environ["GRIDSTORE"], "stats", self.system.store, "--json"
        ).decode()
        return int(json.loads(text)["owner"]["pid"])

    def wait_for_text(self, path, text):
        deadline = time.monotonic() + END_SECONDS_MAX
        while True:
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    if text in file.read():
                        return
            self.assertLess(time.monotonic(), deadline, f"{path} has no '{text}'")
            time.sleep(0.01)

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
