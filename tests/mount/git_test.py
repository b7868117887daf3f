"""Goal: git works in the mount: clone, fsck, commit, gc, work trees, a clean status."""

import os

from mount_case import MountCase, main

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


class Git(MountCase):
    def setUp(self):
        super().setUp()
        home = os.path.join(self.scratch, "home")
        os.mkdir(home)
        # The user's and the machine's settings must not decide the test.
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        self.git("config", "--global", "--add", "safe.directory", "*", cwd=home)

    def git(self, *arguments, cwd):
        return self.run_program("git", *arguments, cwd=cwd, env=self.environment).decode()

    def source_repository(self):
        """Returns a copy of the project's repository. If this is not a git checkout, returns a
        repository with its files."""
        if os.path.exists(os.path.join(REPOSITORY, ".git")):
            # A copy stands still while the test compares with it.
            copy = os.path.join(self.scratch, "copy.git")
            self.git("clone", "-q", "--bare", "file://" + REPOSITORY, copy, cwd=self.scratch)
            return copy
        made = os.path.join(self.scratch, "made")
        os.mkdir(made)
        for folder in ("engine", "gridfs", "fuse", "tools"):
            self.run_program("cp", "-a", os.path.join(REPOSITORY, folder), made)
        self.git("init", "-q", cwd=made)
        self.git("add", ".", cwd=made)
        self.git("commit", "-q", "-m", "all", cwd=made)
        return made

    def assert_clean(self, clone):
        self.git("fsck", "--full", "--strict", cwd=clone)
        self.assertEqual(self.git("status", "--porcelain", cwd=clone), "")

    def test_Clone_IsSound_AlsoAfterGcAndRemount(self):
        source = self.source_repository()
        clone = self.path("clone")
        self.git("clone", "-q", "file://" + source, clone, cwd=self.scratch)
        self.assert_clean(clone)
        head = self.git("rev-parse", "HEAD", cwd=clone)
        self.assertEqual(head, self.git("rev-parse", "HEAD", cwd=source))
        self.git("gc", "-q", "--prune=now", cwd=clone)
        self.assert_clean(clone)
        self.system.remount()
        self.assert_clean(clone)
        self.assertEqual(self.git("rev-parse", "HEAD", cwd=clone), head)
        self.system.stop()
        self.check_store()

    def test_WorkTreesOfAClone_AreCleanAndShareItsObjects(self):
        source = self.source_repository()
        first = self.path("first")
        self.git("clone", "-q", "--bare", "file://" + source, first, cwd=self.scratch)
        # Both folders are in the mount, so objects become hard links and not copies.
        clone = self.path("clone")
        self.git("clone", "-q", "--local", first, clone, cwd=self.scratch)
        packs = [os.path.join(first, "objects/pack"), os.path.join(clone, ".git/objects/pack")]
        for name in os.listdir(packs[0]):
            one, other = (os.stat(os.path.join(pack, name)) for pack in packs)
            self.assertEqual((one.st_ino, one.st_nlink), (other.st_ino, 2), name)
        # git tests whether each change in a folder changes the folder's time.
        self.git("update-index", "--test-untracked-cache", cwd=clone)
        self.git("config", "core.untrackedCache", "true", cwd=clone)
        tree = self.path("side tree")
        self.git("worktree", "add", "-q", "-b", "side", tree, cwd=clone)
        self.assert_clean(tree)
        with open(os.path.join(tree, "new file"), "w", encoding="ascii") as file:
            file.write("new\n")
        self.assertEqual(self.git("status", "--porcelain", cwd=tree), '?? "new file"\n')
        self.git("add", "-A", cwd=tree)
        self.git("commit", "-q", "-m", "side", cwd=tree)
        self.git("worktree", "move", tree, self.path("moved"), cwd=clone)
        self.git("merge", "-q", "side", cwd=clone)
        self.assertTrue(os.path.exists(os.path.join(clone, "new file")))
        self.git("gc", "-q", "--prune=now", cwd=clone)
        for _ in range(2):
            self.assert_clean(clone)
            self.assert_clean(self.path("moved"))
            self.system.remount()
        self.git("worktree", "remove", self.path("moved"), cwd=clone)
        self.assertEqual(sorted(os.listdir(self.root)), ["clone", "first"])
        self.git("fsck", "--full", "--strict", cwd=first)
        self.system.stop()
        self.check_store()

    def test_RepositoryMadeInTheMount_KeepsItsHistory(self):
        work = self.path("work")
        os.mkdir(work)
        self.git("init", "-q", "-b", "main", cwd=work)
        for number in range(20):
            with open(os.path.join(work, f"file{number % 7}"), "a", encoding="ascii") as file:
                file.write(f"line {number}\n" * 1000)
            self.git("add", "-A", cwd=work)
            self.git("commit", "-q", "-m", f"commit {number}", cwd=work)
        self.git("checkout", "-q", "-b", "side", "HEAD~10", cwd=work)
        self.git("mv", "file1", "renamed", cwd=work)
        self.git("commit", "-q", "-m", "rename", cwd=work)
        self.git("merge", "-q", "-m", "merge", "main", cwd=work)
        self.git("repack", "-a", "-d", "-q", cwd=work)
        self.system.remount()
        self.assert_clean(work)
        self.assertEqual(self.git("rev-list", "--count", "HEAD", cwd=work).strip(), "22")
        # A clone outside of the mount has the same objects.
        bare = os.path.join(self.scratch, "bare")
        self.git("clone", "-q", "--bare", "file://" + work, bare, cwd=self.scratch)
        self.git("fsck", "--full", cwd=bare)


if __name__ == "__main__":
    main()
