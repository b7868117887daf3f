"""Shows the effect of long use on a store in a short time.

A directory is filled with files of mixed sizes up to `live_bytes`. Then files are overwritten,
changed in place, appended to, removed, made and renamed over others until `multiples` times as much
has been written. About `live_bytes` remain. After each multiple the benchmark records how fast its
operations were, and how large the store's file is compared with the remaining data. The same
operations run on a plain directory in alternating time windows, so that a slowdown of the machine
shows in both.
"""

import os
import random
import time

MEBIBYTE = 1 << 20
SMALLEST = 1 << 10
LARGEST = 16 << 20
POOL_BYTES = 64 << 20


class Churn:
    """One folder under churn. The seed gives the same operations in each folder."""

    def __init__(self, root, live_bytes, seed):
        self._root = root
        self._live_max = live_bytes
        self._random = random.Random(seed)
        self._pool = random.Random(4711).randbytes(POOL_BYTES)
        self._sizes = {}
        self._names = []
        self._made = 0
        self.live = 0

    def fill(self):
        return self._window(lambda written: self.live >= self._live_max, self._create)

    def churn(self, count_bytes):
        return self._window(lambda written: written >= count_bytes, self._operate)

    def _window(self, is_over, operate):
        """Operates until is_over() returns true. Returns the MiB written per second."""
        written = 0
        begin = time.perf_counter()
        while not is_over(written):
            written += operate()
        return written / MEBIBYTE / (time.perf_counter() - begin)

    def _operate(self):
        choice = self._random.random()
        if self.live > self._live_max * 1.02:
            return self._remove()
        if self.live < self._live_max * 0.98:
            return self._create()
        if choice < 0.45:
            return self._write(self._any(), "wb", self._size())
        if choice < 0.60:
            return self._change_in_place(self._any())
        if choice < 0.70:
            return self._write(self._any(), "ab", min(self._size(), MEBIBYTE))
        if choice < 0.80:
            return self._remove()
        if choice < 0.90:
            return self._create()
        return self._save_by_rename(self._any())

    def _size(self):
        return int(SMALLEST * (LARGEST / SMALLEST) ** self._random.random())

    def _bytes(self, size):
        begin = self._random.randrange(POOL_BYTES - size)
        return memoryview(self._pool)[begin : begin + size]

    def _any(self):
        return self._names[self._random.randrange(len(self._names))]

    def _path(self, name):
        return os.path.join(self._root, name)

    def _create(self):
        self._made += 1
        name = f"d{self._made % 16}/f{self._made}"
        os.makedirs(os.path.dirname(self._path(name)), exist_ok=True)
        self._names.append(name)
        self._sizes[name] = 0
        return self._write(name, "wb", self._size())

    def _write(self, name, mode, size):
        with open(self._path(name), mode) as file:
            file.write(self._bytes(size))
        kept = self._sizes[name] if mode == "ab" else 0
        self._resize(name, kept + size)
        return size

    def _change_in_place(self, name):
        size = max(1, self._sizes[name] // 8)
        at = self._random.randrange(max(1, self._sizes[name] - size))
        with open(self._path(name), "r+b") as file:
            file.seek(at)
            file.write(self._bytes(size))
        return size

    def _save_by_rename(self, name):
        size = self._size()
        with open(self._path("new"), "wb") as file:
            file.write(self._bytes(size))
        os.rename(self._path("new"), self._path(name))
        self._resize(name, size)
        return size

    def _remove(self):
        at = self._random.randrange(len(self._names))
        name = self._names[at]
        self._names[at] = self._names[-1]
        self._names.pop()
        os.unlink(self._path(name))
        self._resize(name, 0)
        del self._sizes[name]
        return 0

    def _resize(self, name, size):
        self.live += size - self._sizes[name]
        self._sizes[name] = size


def data_file_bytes(store):
    """Returns the disk space of data.mdb."""
    return os.stat(os.path.join(store, "data.mdb")).st_blocks * 512


def measure(gridmount, plain, store, live_bytes, multiples, seed, tell):
    """Returns [{multiple, live_mib, file_ratio, rate, plain_rate}]. The first entry is that of the
    filling."""
    ours = Churn(gridmount.root, live_bytes, seed)
    theirs = Churn(plain.root, live_bytes, seed)
    samples = []
    for multiple in range(multiples + 1):
        step = (lambda churn: churn.churn(live_bytes)) if multiple else (lambda churn: churn.fill())
        sample = {"multiple": multiple, "plain_rate": step(theirs), "rate": step(ours)}
        time.sleep(1.5)  # what is committed a second later, and a checkpoint
        sample["live_mib"] = ours.live / MEBIBYTE
        sample["file_ratio"] = data_file_bytes(store) / ours.live
        samples.append(sample)
        tell(sample)
    return samples


def table(samples):
    """Returns the samples as a table in Markdown."""
    first = samples[0]
    lines = [
        "| written | alive, MiB | data.mdb / alive | MiB/s | of the fresh store's"
        " | plain folder, MiB/s | of the plain folder's |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for sample in samples:
        lines.append(
            f"| {sample['multiple'] + 1}x | {sample['live_mib']:.0f} | {sample['file_ratio']:.2f} |"
            f" {sample['rate']:.0f} | {sample['rate'] / first['rate']:.2f} |"
            f" {sample['plain_rate']:.0f} | {sample['rate'] / sample['plain_rate']:.2f} |"
        )
    return "\n".join(lines)


def plot(samples):
    """Returns an SVG of two curves: the size of the file relative to the remaining data, and the
    rate relative to the rate of the fresh store."""
    width, height, left, bottom = 640, 320, 50, 40
    top = max(2.0, max(sample["file_ratio"] for sample in samples) * 1.1)
    across = (width - left - 20) / max(1, len(samples) - 1)
    up = (height - bottom - 20) / top

    def points(values):
        return " ".join(
            f"{left + i * across:.1f},{height - bottom - value * up:.1f}"
            for i, value in enumerate(values)
        )

    def line(value, colour, dashes=""):
        y = height - bottom - value * up
        return (
            f'<line x1="{left}" x2="{width - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"'
            f' stroke-dasharray="{dashes}"/><text x="{left - 8}" y="{y + 4:.1f}"'
            f' text-anchor="end">{value:g}</text>'
        )

    first = samples[0]["rate"]
    first_plain = samples[0]["plain_rate"]
    ours, size, plain = "#1f6fb2", "#b2451f", "#999999"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        line(0, "black"),
        line(1, "#cccccc"),
        line(1.3, size, "4 4"),
        line(0.5, ours, "4 4"),
        f'<polyline fill="none" stroke="{plain}"'
        f' points="{points([sample["plain_rate"] / first_plain for sample in samples])}"/>',
        f'<polyline fill="none" stroke="{size}" stroke-width="2"'
        f' points="{points([sample["file_ratio"] for sample in samples])}"/>',
        f'<polyline fill="none" stroke="{ours}" stroke-width="2"'
        f' points="{points([sample["rate"] / first for sample in samples])}"/>',
        f'<text x="{left + 10}" y="16" fill="{size}">size of data.mdb / what is alive</text>',
        f'<text x="{left + 220}" y="16" fill="{ours}">rate of writing / the fresh store\'s</text>',
        f'<text x="{left + 430}" y="16" fill="{plain}">the same of a plain folder</text>',
        f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">'
        "written, times what is alive</text>",
    ]
    for i in range(0, len(samples), max(1, len(samples) // 10)):
        parts.append(
            f'<text x="{left + i * across:.1f}" y="{height - bottom + 16}"'
            f' text-anchor="middle">{i + 1}</text>'
        )
    return "\n".join(parts + ["</svg>"]) + "\n"
