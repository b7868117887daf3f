#!/usr/bin/env python3
"""Checks that the references of documents exist.

  check_links.py [ROOT]     prints one line per dead reference; exit status 1 if there is one

It checks every Markdown file of the tree: the file named by a relative link, the heading behind a
`#`, and each path of the tree in backticks (`engine/store.h`, `packaging/test.sh tidy`,
`fuse/kernel/fuse_frontend*.cc`). Code blocks are skipped.
"""

import pathlib
import re
import sys

from check_layering import files_below, main_of

# A path of the tree begins with one of these folders.
FOLDERS = ("cmake", "command_line", "doc", "engine", "examples", "fuse", "gridfs", "http", "packaging", "tests", "tools")
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w@.*/-]*")
LINK = re.compile(r"!?\[[^\]\[]*\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # https:, mailto:
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")


def lines_outside_blocks(text):
    """Yields (number, line) of the lines outside of code blocks, which are fenced or indented."""
    is_fenced = False
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        # Indented text below a list's item belongs to the item.
        is_block = line.startswith("    ") and not re.match(r"\s*([-*]|\d+\.)\s|\s\s+\S", before)
        if not is_fenced and not is_block:
            yield number, line
            before = line if line.strip() else before
        elif not line.strip():
            before = ""


def paragraphs(text):
    """Yields (number of the first line, text) of each paragraph or table row."""
    lines = []
    first = 0
    for number, line in lines_outside_blocks(text):
        is_alone = not line.strip() or line.startswith(("|", "#"))
        if lines and (is_alone or number != first + len(lines)):
            yield first, "\n".join(lines)
            lines = []
        if is_alone:
            yield number, line
        else:
            first = first if lines else number
            lines.append(line)
    if lines:
        yield first, "\n".join(lines)


def anchors(text):
    """Returns the names of the headings in links, as GitHub makes them."""
    found = set()
    for _, line in lines_outside_blocks(text):
        if heading := HEADING.fullmatch(line):
            plain = re.sub(r"[`*]|\]\([^)]*\)|[\[\]]", "", heading.group(1)).lower()
            name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            number = 0
            while (name if number == 0 else f"{name}-{number}") in found:
                number += 1
            found.add(name if number == 0 else f"{name}-{number}")
    return found


class Check:
    def __init__(self, root):
        self.root = root
        self.violations = []

    def run(self):
        for path in files_below(self.root):
            if path.suffix == ".md":
                self.check(path)
        return self.violations

    def check(self, path):
        name = path.relative_to(self.root).as_posix()
        for first, text in paragraphs(path.read_text("utf-8")):

            def place(found, first=first, text=text):
                return f"{name}:{first + text.count(chr(10), 0, found.start())}"

            without_code = CODE.sub(lambda code: " " * len(code.group(0)), text)
            for link in LINK.finditer(text):
                # A link within backticks is an example.
                if without_code[link.start()] in "[!":
                    self.check_link(path, place(link), link.group(1))
            for code in CODE.finditer(text):
                for word in code.group(2).split():
                    self.check_path(place(code), word)

    def check_link(self, path, place, target):
        if ELSEWHERE.match(target):
            return
        file_name, _, anchor = target.partition("#")
        file = (path.parent / file_name).resolve() if file_name else path
        if not file.exists() or not file.is_relative_to(self.root):
            self.violations.append(f"{place}: the link to {target} leads nowhere")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text("utf-8")):
            self.violations.append(f"{place}: {file.name} has no heading #{anchor}")

    def check_path(self, place, word):
        word = re.sub(r":\d+$", "", word).rstrip(".,;:")
        if not PATH.fullmatch(word):
            return
        is_there = any(self.root.glob(word)) if "*" in word else (self.root / word).exists()
        if not is_there:
            self.violations.append(f"{place}: there is no {word}")


if __name__ == "__main__":
    sys.exit(main_of(Check))
