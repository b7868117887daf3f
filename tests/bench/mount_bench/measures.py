"""The measures of the benchmark: groups that run one after another in one fresh directory.

A measure yields a rate in units per second, so a greater number and a greater ratio are always
better. For a time the ratio is inverted. Cold means that the directory was mounted anew, and that
the kernel's page, entry and inode caches were dropped before, for the disk below as well as for the
mount.
"""

import json
import os
import subprocess
import time
from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Measure:
    key: str
    label: str
    unit: str
    floor: float | None = None  # least rate against pass-through
    is_time: bool = False


MEASURES = [
    Measure("sequential-write", "sequential write, 1 MiB, fsync", "MiB/s", 0.5),
    Measure("sequential-read-cold", "sequential read, cold", "MiB/s", 0.8),
    Measure("sequential-read-hot", "sequential read, hot", "MiB/s", 0.95),
    Measure("random-read-cold", "random read, 4 KiB, cold", "blocks/s"),
    Measure("random-read-hot", "random read, 4 KiB, hot", "blocks/s"),
    Measure("random-write", "random write, 4 KiB, fsync", "blocks/s"),
    Measure("small-create", "create files of 4 KiB", "files/s", 0.4),
    Measure("small-stat", "stat each, hot", "files/s"),
    Measure("small-list", "list with stat, hot", "files/s"),
    Measure("small-list-cold", "list with stat, cold", "files/s"),
    Measure("small-read-cold", "read files of 4 KiB, cold", "files/s"),
    Measure("small-delete", "delete files", "files/s"),
    Measure("tree-in", "copy a source tree in (cp -a)", "entries/s"),
    Measure("tree-out", "copy it out, cold (cp -a)", "entries/s"),
]


@dataclass(frozen=True)
class Sizes:
    file_mib: int
    random_operations: int
    small_files: int
    tree: str


class Bench:
    """Runs groups on a mounts.Folder. `load` is the compiled load.cc."""

    def __init__(self, load, sizes, scratch):
        self._load = load
        self._sizes = sizes
        self._scratch = scratch  # on the same disk, for copies out

    def run(self, group, system):
        """Runs one pass. Returns {measure key: units per second}."""
        return GROUPS[group](self, system)

    def sequential(self, system):
        path = os.path.join(system.root, "large.dat")
        rates = {"sequential-write": self._write_large(path)}
        self._make_cold(system)
        rates["sequential-read-cold"] = self._rate("read-sequential", path) / MEBIBYTE
        rates["sequential-read-hot"] = self._rate("read-sequential", path) / MEBIBYTE
        return rates

    def random(self, system):
        path = os.path.join(system.root, "large.dat")
        count = self._sizes.random_operations
        rates = {}
        self._write_large(path)
        self._make_cold(system)
        rates["random-read-cold"] = self._rate("read-random", path, count, 1)
        self._rate("read-sequential", path)
        rates["random-read-hot"] = self._rate("read-random", path, count, 2)
        os.sync()
        rates["random-write"] = self._rate("write-random", path, count, 3)
        return rates

    def small(self, system):
        folder = os.path.join(system.root, "small")
        count = self._sizes.small_files
        rates = {}
        os.mkdir(folder)
        os.sync()
        rates["small-create"] = self._rate("create", folder, count)
        rates["small-stat"] = self._rate("stat", folder, count)
        rates["small-list"] = self._rate("list", folder)
        self._make_cold(system)
        rates["small-list-cold"] = self._rate("list", folder)
        self._make_cold(system)
        rates["small-read-cold"] = self._rate("read-files", folder, count)
        os.sync()
        rates["small-delete"] = self._rate("delete", folder, count)
        return rates

    def tree(self, system):
        source = self._sizes.tree
        inside = os.path.join(system.root, "tree")
        outside = os.path.join(self._scratch, "tree-out")
        entries = sum(1 + len(files) for _, _, files in os.walk(source))
        # The source itself is read from the page cache by every system.
        subprocess.run(["tar", "-cf", "/dev/zero", source], check=True, stderr=subprocess.DEVNULL)
        os.sync()
        rates = {"tree-in": entries / self._copy_seconds(source, inside)}
        self._make_cold(system)
        rates["tree-out"] = entries / self._copy_seconds(inside, outside)
        subprocess.run(["rm", "-rf", outside], check=True)
        return rates

    def _write_large(self, path):
        os.sync()  # no one else's dirty pages compete for the disk
        return self._rate("write-sequential", path, self._sizes.file_mib * MEBIBYTE) / MEBIBYTE

    def _rate(self, command, *arguments):
        finished = subprocess.run(
            [self._load, command, *map(str, arguments)], check=True, stdout=subprocess.PIPE
        )
        result = json.loads(finished.stdout)
        return result["units"] / result["seconds"]

    @staticmethod
    def _copy_seconds(source, target):
        start = time.monotonic()
        subprocess.run(["cp", "-a", source, target], check=True)
        return time.monotonic() - start

    @staticmethod
    def _make_cold(system):
        system.stop()
        os.sync()
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as drop:
            drop.write("3")
        system.start()


GROUPS = {
    "sequential": Bench.sequential,
    "random": Bench.random,
    "small": Bench.small,
    "tree": Bench.tree,
}
