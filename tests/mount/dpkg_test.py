"""Goal: dpkg builds, unpacks, upgrades and removes a package in the mount as in a plain directory.

Owners, modes, set-user-ID, hard and symbolic links, long names and times go through the archive.
dpkg makes a new file beside the old one, syncs it, keeps the old one as a link, and renames.
"""

import os
import re
import unittest

from mount_case import SYSTEM, MountCase, main

IS_ROOT = os.geteuid() == 0
CONTROL = """\
Package: sample
Version: {version}
Architecture: all
Maintainer: Nobody <nobody@example.org>
Description: a tree with one of everything
"""
FILES = 120
TIME = 1_600_000_000


@unittest.skipIf(SYSTEM == "passthrough", "libfuse's example makes every file root's")
class Dpkg(MountCase):
    def setUp(self):
        super().setUp()
        self.plain = os.path.join(self.scratch, "plain")
        os.mkdir(self.plain)

    def both(self, name):
        return [os.path.join(folder, name) for folder in (self.plain, self.root)]

    def make_tree(self, tree, version):
        """Makes the package's content in `tree`. The second version has fewer, other and changed
        files."""
        os.makedirs(os.path.join(tree, "DEBIAN"))
        with open(os.path.join(tree, "DEBIAN", "control"), "w", encoding="ascii") as control:
            control.write(CONTROL.format(version=version))
        with open(os.path.join(tree, "DEBIAN", "conffiles"), "w", encoding="ascii") as conffiles:
            conffiles.write("/etc/sample.conf\n")
        share = os.path.join(tree, "usr", "share", "sample")
        os.makedirs(os.path.join(share, "deep/er/than/usual"))
        os.makedirs(os.path.join(share, f"empty{version}"))
        os.makedirs(os.path.join(tree, "etc"))
        for number in range(FILES - 10 * version):
            with open(os.path.join(share, f"file{number}"), "w", encoding="ascii") as file:
                file.write(f"{number} {version if number % 3 else 'same'}\n" * number * 50)
        for name in ("program", "etc/sample.conf", "file" + "x" * 200):
            path = os.path.join(tree if name.startswith("etc") else share, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\necho {version}\n")
        os.link(os.path.join(share, "program"), os.path.join(share, "deep", "linked"))
        os.symlink("../program", os.path.join(share, "deep", "symbolic"))
        os.symlink("no/such/target", os.path.join(share, "dangling"))
        # `changing` is a link in the first version and something else in the second one.
        if version == 1:
            os.symlink("deep", os.path.join(share, "changing"))
        else:
            with open(os.path.join(share, "changing"), "w", encoding="ascii") as file:
                file.write("a file now\n")
        for folder, folders, names in os.walk(tree):
            for name in [*folders, *names]:
                os.utime(os.path.join(folder, name), (TIME, TIME + version), follow_symlinks=False)
        if IS_ROOT:
            os.chown(os.path.join(share, "file1"), 1234, 2345)
            os.chown(os.path.join(share, "dangling"), 1234, 2345, follow_symlinks=False)
            os.chown(os.path.join(share, "deep"), 7, 8)
        os.chmod(os.path.join(share, "program"), 0o4755)
        os.chmod(os.path.join(share, "file2"), 0o440)
        os.chmod(os.path.join(share, "deep"), 0o2775)
        os.utime(tree, (TIME, TIME + version))

    def build(self, version):
        """Returns [package in the plain folder, package in the mount]. Both have the same bytes,
        and each is built from its own tree."""
        packages = []
        for folder in (self.plain, self.root):
            tree = os.path.join(folder, f"tree{version}")
            self.make_tree(tree, version)
            packages.append(os.path.join(folder, f"sample{version}.deb"))
            self.run_program(
                "dpkg-deb", "--build", tree, packages[-1],
                env={"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": str(TIME)},
            )
        self.assert_same_file(*packages)
        return packages

    def assert_same_trees(self, plain, mounted):
        """Compares the trees, and which names belong to one file. Ignores the times of folders,
        which dpkg does not set."""
        self.run_program("diff", "-r", "--no-dereference", plain, mounted)
        for a, b in ((plain, mounted), (mounted, plain)):
            differences = self.run_program(
                "rsync", "-anHc", "--delete", "--omit-dir-times", "--itemize-changes", a + "/", b + "/"
            ).decode(errors="replace")
            self.assertEqual(differences, "", f"rsync finds {a} and {b} different")

    def dpkg(self, *arguments):
        """Runs dpkg in both folders. Its output must be the same."""
        said = []
        for index, root in enumerate(self.both("installed")):
            command = ["dpkg", f"--root={root}", "--force-not-root", "--force-bad-path",
                       "--force-script-chrootless"]
            command += [each[index] if isinstance(each, list) else each for each in arguments]
            environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
            output = self.run_program(*command, env=environment).decode()
            said.append(re.sub(r"to unpack \S+", "to unpack", output))
        self.assertEqual(said[0], said[1])
        return said[1]

    def test_Package_BuiltAndExtractedInTheMount_IsAsInAPlainFolder(self):
        packages = self.build(1)
        for package, target, raw in zip(packages, self.both("extracted"), self.both("raw")):
            self.run_program("dpkg-deb", "--extract", package, target)
            self.run_program("dpkg-deb", "--raw-extract", package, raw)
        self.assert_same_trees(*self.both("extracted"))
        self.assert_same_trees(*self.both("raw"))
        self.system.remount()
        self.assert_same_trees(*self.both("extracted"))
        self.run_program("dpkg-deb", "--build", self.path("raw"), self.path("again.deb"))
        self.run_program("dpkg-deb", "--extract", self.path("again.deb"), self.path("again"))
        self.assert_same_trees(os.path.join(self.plain, "extracted"), self.path("again"))
        self.system.stop()
        self.check_store()

    @unittest.skipUnless(IS_ROOT, "dpkg gives files to other users")
    def test_Package_InstalledUpgradedAndRemoved_IsAsInAPlainFolder(self):
        first, second = self.build(1), self.build(2)
        for root in self.both("installed"):
            for folder in ("info", "updates", "triggers"):
                os.makedirs(os.path.join(root, "var/lib/dpkg", folder))
            for name in ("status", "available"):
                open(os.path.join(root, "var/lib/dpkg", name), "wb").close()
        self.dpkg("--unpack", first)
        self.dpkg("--configure", "-a")
        self.assert_same_trees(*self.both("installed/usr"))
        for root in self.both("installed"):
            with open(os.path.join(root, "etc/sample.conf"), "a", encoding="ascii") as file:
                file.write("edited\n")
            os.utime(os.path.join(root, "etc/sample.conf"), (TIME, TIME))
            os.unlink(os.path.join(root, "usr/share/sample/file3"))
        self.assertIn("missing", self.dpkg_verify())
        self.dpkg("--install", "--force-confold", second)
        self.assert_same_trees(*self.both("installed/usr"))
        self.assertNotIn("missing", self.dpkg_verify())
        self.assertIn("ii  sample", self.dpkg("--list"))
        self.system.remount()
        self.assert_same_trees(*self.both("installed/usr"))
        self.assert_same_trees(*self.both("installed/etc"))
        self.dpkg("--remove", "sample")
        self.assert_same_trees(*self.both("installed/etc"))
        self.dpkg("--purge", "sample")
        for root in self.both("installed"):
            left = sorted(set(os.listdir(root)) - {"var"})
            self.assertEqual(left, [])
        self.system.stop()
        self.check_store()

    def dpkg_verify(self):
        return self.dpkg("--verify", "sample")


if __name__ == "__main__":
    main()
