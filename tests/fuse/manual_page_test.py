#!/usr/bin/env python3
"""Goal: the manual page agrees with `gridmount --help` in options, defaults and exit statuses, and
is well-formed.

  manual_page_test.py PROGRAM     the built gridmount
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "gridmount.1"
PROGRAM = ""


def chapter(text, title):
    return re.split(r"^\.Sh ", text.split(f".Sh {title}\n", 1)[1], maxsplit=1, flags=re.M)[0]


def without_macros(line):
    """Returns the words of a line of a list's head: "Cm uid Ns = Ns Ar N" -> ["uid", "=", "N"]."""
    return [word for word in line.split() if word not in {"Cm", "Ns", "Ar", "Fl", "Dv", ","}]


class ManualPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.help = subprocess.run(
            [PROGRAM, "--help"], check=True, capture_output=True, text=True
        ).stdout
        cls.page = PAGE.read_text(encoding="utf-8").replace("\\\n", "")

    def options_of_help(self):
        """Returns {name: its default, or "" if it has none}."""
        options = {}
        text = self.help.split("\nOptions:\n", 1)[1].split("\nOptions of -o", 1)[0]
        for names, rest in re.findall(r"^  (-\S+)(.*)$", text, re.M):
            default = re.match(r" [A-Z]+(?::\S+)?(?: \[.*\])?=(\S+)", rest)
            default = default or re.match(r" TEXT:\{.*\}=(\S+)", rest)
            for name in names.split(","):
                options[name] = default.group(1) if default else ""
        return options

    def options_of_page(self):
        """Returns {name: the text of its item}."""
        options = {}
        for item in chapter(self.page, "OPTIONS").split("\n.It ")[1:]:
            head, text = item.split("\n", 1)
            for name in re.findall(r"Fl (\S+)", head):
                options["-" + name] = text
        return options

    def test_Options_AreThoseOfTheHelp(self):
        self.assertEqual(sorted(self.options_of_page()), sorted(self.options_of_help()))

    def test_Defaults_AreThoseOfTheHelp(self):
        defaults = {name: value for name, value in self.options_of_help().items() if value}
        self.assertGreater(len(defaults), 5)
        described = self.options_of_page()
        for name, text in described.items():
            found = re.search(r"^The default is (.*)\.$", text, re.M)
            self.assertEqual(found.group(1) if found else "", defaults.get(name, ""), name)

    def test_MountOptions_AreThoseOfTheHelp(self):
        text = self.help.split("\nOptions of -o", 1)[1].split("\nEach long option", 1)[0]
        # The names begin a line, after two spaces; what they mean stands far to the right of them.
        heads = " ".join(re.split(r" {2,}", line[2:])[0] for line in text.splitlines()[1:])
        named = {re.sub(r"=.*", "", word.strip(",")) for word in heads.split()}
        named -= {"", "and", "its", "kin"}
        self.assertIn("nosuid", named)
        items = re.findall(r"^\.It (.*)$", chapter(self.page, "MOUNT OPTIONS"), re.M)
        described = {word for item in items for word in without_macros(item)}
        self.assertEqual(named - described, set())

    def test_ExitStatuses_AreThoseOfTheHelp(self):
        statuses = re.findall(r"^ +(\d+)  ", self.help.split("\nExit status:\n", 1)[1], re.M)
        self.assertEqual(re.findall(r"^\.It (\d+)$", chapter(self.page, "EXIT STATUS"), re.M), statuses)

    def test_Page_IsSound(self):
        """Checks the page with all installed formatters."""
        checks = [
            ["groff", "-mdoc", "-Tutf8", "-ww", "-z", str(PAGE)],
            ["mandoc", "-T", "lint", "-W", "warning", str(PAGE)],
        ]
        for check in checks:
            if shutil.which(check[0]):
                done = subprocess.run(check, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
