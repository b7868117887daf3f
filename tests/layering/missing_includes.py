"""Finds files that name a type, but do not include the header that defines the type.

The builds of packaging/test.sh do not find these files: they compile the sources of a folder
together, and give every source the precompiled headers. Method: the text is searched for names with
their namespaces, such as bson::Path, that exactly one header defines. A file may include that
header, or a header that includes it, or may get a declaration of the type in the same way.
"""

import re

from includes import includes_of, reached_from
from types_defined_twice import NOISE, types_of

QUALIFIED = re.compile(r"\b(?=(\w+::\w+)\b)\w+::")
DECLARATION = re.compile(r"\b(?:class|struct|enum|enum class)\s+(\w+)\s*(?::\s*\w+)?;")


def missing_includes(texts):
    """Returns triples of a file, a type with its innermost namespace, and the header that defines
    the type. `texts` has each file's text by its path from the root."""
    texts = {name: text for name, text in texts.items() if name.endswith((".cc", ".h"))}
    includes = includes_of(texts)
    headers = {}
    for name, text in texts.items():
        if name.endswith(".h"):
            for type_name in types_of(text):
                headers.setdefault("::".join(type_name.split("::")[-2:]), set()).add(name)
    texts = {name: NOISE.sub(" ", text) for name, text in texts.items()}
    declared = {name: set(DECLARATION.findall(text)) for name, text in texts.items()}
    for name, text in sorted(texts.items()):
        included = None
        for type_name in sorted(set(QUALIFIED.findall(text))):
            if len(headers.get(type_name, ())) != 1:
                continue
            included = included or reached_from({name}, includes)
            if included.isdisjoint(headers[type_name]):
                short_name = type_name.split("::")[-1]
                if not any(short_name in declared[other] for other in included):
                    yield name, type_name, *headers[type_name]
