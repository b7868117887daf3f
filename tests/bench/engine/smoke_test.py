#!/usr/bin/env python3
"""A small run of the engine's benchmark: every row is measured on both systems, and afterwards both
hold the same documents.

  smoke_test.py ENGINE_BENCH
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROWS = [
    "load",
    "insert_batch",
    "insert_single",
    "insert_durable",
    "read_id",
    "read_secondary",
    "scan",
    "match_all",
    "aggregate",
    "update_same",
    "update_grow",
    "delete",
    "index_build",
]
DOCUMENTS = 1000
OPERATIONS = 200
DURABLE = 10


class EngineBench(unittest.TestCase):
    def run_bench(self, *options):
        with tempfile.TemporaryDirectory(prefix="engine-bench-") as folder:
            out = os.path.join(folder, "out.json")
            command = [PROGRAM, "--temp", folder, "--json", out, "--compare-all"]
            command += ["--documents", str(DOCUMENTS), "--durable-operations", str(DURABLE)]
            done = subprocess.run([*command, *options], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(folder), ["out.json"], "the stores are removed")
            with open(out, encoding="utf-8") as file:
                return json.load(file)["runs"], done.stdout

    def check(self, run):
        self.assertEqual([row["key"] for row in run["rows"]], ROWS)
        left = run["documents"] + OPERATIONS + DURABLE
        for row in run["rows"]:
            for system in ("gridmount", "sqlite"):
                with self.subTest(row=row["key"], system=system):
                    self.assertGreater(row[system]["units"], 0)
                    self.assertGreater(row[system]["rate"], 0)
        for system in ("gridmount_after", "sqlite_after"):
            self.assertEqual(run["rows"][-1][system]["documents"], left)

    def test_every_row_is_measured(self):
        runs, table = self.run_bench("--operations", str(OPERATIONS))
        self.assertEqual(len(runs), 1)
        self.check(runs[0])
        for row in runs[0]["rows"]:
            self.assertIn(row["label"], table)

    def test_growth_measures_every_size(self):
        runs, table = self.run_bench(
            "--operations", str(OPERATIONS), "--growth", "--smallest", str(DOCUMENTS), "--warm-up", "500"
        )
        self.assertEqual([run["documents"] for run in runs], [DOCUMENTS])
        self.check(runs[0])
        self.assertIn("growth", table)
        self.assertGreater(runs[0]["load_seconds"], 0)
        self.assertIn("memory", table)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
