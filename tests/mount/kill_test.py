"""Goal: after kill -9 of the daemon in the middle of work, files that were closed are intact, and
nothing else is broken.

Method: workers create, overwrite, append to, rename and delete files and directories. Before each
call they record in memory what may be found from then on, and after it what must be found. The
daemon is killed at a random moment. The call in progress has happened or not, and a rename is never
half done. Then the store is checked and mounted, and every file is compared. There are a hundred
short rounds on one store, and a few long ones with large files. The seed is printed, and
KILL_TEST_SEED replays the workers' choices (the moment of the kill depends on the scheduler).
KILL_TEST_ROUNDS sets the number of short rounds.
"""

import errno
import hashlib
import os
import random
import threading
import time
import unittest

from mount_case import SYSTEM, MountCase, main

SHORT_ROUNDS = int(os.environ.get("KILL_TEST_ROUNDS", 120))
LONG_ROUNDS = 3
READ_ONLY_ROUNDS = 5
WORKERS = 3
SHORT_SIZES = [0, 1, 500, 4096, 30_000, 262_143, 262_145]
LONG_SIZES = [*SHORT_SIZES, 262_144, 1_500_000, 9_000_000]
FILES_EACH = 20  # names of one worker
FOLDERS_EACH = 3
ABSENT = object()
FOLDER = "folder"
BLOCK = 4096  # the kernel hands over what it has not written yet in pages
DATA = random.Random(4711).randbytes(16 << 20)


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Worker(threading.Thread):
    """Works in a folder of its own until the daemon is gone."""

    def __init__(self, root, number, seed, sizes, expected):
        super().__init__()
        self._folder = os.path.join(root, f"worker{number}")
        self._random = random.Random(seed)
        self._sizes = sizes
        # {name: bytes or FOLDER}: the committed contents after the last call that returned.
        self.expected = expected
        # The call in progress at the kill: {name: (before, after)}. If it is atomic, it happens as
        # a whole or not at all.
        self.pending = {}
        self.pending_is_atomic = True
        self.operations = 0
        self.error = None
        self.stopping = False

    def run(self):
        try:
            while True:
                self._one_operation()
                self.operations += 1
        except OSError as error:
            # The daemon has ended. An error before that is a failure of the test.
            if not self.stopping:
                self.error = error

    def _path(self, name):
        return os.path.join(self._folder, name)

    def _names(self):
        return [f"file{number}" for number in range(FILES_EACH)]

    def _one_operation(self):
        if self._random.random() < 0.1:
            self._change_folder()
            return
        name = f"file{self._random.randrange(FILES_EACH)}"
        known = [other for other in self._names() if other in self.expected and other != name]
        choice = self._random.random()
        if name not in self.expected or choice < 0.4:
            data = self._some_bytes()
            self._settle({name: data}, lambda: self._write(name, "wb", data), atomic=False)
        elif choice < 0.55:
            data = self._some_bytes()[:100_000]
            after = self.expected[name] + data
            self._settle({name: after}, lambda: self._write(name, "ab", data), atomic=False)
        elif choice < 0.7:
            data = self._some_bytes()[:50_000]
            at = self._random.randrange(len(self.expected[name]) + 1)
            old = self.expected[name]
            new = old[:at] + data + old[at + len(data) :]
            self._settle({name: new}, lambda: self._overwrite(name, at, data), atomic=False)
        elif choice < 0.85 and known:
            target = self._random.choice(known)
            self._settle(
                {name: ABSENT, target: self.expected[name]},
                lambda: os.rename(self._path(name), self._path(target)),
            )
        else:
            self._settle({name: ABSENT}, lambda: os.unlink(self._path(name)))

    def _change_folder(self):
        name = f"folder{self._random.randrange(FOLDERS_EACH)}"
        other = f"folder{self._random.randrange(FOLDERS_EACH)}"
        if name not in self.expected:
            self._settle({name: FOLDER}, lambda: os.mkdir(self._path(name)))
        elif other not in self.expected:
            self._settle(
                {name: ABSENT, other: FOLDER},
                lambda: os.rename(self._path(name), self._path(other)),
            )
        else:
            self._settle({name: ABSENT}, lambda: os.rmdir(self._path(name)))

    def _settle(self, after, call, atomic=True):
        """Runs the call. After it has returned, `after` is the expected state."""
        self.pending_is_atomic = atomic
        self.pending = {
            name: (self.expected.get(name, ABSENT), data) for name, data in after.items()
        }
        call()
        for name, data in after.items():
            if data is ABSENT:
                self.expected.pop(name, None)
            else:
                self.expected[name] = data
        self.pending = {}

    def _write(self, name, mode, data):
        with open(self._path(name), mode) as file:
            file.write(data)

    def _overwrite(self, name, at, data):
        with open(self._path(name), "r+b") as file:
            file.seek(at)
            file.write(data)

    def _some_bytes(self):
        size = self._random.choice(self._sizes)
        start = self._random.randrange(len(DATA) - size)
        return DATA[start : start + size]


