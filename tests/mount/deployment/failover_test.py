#!/usr/bin/env python3
"""Mounts of a replica set of three members whose primary is killed, steps down or hangs.

Goal: the mount finds the new primary by itself within --server-timeout, no call fails, and
everything that was written is there. If no member is left that accepts writes, calls fail in time,
and the mount continues afterwards.
"""

import os
import random
import signal
import subprocess
import threading
import time
import unittest

import gridfs
import pymongo
from deployment import Deployment, ReplicaSet
from mongod import Mongod, require_mongod
from pymongo.errors import PyMongoError

SET_NAME = "three"
MEMBERS = 3
PRIMARY_SECONDS_MAX = 60.0
# A member that does not answer is replaced after this time, not after ten seconds.
ELECTION_MILLISECONDS = 2000
HEARTBEAT_MILLISECONDS = 500
SERVER_SECONDS = 90
# Otherwise a primary sends one of a hundred reads to a secondary too, so that it knows the data.
NO_MIRRORED_READS = ["--setParameter", "mirrorReads={samplingRate: 0.0}"]


class ThreeMembers:
    """A replica set on this machine while the context lasts."""

    def __enter__(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.members = []
        try:
            for _ in range(MEMBERS):
                member = Mongod(options=["--replSet", SET_NAME, *NO_MIRRORED_READS], parent=memory)
                member.__enter__()
                self.members.append(member)
            with self.members[0].client() as first:
                first.admin.command(
                    "replSetInitiate",
                    {
                        "_id": SET_NAME,
                        "members": [
                            {"_id": n, "host": member.address} for n, member in enumerate(self.members)
                        ],
                        "settings": {
                            "electionTimeoutMillis": ELECTION_MILLISECONDS,
                            "heartbeatIntervalMillis": HEARTBEAT_MILLISECONDS,
                        },
                    },
                )
            self.primary()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for member in self.members:
            member.__exit__(None, None, None)

    def uri(self, database):
        hosts = ",".join(member.address for member in self.members)
        return f"mongodb://{hosts}/{database}?replicaSet={SET_NAME}"

    def primary(self, but=None):
        """Waits for a primary other than the member `but`, and returns it."""
        deadline = time.monotonic() + PRIMARY_SECONDS_MAX
        while time.monotonic() < deadline:
            for member in self.members:
                if member is but:
                    continue
                try:
                    with member.client(serverSelectionTimeoutMS=500) as client:
                        if client.admin.command("hello")["isWritablePrimary"]:
                            return member
                except PyMongoError:
                    pass
            time.sleep(0.1)
        raise AssertionError("there is no primary")


class FailoverTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_mongod()
        cls.servers = ThreeMembers()
        cls.servers.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.servers.__exit__(None, None, None)

    def setUp(self):
        self.servers.primary()
        self.errors = []
        self.written = {}
        self.stops = threading.Event()

    def mount(self, *options):
        mount = Deployment(uri=self.servers.uri(self.id().rpartition(".")[2]), options=options)
        self.addCleanup(mount.cleanup)
        mount.start()
        return mount

    def work(self, mount, owner):
        """Makes, syncs, renames and removes files, and records the files that must exist."""
        seeded = random.Random(owner)
        turn = 0
        while not self.stops.is_set():
            turn += 1
            name = f"{owner}.{turn}"
            content = seeded.randbytes(seeded.randrange(400_000))
            path = os.path.join(mount.root, name)
            try:
                with open(path, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                if turn % 3 == 0:
                    os.rename(path, path + ".new")
                    name += ".new"
                if turn % 5 == 0:
                    os.unlink(os.path.join(mount.root, name))
                else:
                    self.written[name] = content
            except OSError as error:
                self.errors.append((name, error))
                return

    def run_beside(self, mounts, disturb):
        workers = [
            threading.Thread(target=self.work, args=(mount, n)) for n, mount in enumerate(mounts)
        ]
        for worker in workers:
            worker.start()
        try:
            time.sleep(0.5)
            disturb()
            count = len(self.written)
            deadline = time.monotonic() + SERVER_SECONDS
            # The mounts continue afterwards.
            while len(self.written) < count + 3 * len(mounts) and not self.errors:
                self.assertLess(time.monotonic(), deadline, "the mounts do not go on")
                time.sleep(0.1)
        finally:
            self.stops.set()
            for worker in workers:
                worker.join()
        self.assertEqual(self.errors, [])

    def assert_all_is_there(self, mount):
        self.assertEqual(sorted(os.listdir(mount.root)), sorted(self.written))
        for name, content in self.written.items():
            with open(os.path.join(mount.root, name), "rb") as file:
                self.assertEqual(file.read(), content, name)

    def test_primary_is_killed(self):
        mounts = [self.mount(f"--server-timeout={SERVER_SECONDS}") for _ in range(2)]

        def disturb():
            for _ in range(2):
                killed = self.servers.primary()
                killed.kill()
                self.servers.primary(but=killed)
                time.sleep(0.5)
                killed.start_again()

        self.run_beside(mounts, disturb)
        self.assert_all_is_there(self.mount())

    def test_primary_steps_down(self):
        mounts = [self.mount(f"--server-timeout={SERVER_SECONDS}") for _ in range(2)]

        def disturb():
            for _ in range(3):
                old = self.servers.primary()
                with old.client() as client:
                    client.admin.command(
                        "replSetStepDown", 30, secondaryCatchUpPeriodSecs=20, force=True
                    )
                self.servers.primary(but=old)
                time.sleep(0.5)

        self.run_beside(mounts, disturb)
        self.assert_all_is_there(self.mount())

    def test_primary_hangs(self):
        """The primary behaves as if the network was cut: connections stay, and nothing answers."""
        mounts = [self.mount("--server-timeout=30") for _ in range(2)]
        hanging = self.servers.primary()

        def disturb():
            hanging.process.send_signal(signal.SIGSTOP)
            self.servers.primary(but=hanging)

        try:
            # Several connections of a mount wait for the server that hangs.
            self.run_beside(mounts * 3, disturb)
        finally:
            hanging.process.send_signal(signal.SIGCONT)
        self.assert_all_is_there(self.mount())

    def queries_of_secondaries(self):
        """Counts only queries on the collections of the test, because servers also query each
        other."""
        primary = self.servers.primary()
        count = 0
        for member in self.servers.members:
            if member is not primary:
                with member.client() as client:
                    for collection, uses in client.admin.command("top")["totals"].items():
                        if collection.startswith("media."):
                            count += sum(uses[use]["count"] for use in ("queries", "getmore", "commands"))
        return count

    def test_tools_read_from_secondaries_and_the_mount_from_the_primary(self):
        uri = self.servers.uri("media")
        with pymongo.MongoClient(uri, w=3) as client:
            gridfs.GridFS(client.media).put(b"content", filename="a")
        uri += "&readPreference=secondary"
        for command in (
            [os.environ["GRIDFILES"], "--quiet", "--uri", uri, "--db", "media", "list"],
            [os.environ["GRIDSTORE"], "check", uri],
            [os.environ["GRIDSTORE"], "dump", uri, "--archive"],
        ):
            before = self.queries_of_secondaries()
            subprocess.run(command, check=True, capture_output=True)
            self.assertGreater(self.queries_of_secondaries(), before, command)
        mount = Deployment(uri=uri)
        self.addCleanup(mount.cleanup)
        mount.start()
        self.assertEqual(os.listdir(mount.root), ["a"])
        before = self.queries_of_secondaries()
        self.assertEqual(os.listdir(mount.root), ["a"])
        self.assertEqual(self.queries_of_secondaries(), before)
        self.assertIn("readPreference=secondary of the connection string", mount.log())
        mount.cleanup()


class OneMemberHangsTest(unittest.TestCase):
    def test_calls_fail_in_time_and_the_mount_goes_on(self):
        require_mongod()
        seconds = 2
        with ReplicaSet() as servers:
            mount = Deployment(
                uri=servers.uri("test"),
                options=[f"--server-timeout={seconds}", "--cache-seconds=0"],
            )
            self.addCleanup(mount.cleanup)
            mount.start()
            with open(os.path.join(mount.root, "a"), "wb") as file:
                file.write(b"content")
            servers.process.send_signal(signal.SIGSTOP)
            try:
                for call in (os.mkdir, os.unlink, os.listdir):
                    begun = time.monotonic()
                    with self.assertRaises(OSError):
                        call(os.path.join(mount.root, "a"))
                    self.assertLess(time.monotonic() - begun, 10 * seconds, call)
            finally:
                servers.process.send_signal(signal.SIGCONT)
            deadline = time.monotonic() + PRIMARY_SECONDS_MAX
            while True:
                try:
                    os.mkdir(os.path.join(mount.root, "folder"))
                    break
                except FileExistsError:
                    break
                except OSError:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.1)
            self.assertIn("folder", os.listdir(mount.root))


if __name__ == "__main__":
    unittest.main()
