"""Goal: eight processes work at once: on files of their own, in one common directory, and on one
common file.

With a sanitizer (SANITIZE in the environment), a call takes several times as long, so these are
fewer calls.
"""

import hashlib
import multiprocessing
import os
import random
import time

from mount_case import MountCase, main

WRITERS = 8
SANITIZED = bool(os.environ.get("SANITIZE"))
FILES_EACH = 30 if SANITIZED else 60
BLOCK_BYTES = 37_777  # crosses pages and chunks
BLOCKS_EACH = 40
LINES_EACH = 500
CONTESTED_FILES = 300 if SANITIZED else 1500
MOVED_FILES = 1000 if SANITIZED else 2000
MOVES = 12


def bytes_of(writer, number, size):
    return random.Random(writer * 1_000_003 + number).randbytes(size)


def write_own_files(writer, root):
    """Creates, rewrites, renames and deletes files. Leaves files with the content that bytes_of()
    returns."""
    folder = os.path.join(root, f"writer{writer}")
    os.mkdir(folder)
    chance = random.Random(writer)
    for number in range(FILES_EACH):
        data = bytes_of(writer, number, chance.choice([0, 1, 4096, 70_000, 262_144, 900_001]))
        first = os.path.join(folder, f"{number}.part")
        with open(first, "wb") as file:
            file.write(data[: len(data) // 2])
        with open(first, "ab") as file:
            file.write(data[len(data) // 2 :])
        with open(os.path.join(root, "common", f"{writer}-{number}"), "wb") as file:
            file.write(data[:100])
        os.rename(first, os.path.join(folder, f"{number}"))
        if number % 5 == 0:
            os.unlink(os.path.join(folder, f"{number}"))
    for number in range(FILES_EACH):
        path = os.path.join(folder, f"{number}")
        if number % 5 == 0:
            assert not os.path.exists(path), path
            continue
        with open(path, "rb") as file:
            data = file.read()
        assert data == bytes_of(writer, number, len(data)), path


def write_own_blocks(writer, path):
    """Writes the writer's blocks, which lie between the blocks of the other writers."""
    file = os.open(path, os.O_RDWR)
    order = list(range(BLOCKS_EACH))
    random.Random(writer).shuffle(order)
    for number in order:
        at = (number * WRITERS + writer) * BLOCK_BYTES
        data = bytes_of(writer, number, BLOCK_BYTES)
        assert os.pwrite(file, data, at) == BLOCK_BYTES
        assert os.pread(file, BLOCK_BYTES, at) == data
    os.close(file)


def append_lines(writer, path):
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    for number in range(LINES_EACH):
        line = f"{writer} {number}\n".encode()
        assert os.write(file, line) == len(line)
    os.close(file)


def empty_files(root, start):
    """Opens each file with O_TRUNC, while the other process sets its length."""
    for number in range(CONTESTED_FILES):
        start.wait()
        os.close(os.open(os.path.join(root, f"{number}"), os.O_WRONLY | os.O_TRUNC | os.O_CREAT))


def set_lengths(root, start):
    for number in range(CONTESTED_FILES):
        file = os.open(os.path.join(root, f"{number}"), os.O_RDWR | os.O_CREAT)
        start.wait()
        for length in range(1000, 1006):
            os.ftruncate(file, length)
        os.close(file)


def list_moved(root, stop):
    """Lists the folder under both names. A listing has either all of its files, or there is no
    folder with that name."""
    expected = sorted(f"{number}" for number in range(MOVED_FILES))
    whole = 0
    while not stop.is_set():
        for name in ("here", "there"):
            try:
                listed = os.listdir(os.path.join(root, name))
            except FileNotFoundError:
                continue
            # If the folder is moved during a listing, the listing continues in the opened folder.
            assert sorted(listed) == expected, (name, len(listed))
            whole += 1
    assert whole > 0


class ParallelWriters(MountCase):
    def run_writers(self, body, argument):
        processes = [
            multiprocessing.Process(target=body, args=(writer, argument))
            for writer in range(WRITERS)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        self.assertEqual([process.exitcode for process in processes], [0] * WRITERS)

    def test_OwnFiles_AreIntact_AlsoAfterRemount(self):
        os.mkdir(self.path("common"))
        self.run_writers(write_own_files, self.root)
        for _ in range(2):
            self.assertEqual(
                sorted(os.listdir(self.path("common"))),
                sorted(f"{w}-{n}" for w in range(WRITERS) for n in range(FILES_EACH)),
            )
            for writer in range(WRITERS):
                for number in range(FILES_EACH):
                    path = self.path(f"writer{writer}", str(number))
                    self.assertEqual(os.path.exists(path), number % 5 != 0, path)
                    if number % 5 != 0:
                        with open(path, "rb") as file:
                            data = file.read()
                        self.assertEqual(data, bytes_of(writer, number, len(data)), path)
            self.system.remount()

    def test_LengthsOfFilesEmptiedMeanwhile_AreTheSame_AfterRemount(self):
        start = multiprocessing.Barrier(2)
        processes = [
            multiprocessing.Process(target=body, args=(self.root, start))
            for body in (empty_files, set_lengths)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        self.assertEqual([process.exitcode for process in processes], [0, 0])

        def lengths():
            return [os.stat(self.path(f"{number}")).st_size for number in range(CONTESTED_FILES)]

        before = lengths()
        self.system.remount()
        self.assertEqual(lengths(), before)

    def test_MovedFolder_IsWholeUnderEitherName(self):
        os.mkdir(self.path("here"))
        for number in range(MOVED_FILES):
            with open(self.path("here", f"{number}"), "wb"):
                pass
        stop = multiprocessing.Event()
        reader = multiprocessing.Process(target=list_moved, args=(self.root, stop))
        reader.start()
        names = ["here", "there"]
        for _ in range(MOVES):
            os.rename(self.path(names[0]), self.path(names[1]))
            names.reverse()
            time.sleep(0.05)
        stop.set()
        reader.join()
        self.assertEqual(reader.exitcode, 0)

    def test_BlocksOfOneFile_AreAllThere_AlsoAfterRemount(self):
        path = self.path("shared")
        with open(path, "wb"):
            pass
        self.run_writers(write_own_blocks, path)
        expected = hashlib.sha256()
        for number in range(BLOCKS_EACH):
            for writer in range(WRITERS):
                expected.update(bytes_of(writer, number, BLOCK_BYTES))
        for _ in range(2):
            self.assertEqual(self.digest(path), expected.hexdigest())
            self.system.remount()

    def test_AppendedLines_AreAllThereAndWhole(self):
        path = self.path("log")
        with open(path, "wb"):
            pass
        self.run_writers(append_lines, path)
        self.system.remount()
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), WRITERS * LINES_EACH)
        for writer in range(WRITERS):
            own = [line for line in lines if line.startswith(f"{writer} ")]
            self.assertEqual(own, [f"{writer} {number}" for number in range(LINES_EACH)])


if __name__ == "__main__":
    main()
