"""Goal: `cmake --install` installs everything that users need in the usual places, and nothing
else.

  install_test.py CMAKE BUILD     the program, and a build folder with the programs built

Method: installs into a folder by DESTDIR, as packagers do, with the prefixes /usr/local and /usr.
Examines the files, and runs the programs from there.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = ""
BUILD = ""
PROGRAMS = ("gridmount", "gridfiles", "gridstore")


def cached(name):
    text = pathlib.Path(BUILD, "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(rf"^{name}:\w+=(.*)$", text, re.M).group(1)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gridmount-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        done = subprocess.run(
            [CMAKE, "--install", BUILD],
            env={**os.environ, "DESTDIR": folder.name},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        # The prefix is absolute, and below DESTDIR.
        prefix = cached("CMAKE_INSTALL_PREFIX")
        cls.prefix = cls.root / prefix.lstrip("/")
        cls.bin = cls.prefix / cached("CMAKE_INSTALL_BINDIR")

    def installed(self):
        return {str(file.relative_to(self.prefix)) for file in self.root.rglob("*") if file.is_file()}

    def test_Programs_RunFromWhereTheyAre(self):
        for program in PROGRAMS:
            done = subprocess.run([self.bin / program, "--version"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), program)
            self.assertIn(program, done.stdout)
            self.assertRegex(done.stdout, r"\d+\.\d+\.\d+")

    def test_Programs_AreExecutableByAllAndWritableByTheirOwner(self):
        for program in PROGRAMS:
            self.assertEqual((self.bin / program).stat().st_mode & 0o7777, 0o755, program)

    def test_ManualPages_AreInTheirSections(self):
        pages = {name for name in self.installed() if "/man/" in name}
        sections = {f"share/man/man1/{program}.1" for program in PROGRAMS}
        sections |= {"share/man/man5/gridmount-store.5", "share/man/man7/gridmount-namespace.7"}
        self.assertEqual(pages, sections)

    def test_Completions_AreWhereTheShellsLook(self):
        installed = self.installed()
        self.assertIn("share/zsh/site-functions/_gridmount", installed)
        for program in PROGRAMS:
            self.assertIn(f"share/bash-completion/completions/{program}", installed)
            self.assertIn(f"share/fish/vendor_completions.d/{program}.fish", installed)

    def test_Units_StartTheInstalledPrograms(self):
        for unit in self.units():
            self.assertEqual(unit.parent, self.prefix / "lib/systemd/system")
            text = unit.read_text(encoding="utf-8")
            started = re.search(r"^ExecStart=(\S+)", text, re.M).group(1)
            self.assertEqual(self.root / started.lstrip("/"), self.bin / unit.name.removesuffix("@.service"))
            self.assertNotIn("Copy it", text)

    def test_Units_AreOtherwiseThoseOfTheTree(self):
        def lines(path):
            return [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]

        for unit in self.units():
            ours = lines(ROOT / "packaging" / unit.name)
            differing = [pair for pair in zip(ours, lines(unit), strict=True) if pair[0] != pair[1]]
            self.assertLessEqual(len(differing), 1, differing)

    def units(self):
        units = sorted(self.prefix.rglob("*.service"))
        self.assertEqual([unit.name for unit in units], ["gridmount@.service", "gridstore@.service"])
        return units

    def test_Prefix_OfTheInstallationAlone_IsThatOfTheUnits(self):
        with tempfile.TemporaryDirectory(prefix="gridmount-install-") as folder:
            subprocess.run(
                [CMAKE, "--install", BUILD, "--prefix", "/opt/grid"],
                env={**os.environ, "DESTDIR": folder},
                check=True,
                capture_output=True,
            )
            unit = pathlib.Path(folder, "opt/grid/lib/systemd/system/gridstore@.service")
            self.assertIn("\nExecStart=/opt/grid/bin/gridstore serve ", unit.read_text(encoding="utf-8"))

    def test_Documents_AreThoseOfTheTree(self):
        documents = self.prefix / "share" / "doc" / "gridmount"
        names = {file.relative_to(documents) for file in documents.rglob("*") if file.is_file()}
        for name in ("README.md", "LICENSE", "doc/limits.md", "fuse/SEMANTICS.md", "engine/wire/COMMANDS.md"):
            self.assertIn(pathlib.Path(name), names)
        for page in (ROOT / "doc").glob("*.md"):
            self.assertIn(pathlib.Path("doc") / page.name, names)
        for name in names:
            self.assertEqual((documents / name).read_bytes(), (ROOT / name).read_bytes(), name)

    def test_Monitoring_IsThatOfTheTree(self):
        folder = self.prefix / "share/gridmount/monitoring"
        ours = sorted((ROOT / "packaging/monitoring").iterdir())
        self.assertEqual([file.name for file in ours], sorted(file.name for file in folder.iterdir()))
        for file in ours:
            self.assertEqual(file.read_bytes(), (folder / file.name).read_bytes())

    def test_NothingElse_IsInstalled(self):
        known = (
            "bin/grid",
            "lib/systemd/system/grid",
            "share/bash-completion/completions/grid",
            "share/doc/gridmount/",
            "share/fish/vendor_completions.d/grid",
            "share/gridmount/monitoring/gridmount-",
            "share/man/man1/grid",
            "share/man/man5/gridmount-store.5",
            "share/man/man7/gridmount-namespace.7",
            "share/zsh/site-functions/_gridmount",
        )
        self.assertEqual([name for name in self.installed() if not name.startswith(known)], [])


if __name__ == "__main__":
    BUILD = sys.argv.pop()
    CMAKE = sys.argv.pop()
    unittest.main(verbosity=2)
