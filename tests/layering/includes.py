"""Reads which files include which.

An include names a file by its path from the root or from the including file's folder. Files outside
of the tree do not count.
"""

import posixpath
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def includes_of(texts):
    """Returns the files that each file includes directly. `texts` has each file's text by its path
    from the root."""
    includes = {}
    for name, text in texts.items():
        folder = posixpath.dirname(name)
        included = set()
        for path in INCLUDE.findall(text):
            included |= {path, posixpath.normpath(posixpath.join(folder, path))} & texts.keys()
        includes[name] = included
    return includes


def reached_from(names, includes):
    """Returns the files `names` and all files that they include, directly or not."""
    reached = set(names)
    waiting = list(reached)
    while waiting:
        new = includes[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached
