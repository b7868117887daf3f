#!/usr/bin/env python3
"""A mount of a deployment follows what others change, by a change stream.

The kernel may cache for an hour (--cache-seconds=3600). So a mount shows others' changes only
because it was told of them. This takes less than a second; the tests wait longer.
"""

import errno
import json
import os
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import gridfs

from deployment import Deployment, ReplicaSet
from mongod import Mongod, require_mongod
from mounts import is_mounted, unmount

SEEN_WITHIN_SECONDS = 20.0
ENDED_WITHIN_SECONDS = 20.0
CACHES_LONG = "--cache-seconds=3600"


class Followed(unittest.TestCase):
    """A mount that caches for an hour, another mount, and a driver."""

    servers = None

    @classmethod
    def setUpClass(cls):
        require_mongod()
        cls.servers = ReplicaSet(options=("--setParameter", "enableTestCommands=1"))
        cls.servers.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.servers.__exit__(None, None, None)

    def setUp(self):
        self.uri = self.servers.uri(re.sub(r"\W", "", self.id().rpartition(".")[2])[:60])
        self.mount = self.mounted()
        self.other = self.mounted()
        self.client = self.mount.client()
        self.addCleanup(self.client.close)
        self.database = self.client.get_default_database()
        self.bucket = gridfs.GridFSBucket(self.database)

    def mounted(self, *options):
        mount = Deployment(uri=self.uri, options=(CACHES_LONG, *options))
        self.addCleanup(mount.cleanup)
        mount.start()
        return mount

    def path(self, name):
        return os.path.join(self.mount.root, name)

    def write(self, name, content, mode="wb"):
        """Writes the file through the other mount."""
        with open(os.path.join(self.other.root, name), mode) as file:
            file.write(content)

    def wait_for(self, seen, expected=True):
        deadline = time.monotonic() + SEEN_WITHIN_SECONDS
        while (found := seen()) != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(found, expected)

    def wait_for_name(self, name, exists=True):
        self.wait_for(lambda: os.path.lexists(self.path(name)), exists)


