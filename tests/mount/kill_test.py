"""kill -9 of the daemon in the middle of work: what was closed is intact, nothing else is broken.

Workers create, overwrite, append to, rename and delete files of many sizes and note in memory, after
each call returned, what the file must hold from then on. The daemon is killed at a random moment;
the call that was under way may have happened or not. Then the store is checked and mounted and every
file is compared. Several rounds on one store. The seed is printed; KILL_TEST_SEED replays the
workers' choices (the moment of the kill is the scheduler's).
"""

import hashlib
import os
import random
import threading
import time
import unittest

from mount_case import SYSTEM, MountCase, main

ROUNDS = 8
WORKERS = 3
SIZES = [0, 1, 500, 4096, 30_000, 262_143, 262_144, 262_145, 1_500_000, 9_000_000]
FILES_EACH = 40  # names of one worker
DATA = random.Random(4711).randbytes(16 << 20)


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Worker(threading.Thread):
    """Works in a folder of its own until the daemon is gone."""

    def __init__(self, root, number, seed, expected):
        super().__init__()
        self._folder = os.path.join(root, f"worker{number}")
        self._random = random.Random(seed)
        self.expected = expected  # name -> bytes, as of the last call that returned
        self.unsettled = set()  # names of the call that was under way at the kill
        self.operations = 0
        self.error = None
        self.stopping = False

    def run(self):
        try:
            while True:
                self._one_operation()
                self.operations += 1
        except OSError as error:
            # The daemon's end; anything before it is a finding.
            if not self.stopping:
                self.error = error

    def _path(self, name):
        return os.path.join(self._folder, name)

    def _one_operation(self):
        name = f"file{self._random.randrange(FILES_EACH)}"
        known = [other for other in self.expected if other != name]
        choice = self._random.random()
        if name not in self.expected or choice < 0.4:
            data = self._some_bytes()
            self._settle({name: data}, lambda: self._write(name, "wb", data))
        elif choice < 0.55:
            data = self._some_bytes()[:100_000]
            self._settle({name: self.expected[name] + data}, lambda: self._write(name, "ab", data))
        elif choice < 0.7:
            data = self._some_bytes()[:50_000]
            at = self._random.randrange(len(self.expected[name]) + 1)
            old = self.expected[name]
            new = old[:at] + data + old[at + len(data) :]
            self._settle({name: new}, lambda: self._overwrite(name, at, data))
        elif choice < 0.85 and known:
            target = self._random.choice(known)
            self._settle(
                {name: None, target: self.expected[name]},
                lambda: os.rename(self._path(name), self._path(target)),
            )
        else:
            self._settle({name: None}, lambda: os.unlink(self._path(name)))

    def _settle(self, after, call):
        """Runs the call; once it returned, `after` is what holds."""
        self.unsettled = set(after)
        call()
        for name, data in after.items():
            if data is None:
                self.expected.pop(name, None)
            else:
                self.expected[name] = data
        self.unsettled = set()

    def _write(self, name, mode, data):
        with open(self._path(name), mode) as file:
            file.write(data)

    def _overwrite(self, name, at, data):
        with open(self._path(name), "r+b") as file:
            file.seek(at)
            file.write(data)

    def _some_bytes(self):
        size = self._random.choice(SIZES)
        start = self._random.randrange(len(DATA) - size)
        return DATA[start : start + size]


@unittest.skipIf(SYSTEM == "plain", "a plain folder has no daemon to kill")
class Kill(MountCase):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("KILL_TEST_SEED", time.time_ns() % 1_000_000))
        print(f"KILL_TEST_SEED={self.seed}")
        self.random = random.Random(self.seed)
        self.expected = [{} for _ in range(WORKERS)]

    def work_until_killed(self, seconds):
        workers = [
            Worker(self.root, number, self.random.random(), self.expected[number])
            for number in range(WORKERS)
        ]
        for number, worker in enumerate(workers):
            os.makedirs(self.path(f"worker{number}"), exist_ok=True)
            worker.start()
        time.sleep(seconds)
        for worker in workers:
            worker.stopping = True
        self.system.kill(lambda: [worker.join(timeout=30) for worker in workers])
        for worker in workers:
            self.assertFalse(worker.is_alive(), "a call on the killed mount never returned")
            self.assertIsNone(worker.error)
        self.assertGreater(sum(worker.operations for worker in workers), 0)
        return [worker.unsettled for worker in workers]

    def compare(self, unsettled):
        for number, expected in enumerate(self.expected):
            folder = self.path(f"worker{number}")
            found = set(os.listdir(folder))
            settled = set(expected) - unsettled[number]
            self.assertEqual(found - unsettled[number], settled, folder)
            for name in found:
                with open(os.path.join(folder, name), "rb") as file:
                    data = file.read()  # every file can be read to its end
                self.assertEqual(len(data), os.stat(os.path.join(folder, name)).st_size)
                if name in settled:
                    self.assertEqual(
                        (len(data), digest(data)),
                        (len(expected[name]), digest(expected[name])),
                        f"{folder}/{name}",
                    )
            # What the interrupted call left is the starting point of the next round.
            for name in unsettled[number]:
                path = os.path.join(folder, name)
                expected.pop(name, None)
                if name in found:
                    with open(path, "rb") as file:
                        expected[name] = file.read()

    def test_KilledAtRandomMoments_EverythingClosedIsIntact(self):
        for round_number in range(ROUNDS):
            unsettled = self.work_until_killed(self.random.uniform(0.1, 2.0))
            if round_number % 2 == 0:
                self.check_store()
            self.system.start()
            self.compare(unsettled)
            self.system.remount()
            self.compare([set()] * WORKERS)
        self.system.stop()
        self.check_store()

    def test_KilledWhileCopyingATree_ClosedFilesAreIntact(self):
        tree = self.copy_moderate_tree()
        for round_number in range(3):
            target = self.path(f"copy{round_number}")
            copied = {}  # path below the tree -> digest, noted after close

            def copy(target=target, copied=copied):
                try:
                    for folder, _, names in os.walk(tree):
                        inside = os.path.join(target, os.path.relpath(folder, tree))
                        os.makedirs(inside, exist_ok=True)
                        for name in names:
                            source = os.path.join(folder, name)
                            if os.path.islink(source):
                                continue
                            with open(source, "rb") as file:
                                data = file.read()
                            path = os.path.normpath(os.path.join(inside, name))
                            with open(path, "wb") as file:
                                file.write(data)
                            copied[path] = digest(data)
                except OSError:
                    pass  # the kill

            copier = threading.Thread(target=copy)
            copier.start()
            time.sleep(self.random.uniform(0.05, 0.8))
            self.system.kill(lambda copier=copier: copier.join(timeout=30))
            self.assertFalse(copier.is_alive())
            self.assertTrue(copied, "nothing was copied before the kill")
            self.system.start()
            for path, expected in copied.items():
                self.assertEqual(self.digest(path), expected, path)
            self.run_program("rm", "-rf", target)
            self.assertFalse(os.path.exists(target))
        self.system.stop()
        self.check_store()

    def test_KilledWithAnUnlinkedOpenFile_NothingIsLeft(self):
        path = self.path("gone")
        file = open(path, "wb")
        self.addCleanup(self.close_quietly, file)
        file.write(DATA)
        file.flush()
        os.fsync(file.fileno())
        os.unlink(path)
        self.system.kill()
        self.system.start()
        self.assertEqual(os.listdir(self.root), [])
        self.system.stop()
        self.check_store()

    @staticmethod
    def close_quietly(file):
        try:
            file.close()
        except OSError:
            pass  # its mount is dead


if __name__ == "__main__":
    main()