def is_mixture(found, before, after):
    """Returns True if each page is from `before`, from `after`, or zeros of a file that was emptied
    and not yet filled."""
    if found is ABSENT:
        return before is ABSENT
    old = b"" if before is ABSENT else before
    if len(found) > max(len(old), len(after)):
        return False
    return all(
        page in (old[at : at + len(page)], after[at : at + len(page)], bytes(len(page)))
        for at in range(0, len(found), BLOCK)
        for page in (found[at : at + BLOCK],)
    )


@unittest.skipIf(SYSTEM == "plain", "a plain folder has no daemon to kill")
class Kill(MountCase):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("KILL_TEST_SEED", time.time_ns() % 1_000_000))
        print(f"KILL_TEST_SEED={self.seed}")
        self.random = random.Random(self.seed)
        self.expected = [{} for _ in range(WORKERS)]
        self.operations = 0

    def work_until_killed(self, seconds, sizes, disturb=lambda: None):
        """Returns the workers, which have the expected files and the calls in progress.

        Calls `disturb` in the middle. No call of a worker may fail because of it.
        """
        workers = [
            Worker(self.root, number, self.random.random(), sizes, self.expected[number])
            for number in range(WORKERS)
        ]
        for number, worker in enumerate(workers):
            os.makedirs(self.path(f"worker{number}"), exist_ok=True)
            worker.start()
        time.sleep(seconds / 2)
        disturb()
        time.sleep(seconds / 2)
        for worker in workers:
            worker.stopping = True
        self.system.kill(lambda: [worker.join(timeout=30) for worker in workers])
        for worker in workers:
            self.assertFalse(worker.is_alive(), "a call on the killed mount never returned")
            self.assertIsNone(worker.error)
        self.operations += sum(worker.operations for worker in workers)
        return workers

    def found_in(self, folder):
        found = {}
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                self.assertEqual(os.listdir(path), [])
                found[name] = FOLDER
                continue
            with open(path, "rb") as file:
                found[name] = file.read()  # every file can be read to its end
            self.assertEqual(len(found[name]), os.stat(path).st_size, path)
        return found

    def compare(self, workers=()):
        for number, expected in enumerate(self.expected):
            folder = self.path(f"worker{number}")
            found = self.found_in(folder)
            pending = workers[number].pending if workers else {}
            for name in set(expected) | set(found):
                if name in pending:
                    continue
                self.assertIn(name, expected, f"{folder} holds what was removed")
                self.assertIn(name, found, f"{folder} has lost a name")
                if found[name] != expected[name]:  # without printing megabytes
                    self.fail(f"{folder}/{name} is not what it was when the call returned")
            self.assert_allowed(found, pending, workers and workers[number].pending_is_atomic)
            # The next round starts with the state that the interrupted call has left.
            for name in pending:
                expected.pop(name, None)
                if name in found:
                    expected[name] = found[name]

    def assert_allowed(self, found, pending, atomic):
        if not pending:
            return
        now = {name: found.get(name, ABSENT) for name in pending}
        if atomic:
            allowed = now in (
                {name: before for name, (before, _) in pending.items()},
                {name: after for name, (_, after) in pending.items()},
            )
        else:
            allowed = all(is_mixture(now[name], *pending[name]) for name in pending)
        self.assertTrue(allowed, f"neither before nor after the call on {sorted(pending)}")

    def test_KilledHundredsOfTimes_EveryCallThatReturnedHasItsEffect(self):
        for _ in range(SHORT_ROUNDS):
            workers = self.work_until_killed(self.random.uniform(0.01, 0.2), SHORT_SIZES)
            self.check_store()
            self.system.start()
            self.compare(workers)
        self.assertGreater(self.operations, SHORT_ROUNDS)
        self.system.stop()
        self.check_store()

    def test_MountedReadOnlyAfterAKill_ShowsWhatReturned(self):
        for _ in range(READ_ONLY_ROUNDS):
            workers = self.work_until_killed(self.random.uniform(0.05, 0.2), SHORT_SIZES)
            self.system.options = ["-o", "ro"]
            self.system.start()
            with self.assertRaises(OSError) as caught:
                os.mkdir(self.path("more"))
            self.assertEqual(caught.exception.errno, errno.EROFS)
            self.compare(workers)
            self.system.stop()
            self.system.options = []
            self.system.start()
            self.compare()
        self.system.stop()
        self.check_store()

    def test_KilledAtRandomMoments_LargeFilesAreIntact(self):
        for _ in range(LONG_ROUNDS):
            workers = self.work_until_killed(self.random.uniform(0.5, 2.0), LONG_SIZES)
            self.check_store()
            self.system.start()
            self.compare(workers)
            self.system.remount()
            self.compare()
        self.assertGreater(self.operations, 0)
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
            while not copied and copier.is_alive():
                time.sleep(0.005)
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
