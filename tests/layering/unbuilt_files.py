"""Finds source files that no target builds, and headers that no built source includes.

Method: the CMakeLists.txt files are read as text. So the sources of every preset count (the fuzz
targets are built with clang only), and no build folder is needed. The script knows only the CMake
that this tree uses: the words of the commands below, variables that file(GLOB) or foreach() fill,
and paths relative to the folder or to the project. If it cannot follow a list of sources, it
reports them as unbuilt, so an error does not stay hidden.
"""

import pathlib
import posixpath
import re

from includes import includes_of, reached_from

# Commands whose words are sources of a target.
TARGET_COMMANDS = {
    "add_library",
    "add_executable",
    "target_sources",
    "gridmount_test",
    "gridmount_fuzzer",
}
SOURCE_SUFFIXES = (".cc", ".c")
HEADER_SUFFIXES = (".h", ".inc")

COMMAND = re.compile(r"(\w+)\s*\(([^()]*)\)")


def commands_of(text):
    """Returns pairs of a command's lower-case name and its words. In the body of a foreach(), a
    word with the loop's variable appears once for each value."""
    text = re.sub(r"#[^\n]*", "", text)
    values = {}  # of the loops around
    commands = []
    open_loops = []
    for name, words in COMMAND.findall(text):
        name, words = name.lower(), words.split()
        if name == "foreach" and words:
            values[words[0]] = [word for word in words[1:] if word not in {"IN", "LISTS", "ITEMS"}]
            open_loops.append(words[0])
        elif name == "endforeach" and open_loops:
            values.pop(open_loops.pop(), None)
        else:
            commands.append((name, [each for word in words for each in expand(word, values)]))
    return commands


def expand(word, values):
    for variable, choices in values.items():
        if f"${{{variable}}}" in word:
            return [
                each
                for choice in choices
                for each in expand(word.replace(f"${{{variable}}}", choice), values)
            ]
    return [word]


def sources_of(folder, text, names):
    """Returns those of `names`, all files of the tree, that the folder's CMakeLists.txt puts into
    targets."""
    globs = {}
    built = set()
    for command, words in commands_of(text):
        if command == "file" and words and words[0] in {"GLOB", "GLOB_RECURSE"}:
            globs[words[1]] = [name_of(folder, word) for word in words[2:] if "*" in word]
        elif command in TARGET_COMMANDS:
            for word in words:
                variable = re.fullmatch(r"\$\{(\w+)\}", word)
                if variable:
                    for pattern in globs.get(variable.group(1), []):
                        built |= {name for name in names if pathlib.PurePosixPath(name).match(pattern)}
                elif word.endswith(SOURCE_SUFFIXES):
                    built.add(name_of(folder, word))
    return built


def name_of(folder, word):
    if word.startswith("${PROJECT_SOURCE_DIR}/"):
        return word.removeprefix("${PROJECT_SOURCE_DIR}/")
    word = word.removeprefix("${CMAKE_CURRENT_SOURCE_DIR}/")
    return posixpath.normpath(posixpath.join(folder, word))


def unbuilt_files(texts):
    """Returns pairs of a file's name and what is wrong with it. `texts` has each file's text by its
    path from the root."""
    built = set()
    for name, text in texts.items():
        if posixpath.basename(name) == "CMakeLists.txt":
            built |= sources_of(posixpath.dirname(name), text, texts)
    reached = reached_from(built & texts.keys(), includes_of(texts))
    for name in sorted(texts):
        if name.endswith(SOURCE_SUFFIXES) and name not in built:
            yield name, "no target builds this source"
        elif name.endswith(HEADER_SUFFIXES) and name not in reached:
            yield name, "no source that is built includes this header"
