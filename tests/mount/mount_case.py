"""The base of every test here: a mount of its own that is always removed again.

MOUNT_TEST_SYSTEM=plain or =passthrough runs the same tests in a plain directory or on libfuse's
pass-through example. This shows that a test requires nothing that a file system need not do. Tests
of gridmount itself (its tools, its store) are skipped there. =deployment runs them on gridmount over
a replica set of MongoDB's own server.
"""

import filecmp
import hashlib
import json
import os
import subprocess
import sys
import unittest

from mounts import Folder, Gridmount, PassThrough

SYSTEM = os.environ.get("MOUNT_TEST_SYSTEM", "gridmount")
SYSTEMS = {"plain": Folder, "passthrough": PassThrough, "gridmount": Gridmount}
if SYSTEM == "deployment":
    from deployment import Deployment

    SYSTEMS["deployment"] = Deployment


def gridmount_only(subject):
    return unittest.skipUnless(SYSTEM == "gridmount", "concerns gridmount itself")(subject)


class MountCase(unittest.TestCase):
    """`self.system` is mounted, `self.root` the folder in it, `self.scratch` a folder outside."""

    def setUp(self):
        self.system = SYSTEMS[SYSTEM]()
        self.addCleanup(self.system.cleanup)
        self.system.start()
        self.root = self.system.root
        self.scratch = os.path.join(self.system.temp, "scratch")
        os.mkdir(self.scratch)

    def run(self, result=None):
        failures = len(result.failures) + len(result.errors) if result is not None else 0
        super().run(result)
        if result is not None and len(result.failures) + len(result.errors) > failures:
            if self._log:
                print(f"--- the daemon's log, {self.id()}\n{self._log}", file=sys.stderr)

    # --- Verbs.

    def run_program(self, *command, cwd=None, input=None, status=0, env=None, user=None):
        """Runs the program to its end. Fails the test unless it exits with `status`. Returns its
        output.

        If `user` is given, the program runs as this numeric user and the group with the same
        number.
        """
        finished = subprocess.run(
            [str(word) for word in command],
            cwd=cwd or self.scratch,
            input=input,
            env=env,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if finished.returncode != status:
            self.fail(
                f"{' '.join(map(str, command))}: status {finished.returncode} instead of {status}\n"
                + finished.stdout[-2000:].decode(errors="replace")
                + finished.stderr[-4000:].decode(errors="replace")
            )
        return finished.stdout

    def gridfiles(self, *arguments, status=0, input=None):
        return self.run_program(
            os.environ["GRIDFILES"], "--store", self.system.store, *arguments, status=status,
            input=input,
        )

    def check_store(self, status=0):
        """Runs `gridstore check` on the unmounted store. Returns its output. Does nothing on other
        systems."""
        if SYSTEM != "gridmount":
            return ""
        return self.run_program(
            os.environ["GRIDSTORE"], "check", self.system.store, status=status
        ).decode()

    def documents(self, bucket="fs"):
        """Returns [(files document, chunks)] of an unmounted store, parsed from canonical Extended
        JSON."""
        lines = self.run_program(
            os.environ["DRIVER_DOCUMENTS"], "show", self.system.store, bucket
        ).decode()
        shown = [json.loads(line) for line in lines.splitlines()]
        return [(each["file"], each["chunks"]) for each in shown]

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def assert_same_tree(self, expected, actual):
        """Compares contents (diff -r), and contents with attributes (rsync -anc)."""
        self.run_program("diff", "-r", "--no-dereference", expected, actual)
        for a, b in ((expected, actual), (actual, expected)):
            differences = self.run_program(
                "rsync", "-anc", "--delete", "--itemize-changes", a + "/", b + "/"
            ).decode(errors="replace")
            self.assertEqual(differences, "", f"rsync finds {a} and {b} different")

    def assert_same_file(self, expected, actual):
        self.assertTrue(
            filecmp.cmp(expected, actual, shallow=False), f"{expected} and {actual} differ"
        )

    @staticmethod
    def digest(path, algorithm="sha256"):
        digest = hashlib.new(algorithm)
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    def make_random_file(self, path, size):
        with open(path, "wb") as file:
            while size > 0:
                size -= file.write(os.urandom(min(size, 1 << 20)))

    def copy_moderate_tree(self):
        """Makes a tree with deep folders, symbolic links, odd times and many sizes, with a few
        thousand entries. Returns its path."""
        tree = os.path.join(self.scratch, "tree")
        os.mkdir(tree)
        self.run_program("cp", "-a", "/usr/include/c++", tree)
        documents = os.path.join(tree, "doc")
        os.mkdir(documents)
        for name in sorted(os.listdir("/usr/share/doc"))[:150]:
            source = os.path.join("/usr/share/doc", name)
            self.run_program("cp", "-a", source, documents)
        os.symlink("no/such/target", os.path.join(tree, "dangling"))
        os.mkdir(os.path.join(tree, "empty"))
        self.make_random_file(os.path.join(tree, "large"), 20_000_001)
        with open(os.path.join(tree, "private"), "w", encoding="ascii") as file:
            file.write("secret\n")
        os.chmod(os.path.join(tree, "private"), 0o600)
        os.utime(os.path.join(tree, "private"), ns=(981173106987654321, 981173106987654321))
        return tree

    @property
    def _log(self):
        return getattr(self, "_last_log", "")

    def doCleanups(self):
        # The log is removed with the temporary folder, so it is read before.
        log_path = getattr(getattr(self, "system", None), "log_path", "")
        if os.path.exists(log_path):
            self._last_log = self.system.log()
        return super().doCleanups()


def main():
    # A file left behind by a failing test must not hide behind the next one's success.
    program = unittest.main(exit=False, verbosity=2)
    if program.result.testsRun == 0:
        print("no test ran", file=sys.stderr)
        sys.exit(1)
    sys.exit(0 if program.result.wasSuccessful() else 1)
