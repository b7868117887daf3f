"""Goal: bash, zsh and fish complete the programs' commands and options as --help lists them, local
files where a command takes one, and names of GridFS files from the store.

  completions_test.py GRIDMOUNT GRIDFILES GRIDSTORE     the built programs

Method: each shell reads its script and completes a command line as on TAB. For zsh, the test
replaces the functions that show candidates by functions that print them.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "completions"
PROGRAMS = {}


class Shell:
    """Returns the candidates of a shell for the last word of a command line."""

    def __init__(self, home):
        self.home = home

    def run(self, *command):
        environment = dict(os.environ)
        folders = {str(pathlib.Path(path).parent) for path in PROGRAMS.values()}
        environment["PATH"] = ":".join([*folders, environment["PATH"]])
        # A shell must not print anything about itself.
        environment.update(HOME=self.home, LC_ALL="C.UTF-8", TERM="dumb")
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"{command}: {done.returncode} {done.stderr}")
        return [line for line in done.stdout.splitlines() if line]


class Bash(Shell):
    SCRIPT = """
        source "$1"
        COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); COMPREPLY=()
        _gridmount
        printf '%s\\n' "${COMPREPLY[@]}"
    """

    def complete(self, *words):
        # bash splits words at "=".
        divided = [part for word in words for part in re.split("(=)", word) if part or not word]
        return self.run("bash", "-c", self.SCRIPT, "bash", FOLDER / "gridmount.bash", *divided)


class Zsh(Shell):
    SCRIPT = """
        _describe() { print -l -- ${(P)2} }
        _files() { print -l -- ${(Q)PREFIX}*(N) }
        _multi_parts() { print -l -- ${(P)2} }
        script=$1; shift
        words=("$@"); CURRENT=$#; PREFIX=${words[-1]}
        source $script
    """

    def complete(self, *words):
        shown = self.run("zsh", "-f", "-c", self.SCRIPT, "zsh", FOLDER / "gridmount.zsh", *words)
        # zsh itself would leave out the descriptions and the candidates that do not begin with the
        # word.
        names = [line.split(":")[0] for line in shown]
        return [name for name in names if name.startswith(words[-1])]


class Fish(Shell):
    def complete(self, *words):
        program = words[0]
        script = pathlib.Path(self.home, f"{program}.fish")
        shutil.copyfile(FOLDER / "gridmount.fish", script)
        line = " ".join(words)
        shown = self.run("fish", "--no-config", "-c", f"source {script}; complete -C {line!r}")
        return [candidate.split("\t")[0] for candidate in shown]


class Completions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gridmount-completions-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.store = str(pathlib.Path(folder.name, "media.gfs"))
        local = pathlib.Path(folder.name, "local")
        local.write_text("content")
        for options in (["--create"], ["--prefix", "other"]):
            prefix = "other/" if "--prefix" in options else ""
            for name in ("photos/a.jpg", "photos/b.jpg", "plan"):
                subprocess.run(
                    [PROGRAMS["gridfiles"], "--store", cls.store, *options, "-l", local, "--quiet", "put", prefix + name],
                    check=True,
                )
        cls.shells = [shell(folder.name) for shell in (Bash, Zsh, Fish)]

    def assert_completes(self, words, expected):
        for shell in self.shells:
            with self.subTest(shell=type(shell).__name__, words=words):
                self.assertEqual(sorted(set(shell.complete(*words))), sorted(expected))

    def test_Commands(self):
        self.assert_completes(["gridstore", "c"], ["check", "compact"])
        self.assert_completes(["gridfiles", "get"], ["get", "get_id", "get_regex"])

    def test_AllCommandsOfTheHelp(self):
        text = subprocess.run([PROGRAMS["gridstore"], "--help"], capture_output=True, text=True).stdout
        commands = re.findall(r"^  (\w+) +\S", text.split("Subcommands:")[1].split("\n\n")[0], re.M)
        self.assertGreater(len(commands), 5)
        self.assert_completes(["gridstore", ""], commands)

    def test_Options(self):
        self.assert_completes(["gridmount", "--disk"], ["--disk-cache", "--disk-cache-size"])
        self.assert_completes(["gridfiles", "--st"], ["--store"])

    def test_Options_OfACommand(self):
        self.assert_completes(["gridstore", "check", "--rep"], ["--repair"])

    def test_Names_InTheStore(self):
        self.assert_completes(["gridfiles", "--store", self.store, "get", "pl"], ["plan"])
        self.assert_completes(["gridfiles", f"--store={self.store}", "delete", "pl"], ["plan"])
        other = ["gridfiles", "--store", self.store, "--prefix", "other", "get", "other/pl"]
        self.assert_completes(other, ["other/plan"])

    def test_Names_ByFolders(self):
        bash = self.shells[0].complete("gridfiles", "--store", self.store, "get", "p")
        self.assertEqual(bash, ["photos/", "plan"])
        words = ["gridfiles", "--store", self.store, "get", "photos/"]
        self.assert_completes(words, ["photos/a.jpg", "photos/b.jpg"])

    def test_Names_WithSpaces_AreQuoted(self):
        store = str(pathlib.Path(self.folder, "spaces.gfs"))
        local = pathlib.Path(self.folder, "local")
        put = [PROGRAMS["gridfiles"], "--store", store, "--create", "-l", local, "--quiet", "put", "two words"]
        subprocess.run(put, check=True)
        self.assertEqual(self.shells[0].complete("gridfiles", "--store", store, "get", "tw"), ["two\\ words"])

    def test_Names_WithoutAStore_AskNoServer(self):
        self.assert_completes(["gridfiles", "get", "no/such/folder/pl"], [])

    def test_LocalFiles(self):
        begin = str(pathlib.Path(self.folder, "loc"))
        self.assert_completes(["gridfiles", "--store", self.store, "put", begin], [begin + "al"])

    def test_Sync_TakesALocalFolder_AndThenNames(self):
        begin = str(pathlib.Path(self.folder, "med"))
        for shell in self.shells:
            found = [name.rstrip("/") for name in shell.complete("gridfiles", f"--store={self.store}", "sync_get", begin)]
            self.assertIn(self.store, found, type(shell).__name__)
        self.assert_completes(["gridfiles", f"--store={self.store}", "sync_get", "folder", "pl"], ["plan"])

    def test_Stores_AreFolders(self):
        begin = str(pathlib.Path(self.folder, "med"))
        for shell in self.shells:
            found = [name.rstrip("/") for name in shell.complete("gridstore", "check", begin)]
            self.assertEqual(found, [self.store], type(shell).__name__)


if __name__ == "__main__":
    PROGRAMS = dict(zip(("gridstore", "gridfiles", "gridmount"), (sys.argv.pop() for _ in range(3))))
    unittest.main(verbosity=2)
