#!/usr/bin/env python3
"""Writes the documents and arrays in the string literals of C++ sources as JSON, as seeds for
fuzzers: collect_examples.py OUTPUT SOURCE...

Each becomes an initializer of a string. Tests write ' instead of ". Literals that are not JSON are
skipped.
"""

import json
import re
import sys

PART = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Literals with nothing but white space between them are one.
LITERAL = re.compile(rf"(?:{PART.pattern}\s*)+")


def examples(text):
    for literal in LITERAL.finditer(text):
        parts = PART.findall(literal[0])
        value = "".join(parts).replace("\\\\", "\\").replace("'", '"')
        if not value.startswith(("{", "[")):
            continue
        try:
            parsed = json.loads(value)
        except ValueError:
            continue
        if parsed:
            yield json.dumps(parsed, separators=(",", ":"))


def main():
    output, sources = sys.argv[1], sys.argv[2:]
    found = set()
    for source in sources:
        with open(source, encoding="utf-8") as file:
            found.update(examples(file.read()))
    with open(output, "w", encoding="utf-8") as file:
        for example in sorted(found):
            file.write(f"{json.dumps(example)},\n")


if __name__ == "__main__":
    main()
