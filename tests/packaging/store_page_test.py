"""Goal: gridmount-store(5) names the files that a store has, and correctly says which of them may
be removed and how a store may be copied.

Method: compares the page with engine/local/FORMAT.md, and does with stores what the page says.

Needs GRIDMOUNT, GRIDFILES, GRIDSTORE and tests/mount on PYTHONPATH.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from mounts import Gridmount

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "packaging" / "gridmount-store.5").read_text(encoding="utf-8")
NEEDED = "It is needed."
REMOVABLE = "It may be removed while the store is closed."


def files_of_the_page():
    """Returns {name: text}."""
    text = PAGE.split(".Sh FILES\n", 1)[1].split(".Sh ", 1)[0]
    parts = re.split(r"^\.It Pa (.*)\n", text, flags=re.M)
    return {name: body for names, body in zip(parts[1::2], parts[2::2]) for name in names.split(" , ")}


def named(statement):
    return [name for name, text in files_of_the_page().items() if statement in " ".join(text.split("\n"))]


class StorePage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gridmount-store-page-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.file = os.path.join(self.folder, "file")
        with open(self.file, "wb") as file:
            file.write(os.urandom(600_000))
        self.store = os.path.join(self.folder, "store.gfs")
        self.gridfiles(self.store, "--create", "--local", self.file, "put", "file")

    def run_program(self, variable, *arguments):
        done = subprocess.run([os.environ[variable], *arguments], capture_output=True)
        return done.returncode, done.stdout, done.stderr.decode()

    def gridfiles(self, store, *arguments):
        status, output, errors = self.run_program("GRIDFILES", "--quiet", "--store", store, *arguments)
        self.assertEqual(status, 0, errors)
        return output

    def check(self, store):
        return self.run_program("GRIDSTORE", "check", store)[0]

    def copy(self, source):
        target = os.path.join(self.folder, "copy.gfs")
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", source, target], check=True)
        return target

    def test_Files_AreThoseOfTheFormat(self):
        table = (ROOT / "engine/local/FORMAT.md").read_text(encoding="utf-8").split("## The folder\n", 1)[1]
        table = table.split("\n\n", 2)[0]
        self.assertEqual(sorted(files_of_the_page()), sorted(re.findall(r"^\| `(\S+)` \|", table, re.M)))

    def test_EachFileOfAClosedStore_IsNeededOrMayBeRemoved(self):
        self.assertEqual(sorted(os.listdir(self.store)), sorted(named(NEEDED) + named(REMOVABLE)))

    def test_NeededFile_IsMissed(self):
        for name in named(NEEDED):
            with self.subTest(name):
                copy = self.copy(self.store)
                os.remove(os.path.join(copy, name))
                status, _, errors = self.run_program("GRIDSTORE", "check", copy)
                self.assertEqual(status, 16, errors)
                self.assertIn(name, errors)

    def test_OtherFiles_AreNotMissed(self):
        for name in named(REMOVABLE):
            with self.subTest(name):
                copy = self.copy(self.store)
                os.remove(os.path.join(copy, name))
                self.assertEqual(self.check(copy), 0)
                self.assert_works(copy)

    def test_AllOtherFilesAtOnce_AreNotMissed(self):
        for name in named(REMOVABLE):
            os.remove(os.path.join(self.store, name))
        self.assert_works(self.store)

    def assert_works(self, store):
        self.gridfiles(store, "--local", self.file, "put", "another")
        with open(self.file, "rb") as file:
            content = file.read()
        for name in ("file", "another"):
            self.assertEqual(self.gridfiles(store, "--local", "-", "get", name), content)
        self.assertEqual(self.check(store), 0)

    def test_ClosedStore_MayBeRenamedAndCopied(self):
        copy = self.copy(self.store)
        moved = os.path.join(self.folder, "moved.gfs")
        os.rename(self.store, moved)
        for store in (copy, moved):
            self.assert_works(store)

    def test_KilledOwner_PlainCopyLosesCommitsAndSaysSo(self):
        """A backup loses no commits."""
        with Gridmount(options=["--checkpoint-interval", "3600"]) as mounted:
            with open(os.path.join(mounted.root, "file"), "wb") as file:
                file.write(b"content")
            mounted.kill()
            copy = self.copy(mounted.store)
            status, _, errors = self.run_program("GRIDFILES", "--store", copy, "list")
            self.assertEqual(status, 0)
            self.assertIn("put back to its last checkpoint", errors)
            self.assertEqual(self.gridfiles(copy, "list"), b"")
            backup = os.path.join(self.folder, "backup.gfs")
            status, _, errors = self.run_program("GRIDSTORE", "backup", mounted.store, backup)
            self.assertEqual(status, 0, errors)
            self.assertEqual(self.gridfiles(backup, "list"), b"file\t7\n")

    def test_NewStore_HasTheNewestVersionOfThePage(self):
        text = PAGE.split(".Sh VERSIONS\n", 1)[1].split(".Sh ", 1)[0]
        newest = re.findall(r"^\.It (\d+)$", text, re.M)[-1]
        self.assertIn(f"New stores have version {newest}.", text)
        with open(os.path.join(self.store, "format"), encoding="ascii") as file:
            self.assertEqual(file.read(), f"gridmount store\nformat {newest}\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
