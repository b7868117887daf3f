"""Small runs of the mount's benchmark: each measure has a result for each system, and the plot is
drawn.

  smoke_test.py BENCH GRIDMOUNT LOAD
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from mount_bench import databases  # noqa: E402

SYSTEMS = {"plain", "passthrough", "gridmount"}


@unittest.skipUnless(os.geteuid() == 0, "dropping the kernel's caches needs root")
class MountBench(unittest.TestCase):
    def run_bench(self, *options):
        """(medians by measure and system, what was printed)"""
        with tempfile.TemporaryDirectory(prefix="mount-bench-") as folder:
            out = os.path.join(folder, "out.json")
            command = [BENCH, *options, "--gridmount", GRIDMOUNT, "--load", LOAD]
            command += ["--temp", folder, "--json", out]
            done = subprocess.run([sys.executable, "-B", *command], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(folder), ["out.json"], "folders and mounts are removed")
            with open(out, encoding="utf-8") as file:
                return json.load(file)["medians"], done.stdout

    def assert_positive(self, medians):
        for key, of_systems in medians.items():
            for system, figure in of_systems.items():
                self.assertGreater(figure, 0, f"{key}, {system}")

    def test_speed_measures_all_systems(self):
        medians, table = self.run_bench(
            "speed", "--rounds", "1", "--size-mib", "4", "--random-operations", "50", "--small-files",
            "50", "--tree", os.path.dirname(os.path.realpath(__file__)),
        )
        self.assertEqual(len(medians), 14)
        for key, of_systems in medians.items():
            self.assertEqual(set(of_systems), SYSTEMS, key)
        self.assert_positive(medians)
        self.assertIn("sequential read, cold", table)

    def test_names_measures_every_size_and_leaves_out_what_is_too_large(self):
        with tempfile.NamedTemporaryFile(suffix=".svg") as svg:
            medians, table = self.run_bench(
                "names", "--size", "1000", "--pass-through-max", "100", "--svg", svg.name
            )
            drawn = xml.etree.ElementTree.parse(svg.name).getroot()
        self.assertEqual(len(drawn.findall(".//{*}polyline")), 7 * len(SYSTEMS))
        self.assert_positive(medians)
        for size in (10, 100, 1000):
            for measure in ("create", "list-cold", "list-hot", "stat-cold", "delete"):
                expected = SYSTEMS if size <= 100 else SYSTEMS - {"passthrough"}
                self.assertEqual(set(medians[f"folder-{measure}-{size}"]), expected)
        for key in ("deep-find-cold-10", "tree-untar-50", "clone-clone-10", "move-longest-read-100"):
            self.assertEqual(set(medians[key]), SYSTEMS)
        self.assertIn("folder of 1,000: delete", table)

    def test_databases_measures_all_systems_and_counts_what_is_written(self):
        medians, table = self.run_bench(
            "databases", "--rounds", "1", "--operations", "10", "--overwrite-mib", "1",
            "--only", "sqlite-wal", "--only", "sqlite-rollback", "--only", "log", "--only", "overwrite",
        )
        self.assertEqual(len(medians), 9)
        for key, of_systems in medians.items():
            self.assertEqual(set(of_systems), SYSTEMS, key)
        self.assert_positive(medians)
        self.assertIn("SQLite, WAL: point reads", table)
        self.assertIn("KiB made dirty per operation, daemon + client", table)

    def test_databases_ends_where_data_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.sqlite")
            rows = databases.SqliteRows(path, "wal")
            with rows.open() as connection:
                rows.insert(connection, 2, 5)
                rows.check(connection)
                for damage in (
                    "UPDATE t SET body = x'00' WHERE id = 3",
                    "DELETE FROM t WHERE id = 9",
                ):
                    connection.execute("BEGIN")
                    connection.execute(damage)
                    with self.assertRaises(databases.WrongData, msg=damage):
                        rows.check(connection)
                    connection.execute("ROLLBACK")
                rows.check(connection)


if __name__ == "__main__":
    LOAD = os.path.abspath(sys.argv.pop())
    GRIDMOUNT = os.path.abspath(sys.argv.pop())
    BENCH = os.path.abspath(sys.argv.pop())
    unittest.main()