class OthersTest(Followed):
    def test_created(self):
        for name in ("by-driver", "by-mount", "folder", "made/by/driver"):
            self.assertFalse(os.path.lexists(self.path(name)))
        self.bucket.upload_from_stream("by-driver", b"content")
        self.bucket.upload_from_stream("made/by/driver", b"content")
        self.write("by-mount", b"content")
        os.mkdir(os.path.join(self.other.root, "folder"))
        for name in ("by-driver", "by-mount", "folder", "made/by/driver"):
            self.wait_for_name(name)

    def test_removed_and_the_name_is_free(self):
        self.write("a", b"a")
        self.write("b", b"b")
        os.mkdir(os.path.join(self.other.root, "folder"))
        for name in ("a", "b", "folder"):
            self.wait_for_name(name)
        self.database["fs.files"].delete_one({"filename": "a"})
        os.unlink(os.path.join(self.other.root, "b"))
        os.rmdir(os.path.join(self.other.root, "folder"))
        for name in ("a", "b", "folder"):
            self.wait_for_name(name, exists=False)
            os.mkdir(self.path(name))

    def test_removed_after_a_rename_of_our_own(self):
        self.write("a", b"a")
        self.wait_for_name("a")
        os.rename(self.path("a"), self.path("b"))
        self.assertTrue(os.path.exists(self.path("b")))
        self.wait_for(lambda: self.database["fs.files"].count_documents({"filename": "b"}), 1)
        self.database["fs.files"].delete_one({"filename": "b"})
        self.wait_for_name("b", exists=False)

    def test_renamed(self):
        self.write("a", b"a")
        self.write("b", b"b")
        self.wait_for_name("a")
        self.wait_for_name("b")
        os.rename(os.path.join(self.other.root, "a"), os.path.join(self.other.root, "of-mount"))
        self.database["fs.files"].update_one(
            {"filename": "b"}, {"$set": {"filename": "of-driver"}}
        )
        self.wait_for_name("a", exists=False)
        self.wait_for_name("b", exists=False)
        self.assertTrue(os.path.exists(self.path("of-mount")))
        self.assertTrue(os.path.exists(self.path("of-driver")))

    def test_renamed_directory(self):
        os.makedirs(os.path.join(self.other.root, "top/sub"))
        self.write("top/sub/a", b"a")
        self.wait_for_name("top/sub/a")
        self.assertFalse(os.path.exists(self.path("moved/sub")))
        for old, new in (("top", "moved"), ("moved", "again"), ("again", "top")):
            os.rename(os.path.join(self.other.root, old), os.path.join(self.other.root, new))
            self.wait_for_name(f"{old}/sub/a", exists=False)
            self.wait_for_name(f"{new}/sub/a")
            self.assertEqual(os.listdir(self.path(new)), ["sub"])

    def test_overwritten_file(self):
        self.write("a", b"first")
        self.wait_for_name("a")
        with open(self.path("a"), "rb") as file:
            self.assertEqual(file.read(), b"first")
            self.assertEqual(os.stat(self.path("a")).st_size, 5)
            self.write("a", b"second, longer")
            self.wait_for(lambda: os.stat(self.path("a")).st_size, 14)
            self.wait_for(lambda: os.pread(file.fileno(), 100, 0), b"second, longer")

    def test_new_revision_by_a_driver_takes_the_name(self):
        self.bucket.upload_from_stream("a", b"first")
        self.wait_for_name("a")
        self.assertEqual(os.stat(self.path("a")).st_size, 5)
        self.bucket.upload_from_stream("a", b"the second")
        self.wait_for(lambda: os.stat(self.path("a")).st_size, 10)
        self.database["fs.files"].delete_one({"length": 10})
        self.wait_for(lambda: os.stat(self.path("a")).st_size, 5)

    def test_changed_attributes(self):
        self.write("a", b"a")
        os.mkdir(os.path.join(self.other.root, "folder"))
        for name in ("a", "folder"):
            self.wait_for_name(name)
            os.chmod(os.path.join(self.other.root, name), 0o711)
            self.wait_for(lambda name=name: os.stat(self.path(name)).st_mode & 0o777, 0o711)
            os.setxattr(os.path.join(self.other.root, name), "user.note", b"x")
            self.wait_for(lambda name=name: self.note_of(name), b"x")

    def note_of(self, name):
        # The mount remembers for a moment that a node has no extended attributes, as it remembers
        # other attributes.
        try:
            return os.getxattr(self.path(name), "user.note")
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
            return None

    def test_hard_links(self):
        self.write("a", b"a")
        self.wait_for_name("a")
        self.assertFalse(os.path.exists(self.path("b")))
        os.link(os.path.join(self.other.root, "a"), os.path.join(self.other.root, "b"))
        self.wait_for_name("b")
        self.wait_for(lambda: os.stat(self.path("a")).st_nlink, 2)
        os.unlink(os.path.join(self.other.root, "a"))
        self.wait_for_name("a", exists=False)
        self.wait_for(lambda: os.stat(self.path("b")).st_nlink, 1)

    def test_implied_directories_come_and_go(self):
        self.bucket.upload_from_stream("x/y/z", b"z")
        unseen = self.bucket.upload_from_stream("p/q/r", b"r")
        self.wait_for_name("x/y/z")
        self.wait_for_name("p/q")
        self.database["fs.files"].delete_one({"filename": "x/y/z"})
        self.wait_for_name("x", exists=False)
        # The mount has never seen this file, only the directories above it.
        self.database["fs.files"].delete_one({"_id": unseen})
        self.wait_for_name("p", exists=False)

    def test_file_beside_a_directory_of_its_name(self):
        self.bucket.upload_from_stream("a", b"a")
        self.wait_for(lambda: os.path.isfile(self.path("a")))
        self.bucket.upload_from_stream("a/b", b"b")
        self.wait_for(lambda: os.path.isdir(self.path("a")))
        self.wait_for_name("%gridfs:file:a")
        self.database["fs.files"].delete_one({"filename": "a/b"})
        self.wait_for(lambda: os.path.isfile(self.path("a")))
        self.wait_for_name("%gridfs:file:a", exists=False)

    def test_working_directory_stays_while_others_write_into_it(self):
        os.makedirs(os.path.join(self.other.root, "folder/sub"))
        self.bucket.upload_from_stream("implied/a", b"a")
        for name in ("folder/sub", "implied"):
            self.wait_for_name(name)
            with subprocess.Popen(
                ["python3", "-c", "import os\nwhile input(): print(os.getcwd(), flush=True)"],
                cwd=self.path(name),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as inside:
                self.bucket.upload_from_stream(f"{name}/by-driver", b"x")
                self.write(f"{name}/by-mount", b"x")
                self.wait_for_name(f"{name}/by-driver")
                self.wait_for_name(f"{name}/by-mount")
                removed = self.database["fs.files"].find_one({"filename": f"{name}/by-driver"})
                self.bucket.delete(removed["_id"])
                self.wait_for_name(f"{name}/by-driver", exists=False)
                inside.stdin.write("where\n")
                inside.stdin.flush()
                self.assertEqual(inside.stdout.readline().strip(), self.path(name))
                inside.stdin.write("\n")

    def test_dropped_collections(self):
        self.write("a", b"a")
        os.mkdir(os.path.join(self.other.root, "folder"))
        self.wait_for_name("a")
        self.wait_for_name("folder")
        for name in self.database.list_collection_names():
            self.database[name].drop()
        self.bucket.upload_from_stream("new", b"new")
        self.wait_for(lambda: os.listdir(self.mount.root), ["new"])
        self.wait_for_name("a", exists=False)
        self.wait_for_name("folder", exists=False)

    def test_dropped_database(self):
        self.write("a", b"a")
        self.wait_for_name("a")
        self.client.drop_database(self.database.name)
        self.bucket.upload_from_stream("new", b"new")
        self.wait_for_name("a", exists=False)
        self.wait_for_name("new")
        # The stream that was opened after that works.
        self.bucket.upload_from_stream("newer", b"new")
        self.wait_for_name("newer")


class AtOnceTest(Followed):
    """Look-ups are answered while others change the files that they look up."""

    SECONDS = 8.0
    NAMES = [f"{folder}{letter}" for folder in ("", "made/", "implied/") for letter in "abcd"]

    def look(self, stop):
        while not stop.is_set():
            for name in self.NAMES:
                self.state(self.mount.root, name)
            for folder in ("", "made", "implied"):
                try:
                    with os.scandir(self.path(folder)) as entries:
                        for entry in entries:
                            entry.stat()
                except OSError:
                    pass

    @staticmethod
    def state(root, name):
        try:
            found = os.lstat(os.path.join(root, name))
            return found.st_mode, found.st_size, found.st_nlink
        except OSError as error:
            return type(error).__name__

    def change(self, chance):
        name = chance.choice(self.NAMES)
        path = os.path.join(self.other.root, name)
        files = self.database["fs.files"]
        kind = chance.randrange(7)
        if kind == 0:
            self.write(name, b"x" * chance.randrange(100))
        elif kind == 1:
            os.unlink(path)
        elif kind == 2:
            os.rename(path, os.path.join(self.other.root, chance.choice(self.NAMES)))
        elif kind == 3:
            os.chmod(path, chance.choice([0o600, 0o640, 0o644, 0o666]))
        elif kind == 4:
            self.bucket.upload_from_stream(name, b"x" * chance.randrange(100))
        elif kind == 5:
            files.delete_one({"filename": name})
        else:
            files.update_one({"filename": name}, {"$set": {"filename": chance.choice(self.NAMES)}})

    def test_answer_that_is_older_than_the_event(self):
        self.write("a", b"a")
        files = self.database["fs.files"]
        self.assertEqual(os.listdir(self.mount.root), ["a"])
        mount = self.mounted()  # it does not know the file

        def pause(mode):
            self.client.admin.command(
                "configureFailPoint",
                "waitAfterCommandFinishesExecution",
                mode=mode,
                data={"ns": files.full_name, "commands": ["find"]},
            )

        def mode_of_file():
            return os.stat(os.path.join(mount.root, "a")).st_mode & 0o777

        pause("alwaysOn")
        self.addCleanup(pause, "off")
        looker = threading.Thread(target=mode_of_file)
        looker.start()
        time.sleep(1)  # the server has read the document, and has not answered
        changed = files.update_one({"filename": "a"}, {"$set": {"metadata.posix.mode": 0o100604}})
        self.assertEqual(changed.modified_count, 1)
        time.sleep(1)  # the mount was told
        pause("off")
        looker.join()
        self.wait_for(mode_of_file, 0o604)

    def test_in_the_end_the_mount_shows_what_is_there(self):
        seed = random.randrange(2**32)
        chance = random.Random(seed)
        os.mkdir(os.path.join(self.other.root, "made"))
        stop = threading.Event()
        lookers = [threading.Thread(target=self.look, args=(stop,)) for _ in range(4)]
        for looker in lookers:
            looker.start()
        end = time.monotonic() + self.SECONDS
        while time.monotonic() < end:
            try:
                self.change(chance)
            except OSError:
                pass  # the name is not there, or is a driver's
        stop.set()
        for looker in lookers:
            looker.join()
        truth = self.mounted()  # it has cached nothing
        for name in self.NAMES:
            with self.subTest(seed=seed, name=name):
                self.wait_for(
                    lambda name=name: self.state(self.mount.root, name),
                    self.state(truth.root, name),
                )


class OwnChangesTest(Followed):
    def lookups(self):
        with open(self.path(".gridfs/stats.json"), encoding="utf-8") as file:
            operations = json.load(file)["operations"]
        return sum(operations.get(name, {}).get("count", 0) for name in ("lookup", "getattr"))

    def test_they_stay_in_the_cache(self):
        names = [f"file{number}" for number in range(20)]
        for name in names:
            with open(self.path(name), "wb") as file:
                file.write(b"content")
            os.stat(self.path(name))
        for name in names:
            os.chmod(self.path(name), 0o640)
        # The mount hears of this change after it has heard of its own changes.
        self.assertFalse(os.path.exists(self.path("last")))
        self.write("last", b"last")
        self.wait_for_name("last")
        before = self.lookups()
        for name in names:
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o640)
        self.assertLess(self.lookups() - before, len(names) // 2)


class BrokenStreamTest(Followed):
    def fail(self, mode, **data):
        self.client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)

    def is_broken(self):
        """Returns True if the stream is broken now. It may have failed before, for example because
        the servers had just started."""
        log = self.mount.log()
        return log.count("the change stream has failed") > log.count("the change stream works again")

    def test_killed_server(self):
        self.write("a", b"a")
        self.wait_for_name("a")
        self.assertFalse(os.path.exists(self.path("b")))
        self.servers.kill()
        self.servers.start_again()
        self.bucket.upload_from_stream("b", b"b")
        self.database["fs.files"].delete_one({"filename": "a"})
        self.wait_for_name("a", exists=False)
        self.wait_for_name("b")

    def test_primary_steps_down(self):
        self.write("a", b"a")
        self.wait_for_name("a")
        self.assertFalse(os.path.exists(self.path("b")))
        self.client.admin.command("replSetStepDown", 1, force=True)
        self.servers.wait_for_primary()
        self.database["fs.files"].delete_one({"filename": "a"})
        self.bucket.upload_from_stream("b", b"b")
        self.wait_for_name("a", exists=False)
        self.wait_for_name("b")

    def test_changes_while_the_stream_is_broken(self):
        self.write("a", b"a")
        self.wait_for_name("a")
        self.assertFalse(os.path.exists(self.path("b")))
        self.fail(
            "alwaysOn", failCommands=["aggregate", "getMore"], errorCode=91, appName="gridmount"
        )
        self.addCleanup(self.fail, "off")
        # A request that waits for changes when this begins still gets them.
        self.wait_for(self.is_broken)
        # Such changes may have been changes of `a`, because writing a file makes several. From now
        # on `a` is cached.
        self.assertTrue(os.path.exists(self.path("a")))
        # The open handle keeps the kernel from dropping `a` if it needs memory.
        held = os.open(self.path("a"), os.O_PATH)
        self.addCleanup(os.close, held)
        self.bucket.upload_from_stream("b", b"b")
        self.database["fs.files"].delete_one({"filename": "a"})
        time.sleep(1.5)
        # Without the stream the mount does not learn of the removal.
        self.assertTrue(os.path.exists(self.path("a")), self.mount.log())
        self.fail("off")
        self.wait_for_name("a", exists=False)
        self.wait_for_name("b")
        self.assertNotIn("missed", self.mount.log())

    def test_lost_history_drops_everything(self):
        self.write("a", b"a")
        os.makedirs(os.path.join(self.other.root, "folder/sub"))
        self.write("folder/c", b"c")
        for name in ("a", "folder/sub", "folder/c"):
            self.wait_for_name(name)
        for name in ("b", "folder/d"):
            self.assertFalse(os.path.exists(self.path(name)))
        self.fail(
            "alwaysOn", failCommands=["aggregate", "getMore"], errorCode=286, appName="gridmount"
        )
        self.addCleanup(self.fail, "off")
        time.sleep(1.5)
        self.bucket.upload_from_stream("b", b"b")
        self.bucket.upload_from_stream("folder/d", b"d")
        self.database["fs.files"].delete_many({"filename": {"$in": ["a", "folder/c"]}})
        self.database["fs.directories"].delete_one({"name": "sub"})
        self.fail("off")
        for name in ("a", "folder/sub", "folder/c"):
            self.wait_for_name(name, exists=False)
        for name in ("b", "folder/d"):
            self.wait_for_name(name)


