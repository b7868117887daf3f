#!/usr/bin/env python3
"""Runs a libFuzzer program with its seed corpus, or adds to the corpus.

  corpus.py run FUZZER SECONDS    fuzzes, beginning with the corpus
  corpus.py grow FUZZER SECONDS   fuzzes in the same way, and stores a small set of inputs that has
                                  the coverage of the corpus and of what was found

The corpus of FUZZER is seeds/NAME.tar.xz beside this script, where NAME is the file name of FUZZER.
Without this file, the corpus is empty. Grow a corpus after a change of a format or a language, for
some minutes. If an input fails, the script copies it into the folder of FUZZER.
"""

import io
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

SEEDS = pathlib.Path(__file__).resolve().parent / "seeds"
LIMITS = ["-timeout=30", "-rss_limit_mb=2048"]


def stored(fuzzer):
    return SEEDS / f"{fuzzer.name}.tar.xz"


def unpack(fuzzer, folder):
    folder.mkdir()
    if stored(fuzzer).exists():
        with tarfile.open(stored(fuzzer)) as corpus:
            corpus.extractall(folder)


def pack(fuzzer, folder):
    """Stores the files of the folder. Equal corpora give equal archives: the entries have no times,
    and their names are numbers."""
    SEEDS.mkdir(exist_ok=True)
    inputs = sorted(path.read_bytes() for path in folder.iterdir())
    if not inputs:
        sys.exit("corpus.py: the merge has given no inputs; the stored corpus stays")
    made = stored(fuzzer).with_suffix(".new")
    with tarfile.open(made, "w:xz", preset=9) as corpus:
        for number, content in enumerate(inputs):
            entry = tarfile.TarInfo(str(number))
            entry.size = len(content)
            corpus.addfile(entry, io.BytesIO(content))
    made.replace(stored(fuzzer))


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("run", "grow") or not sys.argv[3].isdigit():
        sys.exit(__doc__)
    mode, seconds = sys.argv[1], sys.argv[3]
    fuzzer = pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory(prefix="gridmount-fuzz-") as work:
        inputs = pathlib.Path(work, "inputs")
        unpack(fuzzer, inputs)
        fuzzed = subprocess.run([fuzzer, f"-max_total_time={seconds}", *LIMITS, inputs], cwd=work)
        if fuzzed.returncode != 0:
            for found in pathlib.Path(work).glob("*-*"):
                kept = shutil.copy(found, fuzzer.parent)
                print(f"the input {kept} has the bytes {found.read_bytes().hex()}")
            return fuzzed.returncode
        if mode == "grow":
            least = pathlib.Path(work, "least")
            least.mkdir()
            subprocess.run([fuzzer, "-set_cover_merge=1", *LIMITS, least, inputs], cwd=work, check=True)
            pack(fuzzer, least)
    return 0


if __name__ == "__main__":
    sys.exit(main())
