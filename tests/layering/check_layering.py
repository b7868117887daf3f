#!/usr/bin/env python3
"""Checks the structure of the source tree.

  check_layering.py [ROOT]     prints one line per violation; exit status 1 if there is one

Rules: includes and link edges point only to lower layers. A library with a single entry header is
used only through it. Names say what a file holds. Files stay small. Headers begin with their
contract. Each source belongs to a target, and each header to a source. No two files define types of
the same name. A file includes the headers of the types that it names. The text is about the project
and nothing else. The tables below are the rules: a new folder needs a new line in them.
"""

import pathlib
import re
import sys

from missing_includes import missing_includes
from types_defined_twice import types_defined_twice
from unbuilt_files import unbuilt_files

BASE = "engine/base"  # what everything may include
LOCAL_DOOR = "engine/local/<door>"  # what programs and tests ask of the embedded store
# Headers that stand in a folder and belong to a layer below it.
FILES_OF_LAYERS = {
    "engine/local/index_steps.h": LOCAL_DOOR,
    "engine/local/integrity/store_copy.h": LOCAL_DOOR,
    "engine/local/integrity/store_salvage.h": LOCAL_DOOR,
    "engine/local/integrity/structure_check.h": LOCAL_DOOR,
    "engine/local/integrity/structure_repair.h": LOCAL_DOOR,
    "engine/local/open_store.h": LOCAL_DOOR,
    "engine/local/test_options.h": LOCAL_DOOR,
}

DOCUMENTS = {BASE, "engine/bson"}
# The rooms of the language, each knowing those before it.
QUERY_ROOMS = [
    "engine/query/collation",
    "engine/query/text",
    "engine/query",
    *(
        f"engine/query/{room}"
        for room in ("expression", "filter", "projection", "plan", "pipeline", "update")
    ),
]
INTERFACE = DOCUMENTS | {"engine", *QUERY_ROOMS}
# Implementations of the interface: only programs and tests know them.
LEAVES = {LOCAL_DOOR, "engine/local", "engine/mongo", "engine/wire"}

# The rooms of the embedded store, each knowing those before it.
LOCAL_ROOMS = [
    f"engine/local/{room}"
    for room in ("format", "files", "storage", "catalog", "indexes", "queries")
]
LOCAL = INTERFACE | {"engine/checksum", "engine/system", LOCAL_DOOR}

# The rooms of GridFS, each knowing those before it.
GRIDFS_ROOMS = ["gridfs/bucket", "gridfs/content", "gridfs/namespace"]
GRIDFS = {"gridfs", *GRIDFS_ROOMS}

# The layers that a folder may include and link, besides itself. The longest matching folder counts.
LAYERS = {
    BASE: set(),
    "engine/checksum": set(),
    "engine/system": {BASE},
    "engine/disk_cache": {BASE, "engine/checksum", "engine/system"},
    "engine/bson": {BASE},
    **{
        room: DOCUMENTS | {"engine/checksum"} | set(QUERY_ROOMS[:number])
        for number, room in enumerate(QUERY_ROOMS)
    },
    "engine": INTERFACE,
    "engine/aggregation": INTERFACE,
    "engine/cursors": INTERFACE | {"engine/system"},
    "engine/profiling": INTERFACE,
    LOCAL_DOOR: INTERFACE,
    **{room: LOCAL | set(LOCAL_ROOMS[:number]) for number, room in enumerate(LOCAL_ROOMS)},
    "engine/local": LOCAL | {"engine/aggregation", *LOCAL_ROOMS},
    "engine/local/integrity": LOCAL | {"engine/local", *LOCAL_ROOMS},
    "engine/mongo": INTERFACE,
    "engine/wire": INTERFACE
    | {"engine/aggregation", "engine/checksum", "engine/cursors", "engine/profiling"},
    **{
        room: INTERFACE | {"engine/disk_cache"} | set(GRIDFS_ROOMS[:number])
        for number, room in enumerate(GRIDFS_ROOMS)
    },
    "gridfs": INTERFACE | {"engine/disk_cache"},
    "http": INTERFACE | GRIDFS | {"engine/wire"},
    "command_line": INTERFACE | {"engine/system", "engine/wire", "engine/local", LOCAL_DOOR, "http"},
    "fuse/tree": INTERFACE | GRIDFS | {"fuse"},
    "fuse/monitoring": INTERFACE | {"fuse"},
    "fuse/kernel": INTERFACE | GRIDFS | {"fuse", "fuse/tree", "fuse/monitoring", "command_line"},
    "fuse": INTERFACE
    | GRIDFS
    | {"fuse/tree", "fuse/monitoring", "fuse/kernel", "fuse/daemon"}
    | {"command_line", "engine/disk_cache", "engine/system", "http"}
    | LEAVES,
    "fuse/daemon": INTERFACE
    | GRIDFS
    | {"engine/disk_cache", "fuse", "fuse/tree", "fuse/monitoring", "fuse/kernel", "command_line"}
    | LEAVES,
    "tools": INTERFACE
    | GRIDFS
    | {"engine/aggregation", "engine/system", "command_line", "http"}
    | LEAVES,
}

