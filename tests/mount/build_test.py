"""Goal: a C++ program can be built in the mount, by make and by CMake with ninja, and run from
there.
"""

import os
import textwrap

from mount_case import MountCase, main

MODULES = 6


class Build(MountCase):
    def setUp(self):
        super().setUp()
        self.project = self.path("project")
        os.mkdir(self.project)
        calls = " + ".join(f"f{number}()" for number in range(MODULES))
        declarations = "".join(f"int f{number}();\n" for number in range(MODULES))
        self.write("main.cc", f"#include <cstdio>\n{declarations}"
                   f"int main() {{ std::printf(\"%d\\n\", {calls}); }}\n")
        for number in range(MODULES):
            self.write(f"f{number}.cc", f"""
                #include "shared.h"
                int f{number}() {{ return static_cast<int>(words().size()) + {number}; }}
                """)
        self.write("shared.h", """
            #pragma once
            #include <string>
            #include <vector>
            inline std::vector<std::string> words() { return {"a", "b"}; }
            """)

    def write(self, name, text):
        with open(os.path.join(self.project, name), "w", encoding="ascii") as file:
            file.write(textwrap.dedent(text))

    def assert_runs(self, program, words):
        expected = MODULES * words + sum(range(MODULES))
        self.assertEqual(self.run_program(program), f"{expected}\n".encode())

    def finish(self):
        self.system.stop()
        self.check_store()

    def test_Make_BuildsOnceAndAgainWhatChanged(self):
        self.write("Makefile", """
            objects := $(patsubst %.cc,%.o,$(wildcard *.cc))
            program: $(objects)
            \tg++ -o $@ $^
            %.o: %.cc
            \tg++ -O0 -MMD -c -o $@ $<
            -include $(objects:.o=.d)
            """)
        self.run_program("make", "-j2", cwd=self.project)
        self.assert_runs(os.path.join(self.project, "program"), 2)
        # Times are exact enough for make to see that nothing is to be done.
        self.assertIn(b"up to date", self.run_program("make", cwd=self.project))
        self.write("shared.h", """
            #pragma once
            #include <string>
            #include <vector>
            inline std::vector<std::string> words() { return {"a", "b", "c"}; }
            """)
        self.run_program("make", "-j2", cwd=self.project)
        self.assert_runs(os.path.join(self.project, "program"), 3)
        self.system.remount()
        self.assert_runs(os.path.join(self.project, "program"), 3)
        self.assertIn(b"up to date", self.run_program("make", cwd=self.project))
        self.finish()

    def test_CMakeAndNinja_BuildAndRebuildNothing(self):
        self.write("CMakeLists.txt", """
            cmake_minimum_required(VERSION 3.25)
            project(sample CXX)
            file(GLOB sources CONFIGURE_DEPENDS *.cc)
            add_executable(program ${sources})
            """)
        build = os.path.join(self.project, "build")
        self.run_program("cmake", "-G", "Ninja", "-S", self.project, "-B", build)
        self.run_program("ninja", "-j2", "-C", build)
        self.assert_runs(os.path.join(build, "program"), 2)
        self.assertIn(b"no work to do", self.run_program("ninja", "-C", build))
        self.finish()


if __name__ == "__main__":
    main()
