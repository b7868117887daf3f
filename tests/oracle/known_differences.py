"""The intended differences, which the table in engine/LANGUAGE.md lists.

A row matches a difference if the commands up to the one that is answered differently have all of
the row's words, and the outcomes are the row's: `ok`, codes of errors, `error` for any error, or
`any`. A word is the name of a field, a string, or the name of one of Python's or bson's types
(`Decimal128`). "*" stands for any characters. If words have "/" between them, one of them is
enough. The row of TWO_FAULTS matches if both outcomes are errors, and both servers agreed on each
of the two errors for some case on the way to the small one.
"""

import fnmatch
import pathlib
import re

from comparison import words_of

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "engine" / "LANGUAGE.md"
TWO_FAULTS = "two faults"
HEADING = "## Differences that the oracle knows"


class KnownDifference:
    def __init__(self, words, theirs, ours, reason):
        self.words = words  # lists, of each of which one is needed; None for TWO_FAULTS
        self.theirs = theirs.split(", ")
        self.ours = ours.split(", ")
        self.reason = reason
        self.times = 0

    def matches(self, words, theirs, ours, has_two_faults=False):
        if not is_among(theirs, self.theirs) or not is_among(ours, self.ours):
            return False
        if self.words is None:
            return has_two_faults
        return all(any(fnmatch.filter(words, word) for word in choice) for choice in self.words)


def is_among(outcome, outcomes):
    return outcome in outcomes or "any" in outcomes or ("error" in outcomes and outcome != "ok")


class KnownDifferences:
    def __init__(self, document=DOCUMENT):
        self.rows = read_table(document.read_text("utf-8"))

    def find(self, case, theirs, ours, has_two_faults=False):
        """Returns the row that matches the case, or None."""
        words = set(words_of(case))
        return next((row for row in self.rows if row.matches(words, theirs, ours, has_two_faults)), None)


def read_table(text):
    """Returns the rows below HEADING. Each row has words in backticks, two outcomes and a
    reason."""
    _, found, section = text.partition(f"\n{HEADING}\n")
    if not found:
        raise ValueError(f"the document has no section '{HEADING}'")
    section = section.partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    differences = []
    for row in rows[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        words = [re.findall(r"`([^`]+)`", choice) for choice in cells[0].split(", ")]
        if len(cells) != 4 or not (all(words) or cells[0] == TWO_FAULTS) or not cells[3]:
            raise ValueError(f"not words, two outcomes and a reason: {row}")
        words = None if cells[0] == TWO_FAULTS else words
        differences.append(KnownDifference(words, *cells[1:]))
    return differences
