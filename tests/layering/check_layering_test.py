#!/usr/bin/env python3
"""Goal: check_layering.py finds each kind of violation, so that a rule that no longer works is
noticed.

Method: a small tree that keeps every rule passes. Then one violation at a time is planted in it,
and the checker must name its file. The rules about targets have a tree of their own, with each way
to name a source. So have the rules about types, with each place where two types may have the same
name.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parent / "check_layering.py"

HEADER = "// Something.\n#pragma once\n"
GOOD_TREE = {
    "CMakeLists.txt": "add_subdirectory(engine)\n",
    "engine/base/error.h": HEADER + "#include <string>\n",
    "engine/bson/value.h": HEADER + '#include "engine/base/error.h"\n',
    "engine/bson/CMakeLists.txt": "add_library(a_bson value.cc)\n",
    "engine/query/filter/filter.h": HEADER + '#include "engine/bson/value.h"\n',
    "engine/query/CMakeLists.txt": "add_library(a_query f.cc)\ntarget_link_libraries(a_query PUBLIC a_bson)\n",
    "engine/store.h": HEADER + '#include "engine/query/filter/filter.h"\n',
    "engine/local/local_store.cc": '#include <lmdb.h>\n#include "engine/store.h"\n',
    "engine/local/CMakeLists.txt": "add_library(a_local store.cc)\ntarget_link_libraries(a_local PRIVATE PkgConfig::LMDB)\n",
    "engine/local/open_store.h": HEADER + '#include "engine/store.h"\n',
    "engine/local/storage/trees.h": HEADER + '#include "engine/local/open_store.h"\n',
    "engine/local/catalog/catalog.h": HEADER + '#include "engine/local/storage/trees.h"\n',
    "gridfs/bucket/bucket.h": HEADER + '#include "engine/store.h"\n',
    "gridfs/bucket/md5.cc": "#include <openssl/evp.h>\n",
    "gridfs/CMakeLists.txt": "add_library(a_gridfs md5.cc)\ntarget_link_libraries(a_gridfs PUBLIC a_query PRIVATE OpenSSL::Crypto)\n",
    "fuse/kernel/fuse_frontend.cc": '#include <fuse_lowlevel.h>\n#include "gridfs/bucket/bucket.h"\n',
    "fuse/CMakeLists.txt": "add_executable(mount fuse_frontend.cc)\ntarget_link_libraries(mount PRIVATE a_gridfs a_local PkgConfig::FUSE3)\n",
    "tools/main.cc": '#include "engine/local/local_store.h"\n#include "gridfs/bucket/bucket.h"\n',
    "tests/engine/local/store_test.cc": '#include <lmdb.h>\n#include "fuse/kernel/fuse_frontend.h"\n',
    "packaging/test.sh": "#!/bin/sh\nexec ctest\n",
}

# name of the case: (file, its text, the file named in the report)
VIOLATIONS = {
    "include_up": ("engine/bson/value.h", HEADER + '#include "engine/store.h"\n'),
    "include_sideways": ("tools/main.cc", '#include "fuse/kernel/fuse_frontend.h"\n'),
    "include_leaf": ("gridfs/bucket/bucket.h", HEADER + '#include "engine/local/open_store.h"\n'),
    "include_room_of_leaf": ("tools/main.cc", '#include "engine/local/storage/trees.h"\n'),
    "include_higher_room": (
        "engine/local/storage/page.cc",
        '#include "engine/local/catalog/catalog.h"\n',
    ),
    "include_query_from_bson": ("engine/bson/value.cc", '#include "engine/query/filter/filter.h"\n'),
    "include_upwards_from_base": ("engine/base/error.h", HEADER + '#include "engine/bson/value.h"\n'),
    "include_tests": ("gridfs/bucket/md5.cc", '#include "tests/gridfs/fixture.h"\n'),
    "fuse_door": ("fuse/mount.cc", "#include <fuse3/fuse_lowlevel.h>\n"),
    "lmdb_door": ("gridfs/bucket/bucket.cc", "#include <lmdb.h>\n"),
    "openssl_door": ("tools/digest.cc", "#include <openssl/evp.h>\n"),
    "mongoc_door": ("tools/client.cc", "#include <mongoc/mongoc.h>\n"),
    "link_up": (
        "engine/query/CMakeLists.txt",
        "add_library(a_query f.cc)\ntarget_link_libraries(a_query PUBLIC\n  a_gridfs)\n",
    ),
    "link_leaf": (
        "gridfs/CMakeLists.txt",
        "add_library(a_gridfs md5.cc)\ntarget_link_libraries(a_gridfs PRIVATE a_local)\n",
    ),
    "link_door": (
        "gridfs/CMakeLists.txt",
        "add_library(a_gridfs md5.cc)\ntarget_link_libraries(a_gridfs PRIVATE PkgConfig::LMDB)\n",
    ),
    "empty_name": ("gridfs/string_utils.cc", "int x;\n"),
    "empty_folder_name": ("tools/common/x.cc", "int x;\n"),
    "long_file": ("gridfs/bucket/bucket.cc", "int x;\n" * 701),
    "header_without_pragma": ("gridfs/content/file.h", "// Something.\n"),
    "header_without_comment": ("gridfs/content/file.h", "#pragma once\n"),
    "machine_path": ("README.md", "Build it in /work/" + "main\n"),
    "tracker_number": ("gridfs/bucket/md5.cc", "// See issue" + " 12.\n"),
    "unfinished": ("packaging/test.sh", "# TO" + "DO: later\n"),
}

# Each source is named in another way, and each header included by another kind of file.
BUILT_TREE = {
    "CMakeLists.txt": "add_subdirectory(engine)\n",
    "engine/CMakeLists.txt": (
        "add_library(a STATIC listed.cc room/nested.cc) # not.cc\n"
        "target_sources(a PRIVATE\n  added.cc)\n"
        "file(GLOB found CONFIGURE_DEPENDS globbed/*.cc)\n"
        "add_executable(b ${found})\n"
        "foreach(name one two)\n  gridmount_fuzzer(fuzz_${name} SOURCES fuzz_${name}.cc LIBS a)\nendforeach()\n"
        "gridmount_test(t SOURCES ../tests/above.cc ${PROJECT_SOURCE_DIR}/tests/absolute.cc LIBS a)\n"
    ),
    "engine/listed.cc": '#include "engine/direct.h"\n',
    "engine/direct.h": HEADER + '#include "engine/indirect.h"\n',
    "engine/indirect.h": HEADER,
    "engine/room/nested.cc": '#include "beside.h"\n',
    "engine/room/beside.h": HEADER,
    "engine/added.cc": "",
    "engine/globbed/any.cc": "",
    "engine/fuzz_one.cc": "",
    "engine/fuzz_two.cc": "",
    "tests/above.cc": "",
    "tests/absolute.cc": "",
}

UNBUILT = {
    "source": {"engine/forgotten.cc": ""},
    "source_of_the_same_name_elsewhere": {"engine/room/listed.cc": ""},
    "source_named_in_a_comment": {"engine/not.cc": ""},
    "source_beside_a_loop": {"engine/fuzz_three.cc": ""},
    "source_below_a_glob": {"engine/globbed/deeper/any.cc": ""},
    "source_in_c": {"engine/listed.c": ""},
    "source_that_a_glob_finds_for_no_target": {
        "tests/names.cc": "",
        "tests/CMakeLists.txt": "file(GLOB names *.cc)\nforeach(name ${names})\nendforeach()\n",
    },
    "header": {"engine/forgotten.h": HEADER},
    "header_of_an_unbuilt_header": {
        "engine/forgotten.h": HEADER + '#include "engine/lost.h"\n',
        "engine/lost.h": HEADER,
    },
}

# Types may have the same name in other namespaces, in unnamed namespaces and functions, in
# declarations, and in text.
TYPES_TREE = {
    "CMakeLists.txt": "add_subdirectory(engine)\n",
    "engine/a.h": HEADER
    + """namespace grid::a {
struct Place { int x; };  // struct Other {
enum class Kind { kOne };
class GM_CAPABILITY(x) Table final : public Base<int> {
  struct Row { int y = 1; };
};
template <typename T>
struct Box {};
}  // namespace grid::a
""",
    "engine/b.h": HEADER
    + """namespace grid::a {
struct Place;
class Table;
/* struct Other { */
namespace b { struct Place {}; }
namespace { struct Table {}; enum Kind { kOne }; }
class Wall { struct Row {}; const char* text = "} struct Place {"; char c = '{'; };
inline Place made() { struct Kind {}; return Place{}; }
template <>
struct Box<int> {};
}  // namespace grid::a
""",
}

DEFINED_TWICE = {
    "struct": "namespace grid::a { struct Place { int y; }; }",
    "nested_namespaces": "namespace grid {\nnamespace a {\nclass Place { };\n}\n}",
    "after_an_unnamed_namespace": "namespace grid::a { namespace { int i; } struct Place {}; }",
    "after_a_function": "namespace grid::a { void f() { if (x) { } } class Table final : Base {}; }",
    "enum": "namespace grid::a { enum class Kind : uint8_t { kTwo }; }",
    "template": "namespace grid::a { template <class T> class Box : public T { }; }",
    "annotated": "namespace grid::a { class GM_CAPABILITY(\"mutex\") Place { }; }",
    "attribute": "namespace grid::a { struct [[nodiscard]] Place { }; }",
    "macro": "namespace grid::a { class GM_SCOPED_CAPABILITY Place { }; }",
}

# A type may come with a header, with a header's header, with a declaration, or from several headers.
INCLUDES_TREE = {
    "CMakeLists.txt": "add_subdirectory(engine)\n",
    "engine/a.h": HEADER + "namespace grid::a { struct Place {}; class Table {}; }\n",
    "engine/b.h": HEADER + '#include "engine/a.h"\nnamespace grid::b { struct Row {}; }\n',
    "engine/c.cc": '#include "engine/b.h"\nvoid f(a::Place, b::Row);\n',
    "engine/d.cc": "namespace grid::a { class Table; }\nvoid g(a::Table&);\n",
    "engine/e.cc": 'void h(std::string, other::Place);  // a::Place\nconst char* text = "a::Table";\n',
    "engine/f.h": HEADER + "namespace grid { namespace one::x { struct Same {}; } }\n",
    "engine/g.h": HEADER + "namespace grid { namespace two::x { struct Same {}; } }\n",
    "engine/h.cc": "void i(x::Same);\n",
}

MISSING_INCLUDES = {
    "source": ("engine/x.cc", "void x(a::Place);\n"),
    "header": ("engine/x.h", HEADER + "inline void x(grid::a::Table);\n"),
    "other_header": ("engine/x.cc", '#include "engine/f.h"\nvoid x(const a::Place&);\n'),
    "other_declaration": ("engine/x.cc", "class Table;\nvoid x(Table&, a::Place);\n"),
}


class LayeringTest(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return subprocess.run(
                [sys.executable, str(CHECKER), folder], capture_output=True, text=True, check=False
            )

    def check_built(self, files):
        """Checks the files with a target that builds all of them, so that only the layers can be
        wrong."""
        sources = [name for name in files if name.endswith(".cc")]
        headers = [name for name in files if name.endswith(".h")]
        target = "\n".join(f"  ${{PROJECT_SOURCE_DIR}}/{name}" for name in sources)
        return self.check(
            {
                **files,
                "tests/all/CMakeLists.txt": f"add_executable(all all.cc\n{target})\n",
                "tests/all/all.cc": "".join(f'#include "{name}"\n' for name in headers),
            }
        )

    def test_good_tree_passes(self):
        result = self.check_built(GOOD_TREE)
        self.assertEqual((result.stdout, result.returncode), ("", 0), result.stderr)

    def test_each_violation_is_found(self):
        for case, (name, text) in VIOLATIONS.items():
            with self.subTest(case):
                result = self.check_built({**GOOD_TREE, name: text})
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)
                self.assertTrue(result.stdout.startswith(name), result.stdout)

    def test_files_that_targets_build_pass(self):
        result = self.check(BUILT_TREE)
        self.assertEqual((result.stdout, result.returncode), ("", 0), result.stderr)

    def test_each_file_that_no_target_builds_is_found(self):
        for case, files in UNBUILT.items():
            with self.subTest(case):
                result = self.check({**BUILT_TREE, **files})
                self.assertEqual(result.returncode, 1, result.stderr)
                expected = sorted(name for name in files if not name.endswith("CMakeLists.txt"))
                self.assertEqual([line.split(":")[0] for line in result.stdout.splitlines()], expected)

    def test_types_of_different_names_pass(self):
        result = self.check_built(TYPES_TREE)
        self.assertEqual((result.stdout, result.returncode), ("", 0), result.stderr)

    def test_each_type_that_is_defined_twice_is_found(self):
        for case, text in DEFINED_TWICE.items():
            with self.subTest(case):
                result = self.check_built({**TYPES_TREE, "engine/c.cc": text + "\n"})
                self.assertEqual(result.returncode, 1, result.stderr)
                (line,) = result.stdout.splitlines()
                self.assertRegex(line, r"^engine/c\.cc: grid::a::\w+ is defined in engine/a\.h as well$")

    def test_types_with_their_headers_pass(self):
        result = self.check_built(INCLUDES_TREE)
        self.assertEqual((result.stdout, result.returncode), ("", 0), result.stderr)

    def test_each_missing_include_is_found(self):
        for case, (name, text) in MISSING_INCLUDES.items():
            with self.subTest(case):
                result = self.check_built({**INCLUDES_TREE, name: text})
                self.assertEqual(result.returncode, 1, result.stderr)
                (line,) = result.stdout.splitlines()
                self.assertRegex(line, rf"^{name}: a::\w+ needs an include of engine/a\.h$")

    def test_folder_that_is_no_tree_is_refused(self):
        result = self.check({"a.txt": ""})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no source tree", result.stderr)


if __name__ == "__main__":
    unittest.main()
