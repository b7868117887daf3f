"""Goal: stress-ng's file system stressors find nothing wrong in the mount.

Method: all stressors of one subject run at once in one directory, each in its own process. A
stressor prints one line for each fault. If a stressor lacks what it needs, stress-ng skips it
without a failure; this test counts that as one.

Left out: `io` also fails in a plain directory, and syncs the whole machine. bind-mount, binderfs,
eventfd, ioprio, null and procfs test something else. fiemap, verity and inode-flags test ioctls
that FUSE file systems do not have. iomix and sync-file also sync other file systems, so on a
machine with a busy disk the test takes longer than its stressors.
"""

import os
import re
import subprocess
import unittest

from mount_case import SYSTEM, MountCase, main

SECONDS = 3
WRONG = re.compile(r".*\b(?:fail|error|skipping)\b.*")


@unittest.skipIf(SYSTEM == "passthrough", "libfuse's example makes every file root's")
@unittest.skipUnless(os.geteuid() == 0, "some stressors skip what only root may")
class StressNg(MountCase):
    def stress(self, stressors, *options):
        """Returns the faults that stress-ng reports, and the stressors that were skipped."""
        folder = self.path("stress")
        os.makedirs(folder, exist_ok=True)
        report = os.path.join(self.scratch, "report.yaml")
        command = ["stress-ng", "--temp-path", folder, "--verify", "--timeout", str(SECONDS)]
        command += ["--metrics", "--yaml", report, *options]
        for stressor in stressors:
            command += [f"--{stressor}", "1"]
        finished = subprocess.run(
            command, cwd=self.scratch, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
        )
        if finished.returncode != 0:
            self.fail(f"status {finished.returncode}:\n{finished.stdout}")
        wrong = WRONG.findall(finished.stdout)
        with open(report, encoding="utf-8") as file:
            measured = set(re.findall(r"- stressor: (\S+)", file.read()))
        return wrong, sorted(set(stressors) - measured)

    def assert_withstands(self, stressors, *options):
        self.assertEqual(self.stress(stressors, *options), ([], []))
        self.assertEqual(os.listdir(self.path("stress")), [], "stressors take away what they make")
        self.system.stop()
        self.check_store()

    def test_Names(self):
        self.assert_withstands(
            ["dentry", "dir", "dirdeep", "dirmany", "filename", "getdent", "link", "mknod", "open",
             "rename", "symlink"],
            "--dirdeep-inodes", "2000", "--dentries", "512",
        )

    def test_Attributes(self):
        self.assert_withstands(
            ["access", "chattr", "chmod", "chown", "fstat", "touch", "utime", "xattr"]
        )

    def test_Content(self):
        self.assert_withstands(
            ["aio", "copy-file", "fallocate", "fpunch", "fsize", "hdd", "iomix", "readahead", "revio",
             "seek", "sendfile", "splice", "sync-file"],
            "--fallocate-bytes", "32m", "--hdd-bytes", "32m", "--iomix-bytes", "32m",
            "--readahead-bytes", "32m", "--seek-size", "16m", "--sync-file-bytes", "16m",
        )

    def test_LocksAndNotices(self):
        self.assert_withstands(
            ["dnotify", "dup", "fanotify", "fcntl", "file-ioctl", "flock", "handle", "inotify", "lease",
             "locka", "lockf", "lockofd"]
        )

    def test_AStressorThatLacksItsSubject_IsNoticed(self):
        """Shows that a skipped stressor is noticed, so that the other tests can fail."""
        wrong, idle = self.stress(["verity"])
        self.assertNotEqual(wrong + idle, [])


if __name__ == "__main__":
    main()