# Libraries and the only files that include them (tests apart), as patterns.
DOORS = [
    (r"fuse[a-z_0-9]*\.h$|fuse3?/", "libfuse", r"fuse/kernel/fuse_frontend\w*\.(h|cc)"),
    (r"lmdb\.h$", "LMDB", r"engine/local/.*"),
    (
        r"openssl/|asio/ssl",
        "OpenSSL",
        r"engine/disk_cache/disk_cache\.cc|gridfs/bucket/md5\.(h|cc)|gridfs/namespace/name_mapping\.cc|engine/local/format/index_key\w*\.(h|cc)"
        r"|engine/wire/server/tls\w*\.(h|cc)|engine/wire/(auth/digest|commands/file_md5)\.cc",
    ),
    (r"yaml-cpp/", "yaml-cpp", r"tools/gridfiles/connection_options\.cc"),
    (r"stringprep\.h", "libidn", r"engine/wire/auth/password_preparation\.cc"),
    (r"boost/", "Boost", r"http/(connection\.(h|cc)|http_server\.cc)"),
    (r"expat\.h", "expat", r"http/xml_document\.cc"),
    (r"asio", "Asio", r"engine/wire/server/.*"),
    (
        r"zlib\.h|snappy|zstd",
        "a compressor",
        r"engine/wire/protocol/compression\.cc|tools/gridstore/dump/(in|out)put_file\.cc",
    ),
    (r"mongoc", "libmongoc", r"engine/mongo/.*"),
    (r"systemd/", "libsystemd", r"fuse/daemon/service_manager\.cc"),
    (r"pcre2", "PCRE2", r"engine/query/.*"),
    (r"unicode/", "ICU", r"engine/query/(collation/collator|text/text_(language|tokenizer))\.cc"),
    (r"libstemmer\.h", "libstemmer", r"engine/query/text/text_(language|tokenizer)\.cc"),
    (r"isa-l|isal|crc\.h", "ISA-L", r"engine/checksum/crc32c\.(h|cc)"),
]
LINK_DOORS = [
    (r"PkgConfig::FUSE", "libfuse", {"fuse"}),
    (r"PkgConfig::LMDB", "LMDB", {"engine/local"}),
    (r"PkgConfig::ISAL", "ISA-L", {"engine/checksum"}),
    (r"PkgConfig::MONGOC", "libmongoc", {"engine/mongo"}),
    (r"PkgConfig::SYSTEMD", "libsystemd", {"fuse"}),
    (r"PkgConfig::PCRE2", "PCRE2", {"engine/query"}),
    (r"PkgConfig::ICU", "ICU", {"engine/query"}),
    (r"STEMMER_LIBRARY", "libstemmer", {"engine/query"}),
    (r"PkgConfig::YAML_CPP", "yaml-cpp", {"tools"}),
    (r"Boost::", "Boost", {"http"}),
    (r"PkgConfig::EXPAT", "expat", {"http"}),
    (r"PkgConfig::IDN", "libidn", {"engine/wire"}),
    (r"PkgConfig::(SNAPPY|ZSTD)", "a compressor", {"engine/wire"}),
    (r"ZLIB::", "zlib", {"engine/wire", "tools"}),
    (r"OpenSSL::", "OpenSSL", {"gridfs", "engine/disk_cache", "engine/local", "engine/wire"}),
]

# Names that do not describe their contents.
EMPTY_NAMES = {"util", "utils", "utility", "utilities", "helper", "helpers", "common", "misc", "stuff"}

# A reader of the project cannot follow these references. This file must name them, so it is not
# checked.
FOREIGN_TEXT = [
    (re.compile(r"(?<![\w.}$])/work/"), "a path of one machine"),
    (re.compile(r"\.\./shared/|(?<![\w/])shared/(?!lib)"), "a path outside the project"),
    (re.compile(r"\bissues? #?\d+", re.IGNORECASE), "a number of a tracker"),
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished work"),
    (re.compile(r"\b(workplace|helper session|the brief)\b", re.IGNORECASE), "how it was made"),
]

LINES_MAX = 700
SOURCES = {".cc", ".h", ".c", ".py", ".js", ".sh", ".cmake"}
TEXTS = SOURCES | {".md", ".txt", ".json", ".in", ""}
SKIPPED = re.compile(r"^(\.git|\.cache|build(-.*)?|__pycache__|.*\.gfs)$")