class EndTest(Followed):
    def test_unmount_while_the_stream_waits(self):
        self.write("a", b"a")
        self.wait_for_name("a")
        unmount(self.mount.mount_point)
        self.assertFalse(is_mounted(self.mount.mount_point))
        self.assertEqual(self.mount.process.wait(timeout=ENDED_WITHIN_SECONDS), 0)
        self.mount.process = None

    def test_unmount_while_the_server_does_not_answer(self):
        self.servers.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(1)
            unmount(self.mount.mount_point)
            self.mount.process.wait(timeout=ENDED_WITHIN_SECONDS)
            self.mount.process = None
        finally:
            self.servers.process.send_signal(signal.SIGCONT)


class UsersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_mongod()
        cls.key = tempfile.NamedTemporaryFile("w")  # pylint: disable=consider-using-with
        cls.key.write("c2VjcmV0IG9mIHRoZSBzZXQ=")
        cls.key.flush()
        os.chmod(cls.key.name, 0o600)
        cls.servers = ReplicaSet(auth=True, options=("--keyFile", cls.key.name))
        cls.servers.__enter__()
        cls.client = cls.servers.root_client()
        cls.client.media["fs.files"].insert_one(
            {"_id": 1, "length": 0, "chunkSize": 1024, "filename": "a/b", "uploadDate": None}
        )
        cls.client.media.command(
            "createRole",
            "finder",
            privileges=[
                {
                    "resource": {"db": "media", "collection": ""},
                    "actions": ["find", "listCollections", "listIndexes", "dbStats"],
                }
            ],
            roles=[],
        )
        cls.client.media.command(
            "createUser", "reader", pwd="reads", roles=[{"role": "read", "db": "media"}]
        )
        cls.client.media.command(
            "createUser", "finder", pwd="finds", roles=[{"role": "finder", "db": "media"}]
        )

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.servers.__exit__(None, None, None)
        cls.key.close()

    def mounted(self, user):
        uri = f"mongodb://{user}@{self.servers.address}/media"
        mount = Deployment(uri=uri, options=(CACHES_LONG, "-o", "ro"))
        self.addCleanup(mount.cleanup)
        mount.command = lambda: [
            os.environ["GRIDMOUNT"], "-f", *mount.options, uri, mount.mount_point,
        ]
        mount.start()
        return mount

    def test_reader_follows(self):
        mount = self.mounted("reader:reads")
        path = os.path.join(mount.root, "a/new")
        self.assertFalse(os.path.exists(path))
        gridfs.GridFSBucket(self.client.media).upload_from_stream("a/new", b"content")
        deadline = time.monotonic() + SEEN_WITHIN_SECONDS
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_user_without_the_right_is_told(self):
        mount = self.mounted("finder:finds")
        self.assertEqual(os.listdir(mount.root), ["a"])
        self.assertEqual(mount.log().count("change stream"), 1, mount.log())
        self.assertIn("not authorized", mount.log())


class StandaloneTest(unittest.TestCase):
    def test_it_is_said(self):
        require_mongod()
        with Mongod() as server:
            mount = Deployment(uri=f"mongodb://{server.address}/media")
            self.addCleanup(mount.cleanup)
            mount.start()
            self.assertEqual(mount.log().count("no change streams"), 1, mount.log())
            with server.client() as client:
                gridfs.GridFSBucket(client.media).upload_from_stream("a", b"content")
            deadline = time.monotonic() + SEEN_WITHIN_SECONDS
            while not os.path.exists(os.path.join(mount.root, "a")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
