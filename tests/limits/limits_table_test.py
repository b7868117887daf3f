"""Goal: each test named in the tables of doc/limits.md exists, and each test of this folder is
named there.
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)


def tests_below(folder):
    found = set()
    for path in folder.rglob("*.cc"):
        found.update(f"{suite}.{name}" for suite, name in TEST.findall(path.read_text("utf-8")))
    return found


def rows():
    for line in (ROOT / "doc" / "limits.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[0] != "What" and "---" not in cells[0]:
            yield cells


class LimitsTable(unittest.TestCase):
    def test_names_tests_that_are_there(self):
        there = tests_below(ROOT / "tests")
        named = {name for cells in rows() for name in re.findall(r"`([\w.]+)`", cells[3])}
        self.assertGreater(len(named), 20)
        self.assertEqual(named - there, set())
        self.assertEqual(tests_below(ROOT / "tests" / "limits") - named, set())

    def test_each_limit_has_a_test(self):
        for what, most, beyond, test in rows():
            with self.subTest(what):
                self.assertTrue(test or most.startswith("as many as"), f"{most} {beyond}")


if __name__ == "__main__":
    sys.exit(unittest.main())
