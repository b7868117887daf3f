"""The cost of many names: large directories, deep ones, trees unpacked, searched, cloned and moved.

Each group runs at several sizes, on every system that can handle the size. This shows the cost
compared with the other systems, and whether it grows with the directory. The files of large
directories are empty, because only names are measured.
"""

import json
import os
import random
import subprocess
import tarfile
import time
from dataclasses import dataclass

from mount_bench.measures import Bench, Measure

SEED = 1
FILES_IN_FOLDER = 50
LARGEST_FILE = 8192
READ_FILES = 100
STATS_MAX = 100_000
GROUP_LABELS = {
    "folder": "folder of {:,}",
    "deep": "{:,} folders deep",
    "tree": "tree of {:,}",
    "clone": "repository of {:,}",
    "move": "folder above {:,}",
}
PER_SIZE = {
    "folder": [
        ("create", "create an empty file", "files/s"),
        ("list-cold", "list, cold", "names/s"),
        ("list-hot", "list, hot", "names/s"),
        ("list-stat-cold", "list with stat, cold", "files/s"),
        ("stat-cold", "stat by name, random, cold", "files/s"),
        ("stat-hot", "stat by name, random, hot", "files/s"),
        ("delete", "delete", "files/s"),
    ],
    "deep": [
        ("descend", "make, with a file in each", "levels/s"),
        ("find-cold", "find, cold", "names/s"),
        ("remove", "rm -r", "names/s"),
    ],
    "tree": [
        ("untar", "untar", "files/s"),
        ("find-cold", "find, cold", "names/s"),
        ("find-hot", "find, hot", "names/s"),
        ("du-cold", "du, cold", "names/s"),
        ("du-hot", "du, hot", "names/s"),
        ("remove", "rm -r", "files/s"),
    ],
    "clone": [
        ("clone", "git clone", "files/s"),
        ("status-cold", "git status, cold", "files/s"),
    ],
    "move": [
        ("rename", "rename", "ms"),
        ("longest-read", "longest wait of a reader elsewhere", "ms"),
        ("longest-create", "longest wait of a writer elsewhere", "ms"),
    ],
}


@dataclass(frozen=True)
class NameSizes:
    """Numbers of names, smallest first, for each group."""

    folder: list
    deep: list
    tree: list
    clone: list
    move: list
    pass_through_max: int

    def of(self, group, system_name):
        """Returns the sizes that the system can handle."""
        sizes = getattr(self, group)
        if system_name != "passthrough":
            return sizes
        return [size for size in sizes if size <= self.pass_through_max]