def files_below(folder):
    for path in sorted(folder.iterdir()):
        if SKIPPED.match(path.name):
            continue
        if path.is_dir():
            yield from files_below(path)
        elif path.is_file() and not path.is_symlink() and path.suffix in TEXTS:
            yield path


def layer_of(name):
    """Returns the layer of a file or folder by its path from the root. None for tests and other
    files without a layer."""
    if name in FILES_OF_LAYERS:
        return FILES_OF_LAYERS[name]
    best = None
    for layer in LAYERS:
        if name.startswith(layer + "/") and (best is None or len(layer) > len(best)):
            best = layer
    return best


class Check:
    def __init__(self, root):
        self.root = root
        self.violations = []
        self.layer_of_target = {}
        self.links = []  # (file name, line, layer, target)

    def report(self, name, line, text):
        self.violations.append(f"{name}:{line}: {text}" if line else f"{name}: {text}")

    def run(self):
        texts = {}
        for path in files_below(self.root):
            name = path.relative_to(self.root).as_posix()
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            texts[name] = text
            self.check_name(name)
            self.check_text(name, text)
            if path.suffix in SOURCES:
                self.check_size(name, text)
            if path.suffix in {".cc", ".h", ".c"}:
                self.check_includes(name, text)
            if path.suffix == ".h":
                self.check_header(name, text)
            if path.name == "CMakeLists.txt":
                self.read_targets(name, text)
        self.check_links()
        for name, text in unbuilt_files(texts):
            self.report(name, 0, text)
        for name, type_name, first in types_defined_twice(texts):
            self.report(name, 0, f"{type_name} is defined in {first} as well")
        for name, type_name, header in missing_includes(texts):
            self.report(name, 0, f"{type_name} needs an include of {header}")
        return self.violations

    def check_name(self, name):
        for part in name.split("/"):
            words = set(re.split(r"[_.\-]", part.lower()))
            if words & EMPTY_NAMES:
                self.report(name, 0, f"the name '{part}' does not say what is inside")

    def check_size(self, name, text):
        lines = text.count("\n")
        if lines > LINES_MAX:
            self.report(name, 0, f"{lines} lines, more than {LINES_MAX}")

    def check_text(self, name, text):
        if name.startswith("tests/layering/"):
            return
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, what in FOREIGN_TEXT:
                if found := pattern.search(line):
                    self.report(name, number, f"'{found.group(0)}' is {what}")

    def check_header(self, name, text):
        if not text.startswith("//"):
            self.report(name, 1, "a header begins with a comment that says what it is")
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            self.report(name, 0, "a header has #pragma once")

    def check_includes(self, name, text):
        layer = layer_of(name)
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not found:
                continue
            quote, included = found.groups()
            if layer is None:
                continue
            target = layer_of(included) if quote == '"' else None
            if target is not None:
                if target != layer and target not in LAYERS[layer]:
                    self.report(name, number, f"{layer} may not include {included}")
                continue
            if included.startswith("tests/"):
                self.report(name, number, f"{layer} may not include {included}")
            for pattern, library, door in DOORS:
                if re.match(pattern, included) and not re.fullmatch(door, name):
                    self.report(name, number, f"{library} has a single door, and this is not it")

    def read_targets(self, name, text):
        layer = layer_of(name)
        text = re.sub(r"#[^\n]*", "", text)
        for found in re.finditer(r"add_(library|executable)\s*\(\s*([\w-]+)", text):
            self.layer_of_target[found.group(2)] = layer
        for found in re.finditer(r"target_link_libraries\s*\(([^)]*)\)", text):
            line = text.count("\n", 0, found.start()) + 1
            words = found.group(1).split()[1:]
            for word in words:
                if word not in {"PUBLIC", "PRIVATE", "INTERFACE"}:
                    self.links.append((name, line, layer, word))

    def check_links(self):
        for name, line, layer, word in self.links:
            if layer is None:
                continue
            target = self.layer_of_target.get(word)
            if target is not None and target != layer:
                if target not in LAYERS[layer]:
                    self.report(name, line, f"{layer} may not link {word}")
            for pattern, library, layers in LINK_DOORS:
                if re.match(pattern, word) and layer not in layers:
                    self.report(name, line, f"{library} has a single door, and {layer} is not it")


def main_of(check):
    """Runs a check on the tree that the command line names, or on this tree."""
    default = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default
    if not (root / "CMakeLists.txt").exists():
        sys.exit(f"{root} is no source tree: it has no CMakeLists.txt")
    violations = check(root).run()
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main_of(Check))
