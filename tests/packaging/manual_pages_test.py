"""Goal: the manual pages of gridfiles and gridstore agree with --help in commands, options and exit
statuses. All pages are sound, and refer to each other.

  manual_pages_test.py GRIDFILES GRIDSTORE     the built programs

Other tests cover what gridmount(1), gridmount-store(5) and gridmount-namespace(7) say.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "packaging"
GRIDFILES = ""
GRIDSTORE = ""


def help_of(*command):
    return subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout


def chapters(text, macro):
    """Returns {the first word of a heading: the text below it}."""
    parts = re.split(rf"^\.{macro} (.*)\n", text, flags=re.M)
    return {
        (head.strip('"') if macro == "Sh" else head.split()[0]): body
        for head, body in zip(parts[1::2], parts[2::2])
    }


def options_of(text):
    """Returns the options in the heads of items."""
    heads = "\n".join(re.findall(r"^\.It (.*)$", text, re.M))
    return sorted({"-" + name for name in re.findall(r"\bFl (\S+)", heads)})


class Page(unittest.TestCase):
    def page(self, name):
        return (FOLDER / name).read_text(encoding="utf-8")

    def assert_sound(self, name):
        """Checks the page with all installed formatters."""
        path = str(FOLDER / name)
        for check in (
            ["groff", "-mdoc", "-Tutf8", "-ww", "-z", path],
            ["mandoc", "-T", "lint", "-W", "warning", path],
        ):
            if shutil.which(check[0]):
                done = subprocess.run(check, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Gridfiles(Page):
    def test_Commands_AreThoseOfTheHelp(self):
        named = re.findall(r"^\t(\w+) +- ", help_of(GRIDFILES), re.M)
        self.assertGreater(len(named), 5)
        text = chapters(self.page("gridfiles.1"), "Sh")["COMMANDS"]
        self.assertEqual(re.findall(r"^\.It Cm (\w+)", text, re.M), named)

    def test_Options_AreThoseOfTheHelp(self):
        named = re.findall(r"^ +(?:(-\w), +)?(--[\w-]+)", help_of(GRIDFILES), re.M)
        expected = sorted({name for names in named for name in names if name})
        text = chapters(self.page("gridfiles.1"), "Sh")["OPTIONS"]
        self.assertEqual(options_of(text), expected)

    def test_Defaults_AreThoseOfTheHelp(self):
        defaults = re.findall(r"\(default: (\S+)\)", help_of(GRIDFILES))
        text = chapters(self.page("gridfiles.1"), "Sh")["OPTIONS"]
        self.assertEqual(re.findall(r"^The default is (\S+)\.$", text, re.M), defaults)

    def test_Page_IsSound(self):
        self.assert_sound("gridfiles.1")


class Gridstore(Page):
    def described(self):
        return chapters(chapters(self.page("gridstore.1"), "Sh")["COMMANDS"], "Ss")

    def named(self):
        text = help_of(GRIDSTORE).split("\nSubcommands:\n", 1)[1]
        return re.findall(r"^  (\w+) ", text.split("\n\n", 1)[0], re.M)

    def test_Commands_AreThoseOfTheHelp(self):
        self.assertGreater(len(self.named()), 5)
        self.assertEqual(sorted(self.described()), sorted(self.named()))

    def test_Options_AreThoseOfEachCommandsHelp(self):
        described = self.described()
        for command in self.named():
            with self.subTest(command):
                text = help_of(GRIDSTORE, command).split("\nExit status:", 1)[0]
                named = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M)) - {"--help"}
                self.assertEqual(options_of(described[command]), sorted(named))

    def test_Arguments_AreThoseOfEachCommandsHelp(self):
        page = self.page("gridstore.1")
        for command in self.named():
            with self.subTest(command):
                usage = re.search(r"^Usage: .*$", help_of(GRIDSTORE, command), re.M).group(0)
                head = re.search(rf"^\.Ss {command}\b.*$", page, re.M).group(0)
                named = [word.strip("[]") for word in usage.split() if word.strip("[]").isupper()]
                described = [word for word in head.split() if word.isupper()]
                self.assertEqual(described, [word for word in named if word != "OPTIONS"])

    def test_ExitStatuses_AreThoseOfTheHelp(self):
        statuses = re.findall(r"(?:^|  ) *(\d+)  \S", help_of(GRIDSTORE).split("\nExit status:\n")[1], re.M)
        text = chapters(self.page("gridstore.1"), "Sh")["EXIT STATUS"]
        self.assertEqual(re.findall(r"^\.It (\d+)$", text, re.M), statuses)

    def test_Page_IsSound(self):
        self.assert_sound("gridstore.1")


class AllPages(Page):
    def pages(self):
        return {page.stem: page.suffix[1:] for page in FOLDER.glob("grid*.[157]")}

    def test_Pages_ReferToAllOthers(self):
        pages = self.pages()
        self.assertEqual(len(pages), 5)
        for name, section in pages.items():
            text = self.page(f"{name}.{section}").split(".Sh SEE ALSO\n")[1]
            referred = dict(re.findall(r"^\.Xr (grid\S+) (\d)", text, re.M))
            self.assertEqual({**referred, name: section}, pages, name)

    def test_OtherPages_AreSound(self):
        for name in ("gridmount-store.5", "gridmount-namespace.7"):
            self.assert_sound(name)


if __name__ == "__main__":
    GRIDSTORE = sys.argv.pop()
    GRIDFILES = sys.argv.pop()
    unittest.main(verbosity=2)
