"""Goal: vim edits files in the mount, in both of its ways to save, and finds its swap file after a
kill.
"""

import os
import signal
import subprocess
import time

from mount_case import MountCase, main

WAIT_SECONDS_MAX = 20.0
LINES = 20_000


class Editor(MountCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("text")
        self.expected = [f"line {number}" for number in range(LINES)]
        with open(self.file, "w", encoding="ascii") as file:
            file.write("\n".join(self.expected) + "\n")
        os.chmod(self.file, 0o640)
        os.setxattr(self.file, "user.kept", b"yes")

    def command(self, *commands):
        return ["vim", "-N", "-u", "NONE", "-i", "NONE", "-es",
                *(word for each in commands for word in ("-c", each)), self.file]

    def vim(self, *commands):
        self.run_program(*self.command(*commands), cwd=self.root, env={"PATH": os.environ["PATH"]})

    def edit(self, number, *settings):
        """Edits the file once more: changes another line, adds one and removes one."""
        self.expected[number] = f"edited {number}"
        self.expected.append(f"added {number}")
        del self.expected[0]
        self.vim(*settings, f"{number + 1}s/.*/edited {number}/", f"$put ='added {number}'", "1d", "wq")

    def assert_saved(self):
        with open(self.file, encoding="ascii") as file:
            self.assertEqual(file.read().splitlines(), self.expected)
        status = os.stat(self.file)
        self.assertEqual(status.st_mode & 0o7777, 0o640)
        return status

    def finish(self, names):
        self.assertEqual(sorted(os.listdir(self.root)), names)
        self.system.remount()
        self.assert_saved()
        self.assertEqual(sorted(os.listdir(self.root)), names)
        self.system.stop()
        self.check_store()

    def test_SavedByRename_IsAnotherFileOfTheSameName(self):
        """The old file becomes the backup. A new file is written, synced and gets its name."""
        for number in range(1, 6):
            before = os.stat(self.file).st_ino
            self.edit(number, "set backup backupcopy=no backupskip= fsync")
            self.assertNotEqual(self.assert_saved().st_ino, before)
            self.assertEqual(os.stat(self.file + "~").st_ino, before)
        self.finish(["text", "text~"])

    def test_SavedInPlace_KeepsTheFileAndItsLinks(self):
        os.link(self.file, self.path("other name"))
        os.symlink("text", self.path("symbolic"))
        before = os.stat(self.file).st_ino
        for number in range(1, 6):
            self.edit(number, "set backupcopy=yes backupskip= fsync")
            status = self.assert_saved()
            self.assertEqual((status.st_ino, status.st_nlink), (before, 2))
        self.assertEqual(os.getxattr(self.file, "user.kept"), b"yes")
        self.assert_same_file(self.file, self.path("other name"))
        self.finish(["other name", "symbolic", "text"])

    def test_KilledEditor_IsRecoveredFromItsSwapFile(self):
        """vim writes the swap file all the time, and reads it after a kill."""
        editor = subprocess.Popen(
            self.command("5s/.*/from the swap file/", "preserve", "sleep 600"), cwd=self.root,
            env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            swap = self.path(".text.swp")
            deadline = time.monotonic() + WAIT_SECONDS_MAX
            while b"from the swap file" not in self.bytes_of(swap):
                self.assertIsNone(editor.poll())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
        finally:
            editor.send_signal(signal.SIGKILL)
            editor.wait()
        self.system.remount()
        self.assert_saved()
        self.run_program("vim", "-N", "-u", "NONE", "-i", "NONE", "-es", "-r", self.file, "-c", "wq!")
        self.expected[4] = "from the swap file"
        self.assert_saved()
        self.finish([".text.swp", "text"])

    @staticmethod
    def bytes_of(path):
        """Returns the content of a file that the editor removes and makes again while it starts."""
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""


if __name__ == "__main__":
    main()
