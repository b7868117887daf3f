"""Goal: examples/run.py notices each difference between a README.md and what its commands do, and leaves no mount
and no process.

Method: runs it on folders with short README.md files.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parents[2] / "examples" / "run.py"


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gridmount-example-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "example")
        self.folder.mkdir()

    def run_example(self, *lines):
        text = "# Title\n\nText.\n\n" + "".join(f"    {line}\n" for line in lines)
        (self.folder / "README.md").write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, "-B", RUN, self.folder], capture_output=True, text=True, timeout=60)

    def assert_passes(self, *lines):
        done = self.run_example(*lines)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def assert_fails(self, *lines, saying):
        done = self.run_example(*lines)
        self.assertEqual(done.returncode, 1)
        self.assertIn(saying, done.stderr)

    def test_Output_IsComparedAsAWhole(self):
        self.assert_passes("$ echo one; echo two >&2", "one", "two")
        self.assert_passes("$ printf 'no newline'", "no newline")
        self.assert_passes("$ true")
        self.assert_fails("$ echo one", "two", saying="line 5: the README.md shows\ntwo")
        self.assert_fails("$ echo one", saying="line 5: the README.md shows")
        self.assert_fails("$ true", "one", saying="line 5: the README.md shows\none")
        self.assert_fails("$ echo one; echo two", "one", saying="line 5")

    def test_Dots_StandForAnyText(self):
        self.assert_passes("$ echo file 123 bytes", "file ... bytes")
        self.assert_passes("$ seq 5", "1", "...", "5")
        self.assert_passes("$ true", "...")
        self.assert_fails("$ echo file 123 words", "file ... bytes", saying="line 5")
        self.assert_fails("$ printf 'a\\nb\\n'", "a...", saying="line 5")

    def test_Status_MustBeZero(self):
        self.assert_fails("$ true", "$ false", "$ true", saying="line 6: the exit status is 1")
        self.assert_fails("$ exit 0", saying="line 5: the shell has ended")

    def test_Commands_AreOfOneShellInACopyOfTheFolder(self):
        (self.folder / "beside").write_text("there\n", encoding="ascii")
        self.assert_passes("$ a=1", "$ for b in 1 2; do", ">   echo $a$b", "> done", "11", "12", "$ cat beside", "there")
        self.assert_passes("$ echo new >beside")
        self.assertEqual((self.folder / "beside").read_text(encoding="ascii"), "there\n")

    def test_WhatIsLeft_IsEnded(self):
        mark = self.folder / "pids"
        self.assert_passes("$ sleep 1000 &", f"$ echo $! >{mark}")
        self.assertFalse(pathlib.Path("/proc", mark.read_text(encoding="ascii").strip()).exists())

    def test_AMountThatIsLeft_IsAFailureAndUnmounted(self):
        mark = self.folder / "folder"
        self.assert_fails(
            "$ mkdir mnt", "$ gridmount --create store.gfs mnt", f"$ pwd >{mark}", saying="at the end there is a mount at"
        )
        folder = mark.read_text(encoding="ascii").strip()
        self.assertNotIn(folder, pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
        self.assertFalse(pathlib.Path(folder).exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
