#!/usr/bin/env python3
"""Draws doc/speed.svg from the tables of README.md beside this file.

  speed_chart.py            writes doc/speed.svg
  speed_chart.py --check    exit status 1 if doc/speed.svg does not match the tables

Each bar shows how many times as fast as its competitor gridmount is, on a logarithmic scale.
"""

import math
import pathlib
import re
import sys
import xml.sax.saxutils

HERE = pathlib.Path(__file__).resolve().parent
TABLES = HERE / "README.md"
CHART = HERE.parents[1] / "doc" / "speed.svg"

# The rows of "Many names" that are shown, and their labels. The rows of folders are those of a
# folder of 1,000 files, because the pass-through slows down with the number of files.
NAMES = {
    "folder of 1,000: create an empty file": "create a file",
    "folder of 1,000: delete": "delete a file",
    "folder of 1,000: stat by name, random, cold": "stat, cold",
    "folder of 1,000: stat by name, random, hot": "stat, hot",
    "folder of 1,000: list with stat, cold": "ls -l, cold",
    "folder of 1,000: list, hot": "ls, hot",
    "tree of 5,000: untar": "untar",
    "tree of 5,000: rm -r": "rm -r",
    "repository of 10,000: git clone": "git clone",
    "repository of 10,000: git status, cold": "git status, cold",
}
# The same for "A million documents".
DOCUMENTS = {
    "insert, single": "insert",
    "insert, single, durable": "insert, durable",
    "insert, batches of 1000": "insert 1000 at once",
    "read by _id": "read by _id",
    "read by secondary index": "read by another index",
    "range of 100 by secondary index": "range of 100",
    "match and group, all documents": "group all documents",
    "update in place, single": "update",
    "delete, single": "delete",
    "index build": "build an index",
}

LABEL_X = 10
BARS_X = 190
BARS_WIDTH = 400
ROW = 18
LEAST, MOST = 0.01, 10.0


def rows_of_names(text):
    """Returns (label, ratio to pass-through or None, ratio to plain) in the order of NAMES."""
    found = {}
    for line in text.splitlines():
        ratios = re.findall(r"([\d.]+)x", line)
        name = re.split(r"\s{2,}", line.strip())[0]
        if name in NAMES and len(ratios) == 2:
            found[name] = tuple(float(ratio) for ratio in ratios)
    return [(label, *found[name]) for name, label in NAMES.items()]


def rows_of_documents(text):
    """Returns (label, ratio to SQLite)."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and cells[0] in DOCUMENTS:
            found[cells[0]] = float(cells[4].rstrip("x"))
    return [(label, found[name]) for name, label in DOCUMENTS.items()]


def x_of(ratio):
    share = math.log(max(ratio, LEAST) / LEAST) / math.log(MOST / LEAST)
    return BARS_X + BARS_WIDTH * share


def bar(y, height, ratio, colour):
    begin, end = sorted((x_of(1), x_of(ratio)))
    return (
        f'<rect x="{begin:.1f}" y="{y:.1f}" width="{max(end - begin, 1):.1f}" height="{height}"'
        f' fill="{colour}"/>'
    )


def text_at(x, y, text, anchor="start", size=11, weight="normal"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}"'
        f' text-anchor="{anchor}">{xml.sax.saxutils.escape(text)}</text>'
    )


def scale(top, bottom):
    parts = []
    for ratio, label in ((0.01, "1/100"), (0.1, "1/10"), (1.0, "as fast"), (10.0, "10 times")):
        colour = "#444" if ratio == 1 else "#ccc"
        x = x_of(ratio)
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>')
        parts.append(text_at(x, bottom + 12, label, "middle", 10))
    return parts


def panel(top, title, colours, rows):
    """Returns (parts, bottom). `colours` is {name of the competitor: colour}, with one entry for
    each ratio of a row."""
    parts = [text_at(LABEL_X, top + 12, title, size=13, weight="bold")]
    x = BARS_X
    for name, colour in colours.items():
        parts.append(f'<rect x="{x}" y="{top + 22}" width="10" height="10" fill="{colour}"/>')
        parts.append(text_at(x + 14, top + 31, name))
        x += 160
    begin = top + 42
    height = (ROW - 4) // len(colours)
    bars = []
    for number, (label, *ratios) in enumerate(rows):
        y = begin + number * ROW
        bars.append(text_at(BARS_X - 8, y + 12, label, "end"))
        for place, (ratio, colour) in enumerate(zip(ratios, colours.values())):
            bars.append(bar(y + 2 + place * height, height, ratio, colour))
    bottom = begin + len(rows) * ROW
    return parts + scale(begin, bottom) + bars, bottom + 24


def drawn(text):
    names, bottom = panel(
        4,
        "Names in a mount, beside",
        {"libfuse's pass-through": "#4878a8", "the disk itself": "#a8b8c8"},
        rows_of_names(text),
    )
    documents, bottom = panel(
        bottom + 8, "A million documents, beside", {"SQLite": "#4878a8"}, rows_of_documents(text)
    )
    width = BARS_X + BARS_WIDTH + 40
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}"'
            ' font-family="sans-serif" fill="#222">',
            f'<rect width="{width}" height="{bottom}" fill="#fff"/>',
            *names,
            *documents,
            "</svg>\n",
        ]
    )


def main():
    svg = drawn(TABLES.read_text("utf-8"))
    if "--check" not in sys.argv[1:]:
        CHART.write_text(svg, "utf-8")
        return 0
    if CHART.exists() and CHART.read_text("utf-8") == svg:
        return 0
    print(f"{CHART} is not what the tables of {TABLES} give; run {pathlib.Path(__file__).name}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