def sizes_up_to(size, pass_through_max):
    def tenths(largest, count):
        return sorted({max(10, largest // 10**power) for power in range(count)})

    return NameSizes(
        folder=tenths(size, 4),
        deep=tenths(max(10, min(size // 1000, 1000)), 2),
        tree=tenths(max(10, size // 20), 2),
        clone=tenths(max(10, size // 100), 1),
        move=tenths(max(10, size // 10), 2),
        pass_through_max=pass_through_max,
    )


def measures(sizes):
    """Returns the table's rows: for each group, one measure at each size."""
    rows = []
    for group, of_group in PER_SIZE.items():
        for key, label, unit in of_group:
            for size in getattr(sizes, group):
                where = GROUP_LABELS[group].format(size)
                rows.append(
                    Measure(
                        row_key(group, key, size), f"{where}: {label}", unit, None, unit == "ms"
                    )
                )
    return rows


def row_key(group, key, size):
    return f"{group}-{key}-{size}"


class NamesBench(Bench):
    """Runs a group at a size on a mounts.Folder. The archives and repositories are made only
    once."""

    def run_names(self, group, system, size):
        """Runs one pass in a fresh folder. Returns {measure key: rate, or ms}."""
        folder = os.path.join(system.root, "names")
        os.mkdir(folder)
        os.sync()
        rates = NAME_GROUPS[group](self, system, folder, size)
        return {row_key(group, key, size): rate for key, rate in rates.items()}

    def folder(self, system, folder, size):
        some = min(size, STATS_MAX)
        rates = {"create": self._rate("create-empty", folder, size)}
        self._make_cold(system)
        rates["list-cold"] = self._rate("list-names", folder)
        rates["list-hot"] = self._rate("list-names", folder)
        self._make_cold(system)
        rates["list-stat-cold"] = self._rate("list", folder)
        self._make_cold(system)
        rates["stat-cold"] = self._rate("stat-some", folder, some, size, SEED)
        rates["stat-hot"] = self._rate("stat-some", folder, some, size, SEED)
        os.sync()
        rates["delete"] = self._rate("delete", folder, size)
        return rates

    def deep(self, system, folder, size):
        rates = {"descend": self._rate("descend", folder, size)}
        self._make_cold(system)
        # Each level has a folder and a file. `folder` itself is one name more.
        names = 2 * size + 1
        rates["find-cold"] = names / self._seconds("find", folder, names=names)
        os.sync()
        rates["remove"] = names / self._seconds("rm", "-r", folder)
        return rates

    def tree(self, system, folder, size):
        archive = self._archive(size)
        with open(archive, "rb") as file:  # read from the page cache by every system
            while file.read(1 << 20):
                pass
        rates = {"untar": size / self._seconds("tar", "-xf", archive, "-C", folder)}
        names = size + len(folders_of(size))
        for program in ("find", "du"):
            self._make_cold(system)
            for state in ("cold", "hot"):
                command = ["find", folder] if program == "find" else ["du", "-a", folder]
                rates[f"{program}-{state}"] = names / self._seconds(*command, names=names)
        os.sync()
        rates["remove"] = size / self._seconds("rm", "-r", folder)
        return rates

    def clone(self, system, folder, size):
        source = self._repository(size)
        clone = os.path.join(folder, "clone")
        subprocess.run(["git", "-C", source, "rev-list", "--all", "--objects"], check=True,
                       stdout=subprocess.DEVNULL)
        rates = {"clone": size / self._seconds("git", "clone", "-q", "--no-local", source, clone)}
        self._make_cold(system)
        safe = ["-c", "safe.directory=*"]
        rates["status-cold"] = size / self._seconds(
            "git", *safe, "-C", clone, "status", "--porcelain", names=0
        )
        return rates

    def move(self, system, folder, size):
        top = os.path.join(folder, "top")
        elsewhere = os.path.join(folder, "elsewhere")
        os.mkdir(elsewhere)
        self._rate("create", elsewhere, READ_FILES)
        os.mkdir(top)
        parts = max(1, size // 1000)
        for part in range(parts):
            inner = os.path.join(top, f"part{part}")
            os.mkdir(inner)
            self._rate("create-empty", inner, size // parts)
        os.sync()
        result = {}
        # Moves the folder away beside the one program, and back beside the other.
        for (watcher, *arguments), target in (
            (("longest-read", READ_FILES), top + "-moved"), (("longest-create",), top),
        ):
            source = top if target != top else top + "-moved"
            with subprocess.Popen(
                [self._load, watcher, elsewhere, *map(str, arguments)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            ) as watching:
                time.sleep(0.2)
                begin = time.perf_counter()
                os.rename(source, target)
                seconds = time.perf_counter() - begin
                time.sleep(0.2)
                output, _ = watching.communicate()
                if watching.returncode != 0:
                    raise SystemExit(f"load {watcher}: status {watching.returncode}")
            result["rename"] = max(seconds * 1000, result.get("rename", 0))
            result[watcher] = json.loads(output)["seconds"] * 1000
        return result

    def _seconds(self, *command, names=None):
        """Returns the seconds that a program took. Checks that it printed one line for each
        name."""
        begin = time.perf_counter()
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        seconds = time.perf_counter() - begin
        if names is not None and finished.stdout.count(b"\n") != names:
            raise SystemExit(
                f"{' '.join(command)}: {finished.stdout.count(bytes([10]))} lines instead of {names}"
            )
        return seconds

    def _archive(self, size):
        path = os.path.join(self._scratch, f"tree{size}.tar")
        if not os.path.exists(path):
            tree = self._make_tree(size)
            with tarfile.open(path, "w") as archive:
                for name in sorted(os.listdir(tree)):
                    archive.add(os.path.join(tree, name), name)
        return path

    def _repository(self, size):
        tree = self._make_tree(size)
        if not os.path.exists(os.path.join(tree, ".git")):
            identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "gc.auto=0"]
            for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "all"]):
                subprocess.run(["git", "-C", tree, *identity, *command], check=True)
            subprocess.run(["git", "-C", tree, "repack", "-q", "-a", "-d"], check=True)
        return tree

    def _make_tree(self, size):
        """Makes a tree of files of up to LARGEST_FILE bytes, most of them small, with
        FILES_IN_FOLDER files in a folder."""
        tree = os.path.join(self._scratch, f"tree{size}")
        if os.path.exists(tree):
            return tree
        chance = random.Random(SEED)
        for folder in folders_of(size):
            os.mkdir(os.path.join(tree, folder)) if folder else os.mkdir(tree)
        leaves = [folder for folder in folders_of(size) if folder.count("/") == 1]
        for number in range(size):
            path = os.path.join(tree, leaves[number // FILES_IN_FOLDER], f"file{number}")
            with open(path, "wb") as file:
                file.write(chance.randbytes(int(LARGEST_FILE * chance.random() ** 2)))
        return tree


def folders_of(size):
    """Returns the folders of a tree, in two levels. The first one is "", the tree itself."""
    leaves = (size + FILES_IN_FOLDER - 1) // FILES_IN_FOLDER
    inner = (leaves + FILES_IN_FOLDER - 1) // FILES_IN_FOLDER
    return [
        "",
        *(f"d{number}" for number in range(inner)),
        *(f"d{number // FILES_IN_FOLDER}/e{number}" for number in range(leaves)),
    ]


NAME_GROUPS = {
    "folder": NamesBench.folder,
    "deep": NamesBench.deep,
    "tree": NamesBench.tree,
    "clone": NamesBench.clone,
    "move": NamesBench.move,
}


# --- The plot: microseconds for one name by the size of the folder, a panel for each measure.

COLOURS = {"plain": "#999999", "passthrough": "#b2451f", "gridmount": "#1f6fb2"}
PANEL_WIDTH, PANEL_HEIGHT = 300, 190
PANELS_ACROSS = 3
LEFT, BOTTOM, TOP = 48, 26, 30


def plot(medians, sizes):
    """Returns an SVG of the group `folder`."""
    panels = PER_SIZE["folder"]
    rows = (len(panels) + PANELS_ACROSS - 1) // PANELS_ACROSS
    width, height = PANELS_ACROSS * PANEL_WIDTH, rows * PANEL_HEIGHT + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="10" y="18">microseconds for one name, by the number of names in the folder:</text>',
    ]
    for index, (name, colour) in enumerate(COLOURS.items()):
        parts.append(f'<text x="{400 + index * 90}" y="18" fill="{colour}">{name}</text>')
    for index, (key, label, _) in enumerate(panels):
        left = index % PANELS_ACROSS * PANEL_WIDTH
        top = index // PANELS_ACROSS * PANEL_HEIGHT + 30
        costs = {
            name: [
                (at, 1e6 / medians[row_key("folder", key, size)][name])
                for at, size in enumerate(sizes.folder)
                if name in medians.get(row_key("folder", key, size), {})
            ]
            for name in COLOURS
        }
        parts.append(f'<g transform="translate({left},{top})">{_panel(label, costs, sizes)}</g>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def _panel(label, costs, sizes):
    highest = max((cost for line in costs.values() for _, cost in line), default=1.0) * 1.1
    across = (PANEL_WIDTH - LEFT - 30) / max(1, len(sizes.folder) - 1)
    base = PANEL_HEIGHT - BOTTOM
    up = (base - TOP) / highest
    parts = [f'<text x="{LEFT}" y="20" font-weight="bold">{label}</text>']
    for value in (0, highest / 2, highest):
        y = base - value * up
        parts.append(
            f'<line x1="{LEFT}" x2="{PANEL_WIDTH - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
            f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>'
        )
    for at, size in enumerate(sizes.folder):
        parts.append(
            f'<text x="{LEFT + at * across:.1f}" y="{base + 15}" text-anchor="middle">{size:,}</text>'
        )
    for name, line in costs.items():
        points = [(LEFT + at * across, base - cost * up) for at, cost in line]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(
            f'<polyline fill="none" stroke="{COLOURS[name]}" stroke-width="2" points="{joined}"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{COLOURS[name]}"/>' for x, y in points]
    return "".join(parts)
