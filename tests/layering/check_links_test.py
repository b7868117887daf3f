#!/usr/bin/env python3
"""Goal: check_links.py finds each kind of dead reference.

Method: as in check_layering_test.py. A small tree whose references all exist passes. Then one dead
reference at a time is planted in it.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parent / "check_links.py"

GOOD_TREE = {
    "CMakeLists.txt": "",
    "engine/store.h": "",
    "fuse/kernel/fuse_frontend_a.cc": "",
    "packaging/test.sh": "",
    "doc/limits.md": "# Limits\n\n## A file's `length`, and more\n\n## Twice\n\n## Twice\n",
    "README.md": """# Title

[limits](doc/limits.md), [a heading](doc/limits.md#a-files-length-and-more), [this](#title),
[the second](doc/limits.md#twice-1), [a folder](engine), [elsewhere](https://example.org/doc/none.md).
`engine/store.h`, `packaging/test.sh tidy`, `fuse/kernel/fuse_frontend*.cc`, `engine/store.h:12`, `doc/`.
`[no](link.md)`, `a/b.bin`, `build/engine/none.h`.

1. A list

    [limits](doc/limits.md)

```
[code](none.md) `engine/none.h`
```

Text.

    $ cat `engine/none.h` [x](none.md)
""",
    "engine/NOTES.md": "[up](../doc/limits.md#limits) `engine/store.h`\n",
}

# name of the case: the line that is added to engine/NOTES.md
DEAD = {
    "link": "[a](none.md)",
    "link_up": "[a](../none.md)",
    "picture": "![a](none.svg)",
    "out_of_the_tree": "[a](../../../../../../etc/passwd)",
    "heading": "[a](../doc/limits.md#none)",
    "heading_of_its_own": "[a](#none)",
    "path": "see `engine/none.h`",
    "path_in_a_command": "`packaging/none.sh tidy`",
    "path_of_a_folder": "`tests/none`",
    "pattern": "`fuse/kernel/none*.cc`",
    "in_a_list": "- one\n    `engine/none.h`",
    "over_two_lines": "[a\nlink](none.md)",
    "command_over_two_lines": "`packaging/test.sh\nengine/none.h`",
    "in_a_table": "| `engine/none.h` | a |",
}


class CheckLinks(unittest.TestCase):
    def check(self, tree):
        with tempfile.TemporaryDirectory() as root:
            for name, text in tree.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return subprocess.run(
                [sys.executable, "-B", CHECKER, root], capture_output=True, text=True
            )

    def test_good_tree_passes(self):
        result = self.check(GOOD_TREE)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_each_dead_reference_is_found(self):
        for case, line in DEAD.items():
            with self.subTest(case):
                text = GOOD_TREE["engine/NOTES.md"] + line + "\n"
                result = self.check({**GOOD_TREE, "engine/NOTES.md": text})
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)
                self.assertTrue(result.stdout.startswith("engine/NOTES.md:"), result.stdout)

    def test_folder_that_is_no_tree_is_refused(self):
        result = self.check({"a.md": ""})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no source tree", result.stderr)


if __name__ == "__main__":
    unittest.main()
