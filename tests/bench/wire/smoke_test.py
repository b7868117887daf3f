#!/usr/bin/env python3
"""A small run of the wire protocol's benchmark: every row gets a correct answer and is measured on
both servers.

  smoke_test.py WIRE_BENCH
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROWS = ["find_one", "find_range", "insert", "update", "bulk"]
TRANSFERS = ["gridfs_up", "gridfs_down"]


class WireBench(unittest.TestCase):
    def test_every_row_is_measured(self):
        with tempfile.TemporaryDirectory(prefix="wire-bench-") as folder:
            out = os.path.join(folder, "out.json")
            command = [PROGRAM, "--temp", folder, "--json", out, "--clients", "1,3"]
            command += ["--documents", "1000", "--operations", "300", "--slices", "2"]
            command += ["--file-mib", "8", "--rounds", "2"]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(folder), ["out.json"], "the store is removed")
            with open(out, encoding="utf-8") as file:
                result = json.load(file)
        trips = [(trip["key"], trip["clients"]) for trip in result["round_trips"]]
        self.assertEqual(trips, [(row, clients) for row in ROWS for clients in (1, 3)])
        self.assertEqual([transfer["key"] for transfer in result["transfers"]], TRANSFERS)
        for measured in result["round_trips"] + result["transfers"]:
            self.assertGreater(measured["ratio"], 0)
        self.assertIn("find by _id", done.stdout)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
