"""Finds types with the same name and namespace that are defined in several files.

The language allows that only in different programs, and no compiler detects it as long as the files
are not compiled together. Method: namespaces and types are read from the text, without comments and
strings. Types in unnamed namespaces, in functions and in other types are ignored, and so are
template specializations. The stage odr of packaging/test.sh asks the linker the same about all that
the optimizer has left. This script needs no build.
"""

import re

NOISE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(\w*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""
    r"""| ^[ \t]*\#(?:\\\n|[^\n])*""",
    re.X | re.S | re.M,
)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*$")
TYPE = re.compile(
    r"(?:^|[\s>])(?:struct|class|union|enum(?:\s+(?:class|struct))?)"
    r"(?:\s+\[\[.*?\]\]|\s+(?!final\b)[A-Z_]+(?:\([^()]*\))?(?=\s+\w))*"
    r"\s+(\w+)(?:\s+final)?(?:\s*:(?!:)[^;{}()]*)?\s*$",
    re.S,
)


def types_of(text):
    """Returns the names, with their namespaces, of the types that the text defines and other files
    can see."""
    text = NOISE.sub(" ", text)
    scopes = []  # for each brace that is open: a namespace, or None where nothing is seen from outside
    begin = 0
    for brace in re.finditer(r"[{};]", text):
        head = text[begin : brace.start()]
        begin = brace.end()
        if brace.group() == "}":
            if scopes:
                scopes.pop()
        elif brace.group() == "{":
            if found := NAMESPACE.search(head):
                scopes.append(found.group(1))
                continue
            if None not in scopes and (found := TYPE.search(head)):
                yield "::".join([*scopes, found.group(1)])
            scopes.append(None)


def types_defined_twice(texts):
    """Returns triples of a file, a type and the file that defines the type first. `texts` has each
    file's text by its path from the root."""
    first = {}
    for name in sorted(texts):
        # Tests and benchmarks are many programs, none of which has all of their files.
        if name.endswith((".h", ".cc")) and not name.startswith("tests/"):
            for type_name in types_of(texts[name]):
                if first.setdefault(type_name, name) != name:
                    yield name, type_name, first[type_name]
