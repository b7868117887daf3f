#!/usr/bin/env python3
"""Goal: the link of the stage odr finds types that are defined twice.

  odr_link_test.py COMPILER COMPILE_OPTION... -- LINK_OPTION...

Method: two sources are compiled and linked with the options of cmake/OneDefinitionRule.cmake,
optimized as the preset release does. Sources that agree pass. Then the definitions of one name differ.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv[1]
COMPILE_OPTIONS = sys.argv[2 : sys.argv.index("--")]
LINK_OPTIONS = sys.argv[sys.argv.index("--") + 1 :]

SHARED = "struct Place { int ino; }; int ino_of(Place place);"
USER = "int main() { return ino_of(Place{1}); }"


class OdrLink(unittest.TestCase):
    def link(self, *sources):
        """Returns the linker's messages about the sources, or None if there are none."""
        with tempfile.TemporaryDirectory() as folder:
            objects = []
            for number, text in enumerate(sources):
                source = pathlib.Path(folder, f"source_{number}.cc")
                source.write_text(text + "\n")
                objects.append(f"{source}.o")
                subprocess.run(
                    [COMPILER, "-O2", *COMPILE_OPTIONS, "-c", str(source), "-o", objects[-1]], check=True)
            linked = subprocess.run(
                [COMPILER, "-O0", "-flto", *LINK_OPTIONS, *objects, "-o", f"{folder}/odr.o"],
                stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"})
            return linked.stderr if linked.returncode else None

    def test_sources_that_agree_pass(self):
        definition = "int ino_of(Place place) { return place.ino; }"
        self.assertIsNone(self.link(f"{SHARED} {definition}", f"{SHARED} {USER}"))

    def test_two_programs_pass(self):
        self.assertIsNone(self.link("int main() { return 0; }", "int main() { return 1; }"))

    def test_a_type_with_another_field_is_found(self):
        for kind in ("struct Place { int ino; %s };", "struct Place { int ino; %s virtual ~Place() {} };",
                     "template <typename T> struct Holder { T ino; %s }; using Place = Holder<int>;"):
            with self.subTest(kind):
                said = self.link(f"{kind % ''} int ino_of(Place* place) {{ return place->ino; }}",
                                 f"{kind % 'int links = 0;'} int main() {{ return Place().links; }}")
                self.assertIn("violates the C++ One Definition Rule", said or "")

    def test_a_function_declared_with_another_result_is_found(self):
        said = self.link('extern "C" int answer() { return 1; }',
                         'extern "C" double answer(); int main() { return answer() > 0; }')
        self.assertIn("does not match original declaration", said or "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
