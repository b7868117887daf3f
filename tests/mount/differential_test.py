"""Goal: the same random system calls give the same results on a mount and in a plain directory.

Method: the program `differential` makes the calls, and after each one compares its result and its
visible effects. Between rounds the mount is removed and made again, or its daemon is killed, and
both trees are compared whole: every file was closed, so everything is committed. The seed is
printed, and DIFFERENTIAL_SEED replays the calls. DIFFERENTIAL_STEPS makes more of them, and
DIFFERENTIAL_CALLS only some groups. `differential reduce` shortens a long list of calls that led to
a difference.
"""

import difflib
import os
import subprocess
import time
import unittest

from mount_case import SYSTEM, MountCase, main
from mounts import Folder

STEPS = int(os.environ.get("DIFFERENTIAL_STEPS", 60_000))
# All groups except those in which something differs. node and path: if an object has lost its name
# and is not an open file, for example a pipe or an O_PATH handle, its attributes can be read but
# not changed. xattr: the same is true of a removed folder.
CALLS = os.environ.get(
    "DIFFERENTIAL_CALLS",
    "folder,unlink,rename,exchange,link,symlink,open,read,write,seek,sync,truncate,allocate,copy,hole,"
    "map,mode,owner,times,stat,access,statfs,list,lock,odd,user",
)
ROUNDS = 5
THREADS = 4
RACERS = 6


def differences(before, after):
    """Returns the lines that are in only one of the descriptions, marked as by diff."""
    return "\n".join(
        difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", n=0, lineterm="")
    )


@unittest.skipIf(SYSTEM == "passthrough", "libfuse's example makes every file root's")
class Differential(MountCase):
    def setUp(self):
        super().setUp()
        if SYSTEM == "gridmount" and os.geteuid() == 0:
            # Calls are made as other users and on devices, too.
            self.mount("allow_other,dev,suid")
        # The plain folder is beside the build, and so not on a file system in memory: those have
        # their own rules.
        self.plain = Folder(temp_parent=os.getcwd())
        self.addCleanup(self.plain.cleanup)
        self.plain.start()
        for folder in (self.system.temp, self.plain.temp):
            os.chmod(folder, 0o755)
        os.chmod(self.root, 0o777)
        os.chmod(self.plain.root, 0o777)
        self.seed = int(os.environ.get("DIFFERENTIAL_SEED", time.time_ns() % 1_000_000))
        print(f"DIFFERENTIAL_SEED={self.seed}")

    def mount(self, options):
        self.system.stop()
        self.system.options = ["-o", options]
        self.system.start()

    def differential(self, *arguments):
        command = [os.environ["DIFFERENTIAL"], *map(str, arguments)]
        finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = finished.stdout.decode(errors="replace")
        if finished.returncode != 0:
            self.fail(
                f"DIFFERENTIAL_SEED={self.seed}: {' '.join(command)}:"
                f" status {finished.returncode}\n{output}"
            )
        return output

    def work(self, round_number, threads):
        steps = STEPS // 2 // ROUNDS
        seed = self.seed + round_number
        self.differential("run", self.root, self.plain.root, seed, steps, threads, CALLS)

    def compare_after(self, change):
        change()
        self.differential("compare", self.root, self.plain.root)

    def kill_and_start(self):
        self.system.kill()
        self.check_store()
        self.system.start()

    def work_and_compare(self, threads):
        for round_number in range(ROUNDS):
            self.work(round_number, threads)
            self.compare_after(self.system.remount)
            if SYSTEM != "plain":
                self.compare_after(self.kill_and_start)
        self.system.stop()
        self.check_store()

    def test_CallsInOneTree_GiveTheSame(self):
        self.work_and_compare(1)

    def test_CallsOfThreadsApart_GiveTheSame(self):
        self.work_and_compare(THREADS)

    @unittest.skipIf(SYSTEM != "gridmount" or os.geteuid() != 0, "an option of gridmount")
    def test_CallsInOneTree_WithRevisionsKept_GiveTheSame(self):
        self.mount("allow_other,dev,suid,revisions=2")
        self.work_and_compare(1)

    @unittest.skipIf(SYSTEM == "plain", "a plain folder has no daemon to kill")
    def test_CallsOfThreadsInOneTree_LeaveASoundTree(self):
        for round_number in range(ROUNDS):
            seed = self.seed + round_number
            self.differential("race", self.root, seed, STEPS // 2 // ROUNDS, RACERS, CALLS)
            left = self.differential("describe", self.root)
            for change in (self.system.remount, self.kill_and_start):
                change()
                now = self.differential("describe", self.root)
                self.assertEqual(differences(left, now), "")
        self.run_program("find", self.root, "-mindepth", "1", "-delete")
        self.system.stop()
        self.check_store()


if __name__ == "__main__":
    main()
