"""Goal: the Debian package can be installed, used, upgraded under a mounted store, and removed, on
a Debian that has only the packages that it depends on.

  debian_package_test.py FOLDER     what bare_debian.py has made

Method: lintian examines the package. apt installs it in the bare Debian 12, and the programs run
there by chroot. These tests are skipped if the bare Debian could not be made.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from bare_debian import BARE, SECONDS_MAX, SKIPPED, Tree, package_in, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ""


class Bare(Tree):
    """A Debian with its essential packages and apt."""

    def install(self, package):
        run("cp", package, self.root / "tmp")
        self.run("apt-get", "install", "-y", "-q", "--no-install-recommends", f"/tmp/{package.name}")

    def await_end_of(self, program):
        """Waits until no process of the bare Debian runs the program."""
        deadline = time.monotonic() + SECONDS_MAX
        while self.runs(program):
            if time.monotonic() > deadline:
                raise AssertionError(f"{program} has not ended")
            time.sleep(0.05)

    def runs(self, program):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "root") != str(self.root):
                    continue
                if os.readlink(process / "exe").startswith(f"{self.root}/usr/bin/{program}"):
                    return True
            except OSError:
                continue
        return False


class DebianPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gridmount-deb-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.package = package_in(FOLDER)

    def field(self, name):
        return run("dpkg-deb", "--field", self.package, name).strip()

    def test_Version_IsThatOfThePrograms(self):
        project = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertEqual(self.field("Version"), re.search(r"gridmount VERSION (\S+)", project).group(1))

    def test_BuildDependencies_AreWhatTheScriptInstalls(self):
        control = (ROOT / "packaging/debian/control").read_text(encoding="utf-8")
        needed = re.search(r"^Build-Depends: (.*?)^\S", control, re.M | re.S).group(1)
        # The first of several alternatives is the package of Debian 12.
        needed = {re.sub(r"\s*\(.*\)", "", name.split("|")[0].strip()) for name in needed.split(",")}
        script = (ROOT / "packaging/install-deps.sh").read_text(encoding="utf-8")
        installed = re.search(r"^packages=\(\n(.*?)^\)", script, re.M | re.S).group(1)
        installed = set(re.sub(r"#.*", "", installed).split())
        self.assertEqual(needed - {"debhelper-compat", "dh-sequence-installsysusers"}, installed)

    def test_Lintian_FindsNothing(self):
        done = subprocess.run(
            ["lintian", "--allow-root", "--tag-display-limit", "0", self.package], capture_output=True, text=True
        )
        self.assertEqual([line for line in done.stdout.splitlines() if line[:2] in ("E:", "W:")], [])

    def test_Use_FromInstallationToRemoval(self):
        bare = Bare(pathlib.Path(FOLDER, BARE), self.folder / "bare")
        try:
            self.use(bare)
        finally:
            bare.close()

    def use(self, bare):
        bare.install(self.package)
        # Checks what the package has installed for users and administrators.
        for program in ("gridmount", "gridfiles", "gridstore"):
            self.assertIn(program, bare.run(program, "--version"))
        self.assertEqual(bare.run("stat", "-c", "%U:%G %a", "/var/lib/gridmount").strip(), "gridmount:gridmount 750")
        self.assertEqual(bare.run("stat", "-c", "%U:%G %a", "/etc/gridmount").strip(), "root:gridmount 750")

        # Mounts by hand.
        bare.run("mkdir", "-p", "/srv/media")
        bare.run("gridmount", "--create", "/var/lib/gridmount/media.gfs", "/srv/media")
        self.assertTrue(bare.is_mounted("/srv/media"))
        bare.run("cp", "-r", "/etc/apt", "/srv/media/fs/")
        bare.run("diff", "-r", "/etc/apt", "/srv/media/fs/apt")
        bare.unmount("fusermount3", "-u", "/srv/media")
        bare.await_end_of("gridmount")
        store = "/var/lib/gridmount/media.gfs"
        self.assertIn("apt/sources.list", bare.run("gridfiles", "--store", store, "list"))

        # Mounts by /etc/fstab, as at boot.
        with open(bare.root / "etc/fstab", "a", encoding="utf-8") as table:
            table.write(f"{store} /srv/media fuse.gridmount nofail,allow_other 0 0\n")
        bare.run("mount", "-a")
        bare.run("diff", "-r", "/etc/apt", "/srv/media/fs/apt")

        # An upgrade leaves the mount to its daemon, which continues with the old program.
        bare.install(self.newer_package())
        self.assertIn("+newer", bare.run("dpkg-query", "-W", "-f", "${Version}", "gridmount"))
        bare.run("sh", "-c", "echo after the upgrade > /srv/media/fs/note")
        bare.unmount("umount", "/srv/media")
        bare.await_end_of("gridmount")
        self.assertFalse(bare.is_mounted("/srv/media"))
        bare.run("mount", "/srv/media")
        self.assertEqual(bare.run("cat", "/srv/media/fs/note"), "after the upgrade\n")

        # A removal does the same, and keeps stores and configuration.
        bare.run("apt-get", "purge", "-y", "-q", "gridmount")
        self.assertEqual(bare.run("cat", "/srv/media/fs/note"), "after the upgrade\n")
        bare.unmount("umount", "/srv/media")
        bare.await_end_of("gridmount")
        self.assertTrue((bare.root / store[1:] / "data.mdb").exists())
        self.assertEqual(list(bare.root.glob("usr/bin/grid*")), [])
        self.assertEqual(list(bare.root.glob("usr/share/doc/gridmount")), [])

        # A new installation finds the stores again.
        bare.install(self.package)
        self.assertIn("note", bare.run("gridfiles", "--store", store, "list"))
        self.assertIn("no problems", bare.run("gridstore", "check", store))

    def newer_package(self):
        """Makes the same package with a newer version. Returns its path."""
        tree = self.folder / "newer"
        run("dpkg-deb", "--raw-extract", self.package, tree)
        control = tree / "DEBIAN/control"
        text = control.read_text(encoding="utf-8")
        control.write_text(re.sub(r"(?m)^Version: (.*)$", r"Version: \1+newer", text), encoding="utf-8")
        return pathlib.Path(run("dpkg-deb", "-z1", "--build", "--root-owner-group", tree, self.folder).split("'")[-2])


if __name__ == "__main__":
    FOLDER = pathlib.Path(sys.argv.pop()).resolve()
    outcome = unittest.main(verbosity=2, exit=False).result
    if outcome.skipped and outcome.wasSuccessful():
        sys.exit(SKIPPED)
    sys.exit(0 if outcome.wasSuccessful() else 1)
