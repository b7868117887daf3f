#!/usr/bin/env python3
"""Small runs of the simulation of a cluster: every layout and mix has a row, the same seed gives
the same table, and the results have the relations that they must have.

  smoke_test.py SCALE_BENCH
"""

import os
import subprocess
import sys
import tempfile
import unittest

LAYOUTS = ["primary", "databases", "by-id", "by-name"]
MIXES = ["names", "small", "streams"]


class ScaleBench(unittest.TestCase):
    def run_bench(self, *options):
        command = [PROGRAM, "--operations", "1000", "--mounts-max", "64", *options]
        return subprocess.run(command, capture_output=True, text=True)

    def rows(self, *options):
        done = self.run_bench(*options)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()]
        return done.stdout, [row for row in rows if row and row[0] in MIXES]

    def test_every_layout_and_mix_has_a_row(self):
        _, rows = self.rows("--shards", "1,3")
        expected = [(mix, layout) for mix in MIXES for layout in LAYOUTS for _ in range(2)]
        self.assertEqual([(row[0], row[1]) for row in rows], expected)

    def test_the_same_seed_gives_the_same_table(self):
        options = ["--shards", "2", "--mixes", "small", "--seed", "7"]
        self.assertEqual(self.rows(*options)[0], self.rows(*options)[0])

    def test_one_shard_carries_as_much_in_every_layout(self):
        _, rows = self.rows("--shards", "1", "--mixes", "names", "--cores", "1")
        self.assertEqual(len({tuple(row[2:]) for row in rows}), 1, rows)

    def test_costs_that_are_none_are_refused(self):
        with tempfile.TemporaryDirectory(prefix="scale-bench-") as folder:
            path = os.path.join(folder, "costs.txt")
            with open(path, "w", encoding="ascii") as file:
                file.write("operation lookup many\n")
            done = self.run_bench("--costs", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("costs.txt:1: not a cost", done.stderr)
        self.assertEqual(self.run_bench("--costs", "/nowhere").returncode, 1)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
