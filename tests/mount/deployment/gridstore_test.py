#!/usr/bin/env python3
"""gridstore check, --repair, dump, restore and stats of a deployment, while others use it.

Goal: damage is found and repaired as in a store in a folder; files that others are writing are
never taken for damage, and no repair touches them; a dump restores into a store in a folder and
back.
"""

import datetime
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import gridfs
import pymongo
from bson import ObjectId
from deployment import Deployment, ReplicaSet
from mongod import PASSWORD, ROOT, Mongod, require_mongod

OLD = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=3)
WRITING_SECONDS = 8.0
CHECKS_MIN = 3


class GridstoreCase(unittest.TestCase):
    """A test with its own server: a replica set, or a standalone server if `standalone` is true."""

    standalone = False

    def setUp(self):
        require_mongod()
        self.servers = Mongod() if self.standalone else ReplicaSet()
        self.servers.__enter__()
        self.addCleanup(self.servers.__exit__, None, None, None)
        self.scratch = tempfile.mkdtemp(prefix="gridstore-test-")
        self.addCleanup(shutil.rmtree, self.scratch)
        if self.standalone:
            self.uri = f"mongodb://{self.servers.address}/test?directConnection=true"
        else:
            self.uri = self.servers.uri("test")
        self.client = pymongo.MongoClient(self.uri)
        self.addCleanup(self.client.close)
        self.db = self.client.test

    def run_gridstore(self, *arguments, environment=None):
        return subprocess.run(
            [os.environ["GRIDSTORE"], *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **(environment or {})},
            cwd=self.scratch,
        )

    def gridstore(self, *arguments, status=0):
        run = self.run_gridstore(*arguments)
        self.assertEqual(run.returncode, status, (arguments, run.stdout, run.stderr))
        return run.stdout + run.stderr

    def put(self, name, content, **fields):
        return gridfs.GridFS(self.db).put(content, filename=name, **fields)

    def mount(self, *options):
        mount = Deployment(uri=self.uri, options=options)
        self.addCleanup(mount.cleanup)
        mount.start()
        return mount

    def orphans(self, count, made):
        file_id = ObjectId()
        for n in range(count):
            self.db.fs.chunks.insert_one(
                {"_id": self.made(made, n), "files_id": file_id, "n": n, "data": b"x"}
            )
        return file_id

    @staticmethod
    def made(when, n):
        return ObjectId(ObjectId.from_datetime(when).binary[:4] + os.urandom(6) + n.to_bytes(2, "big"))


class CheckTest(GridstoreCase):
    def test_a_sound_bucket_has_no_problems(self):
        for n in range(20):
            self.put(f"driver{n}", os.urandom(n * 50_000), md5=None)
        mount = self.mount()
        os.makedirs(os.path.join(mount.root, "a/b"))
        with open(os.path.join(mount.root, "a/b/file"), "wb") as file:
            file.write(os.urandom(600_000))
        os.link(os.path.join(mount.root, "a/b/file"), os.path.join(mount.root, "second name"))
        said = self.gridstore("check", self.uri)
        self.assertIn("no problems", said)
        self.assertIn("21 files", said)
        summary = json.loads(self.gridstore("check", "--json", self.uri).splitlines()[-1])
        self.assertEqual((summary["files"], summary["contentProblems"]), (21, 0))
        self.assertNotIn("collections", summary)

    def test_damage_is_found_and_repaired(self):
        content = os.urandom(700_000)
        sound = self.put("sound", content)
        cut = self.put("cut", os.urandom(700_000))
        self.db.fs.chunks.delete_one({"files_id": cut, "n": 1})
        wrong = self.put("wrong md5", b"content")
        self.db.fs.files.update_one({"_id": wrong}, {"$set": {"md5": "0" * 32}})
        old = self.orphans(3, OLD)
        young = self.orphans(2, datetime.datetime.now(datetime.timezone.utc))
        unknown = ObjectId()
        self.db.fs.chunks.insert_one({"_id": "name", "files_id": unknown, "n": 0, "data": b"x"})
        self.db.fs.directories.insert_one({"parent": "not/there", "name": "child"})
        self.db.fs.directories.create_index([("parent", 1), ("name", 1)], unique=True)
        self.db.fs.links.insert_one({"_id": "stray", "file": ObjectId()})
        self.db.fs.links.insert_one({"_id": 7, "file": sound})
        self.db.fs.links.insert_one({"_id": "sound", "file": sound})
        self.db.fs.links.insert_one({"_id": "other", "file": sound})
        self.db.fs.links.create_index("file")
        self.db.fs.files.drop_index("filename_1_uploadDate_1")

        said = self.gridstore("check", self.uri, status=2)
        for expected in (
            "missing chunks: 1",
            "md5 is 00000000000000000000000000000000",
            "3 orphan chunks",
            "an upload that has not ended",
            "which has no document",
            "the name `stray` leads to a file that is gone",
            "the name 7 is not an additional name of its file",
            "the name `sound` is not an additional name of its file",
            "records 0 additional names, but there is 1",
            "lacks its index {filename: 1, uploadDate: 1}",
        ):
            self.assertIn(expected, said)
        keep = os.path.join(self.scratch, "keep")
        said = self.gridstore("check", "--repair", "--keep", keep, self.uri, status=2)
        self.assertIn("2 chunks without a files document are left", said)
        self.assertIn("does not say when it was made", said)
        self.assertEqual(self.db.fs.chunks.count_documents({"files_id": old}), 0)
        self.assertEqual(self.db.fs.chunks.count_documents({"files_id": young}), 2)
        self.assertEqual(self.db.fs.chunks.count_documents({"files_id": unknown}), 1)
        self.assertEqual(gridfs.GridFS(self.db).get(sound).read(), content)
        self.assertNotIn("md5", self.db.fs.files.find_one({"_id": wrong}))
        self.assertEqual([link["_id"] for link in self.db.fs.links.find()], ["other"])
        self.assertIsNone(self.db.fs.files.find_one({"_id": cut}))
        moved = self.db["lost+found"].files.find_one({"metadata.lostAndFound._id": cut})
        self.assertEqual(moved["filename"], "fs/cut")
        self.assertNotIn("moving", moved["metadata"]["lostAndFound"])
        self.assertTrue(os.listdir(keep))
        # Only the chunk of unknown age is left.
        said = self.gridstore("check", "--repair", "--grace", "0", self.uri)
        self.assertIn("no problems", said)
        self.assertEqual(self.db.fs.chunks.count_documents({"files_id": unknown}), 0)
        self.assertIn("no problems", self.gridstore("check", self.uri))

    def test_nothing_of_others_is_taken_for_damage(self):
        """Drivers upload and delete, and mounts write, rename and link, while checks and repairs
        run."""
        errors = []
        ends = time.monotonic() + WRITING_SECONDS
        expected = {}

        def guarded(work):
            def run():
                try:
                    work()
                except Exception as error:  # noqa: BLE001
                    errors.append(error)

            return run

        def drive():
            with pymongo.MongoClient(self.uri) as client:
                files = gridfs.GridFS(client.test)
                n = 0
                while time.monotonic() < ends:
                    n += 1
                    content = os.urandom(300_000)
                    made = files.put(content, filename=f"driver/{n}")
                    if n % 2 == 0:
                        files.delete(made)
                    else:
                        expected[f"driver/{n}"] = hashlib.sha256(content).hexdigest()

        mount = self.mount()

        def write():
            n = 0
            os.mkdir(os.path.join(mount.root, "mount"))
            while time.monotonic() < ends:
                n += 1
                folder = os.path.join(mount.root, f"mount/{n}")
                os.mkdir(folder)
                content = os.urandom(400_000)
                for _ in range(3):
                    with open(os.path.join(folder, "file"), "wb") as file:
                        file.write(content)
                os.link(os.path.join(folder, "file"), os.path.join(folder, "link"))
                os.rename(folder, folder + ".new")
                if n % 2 == 0:
                    shutil.rmtree(folder + ".new")
                else:
                    expected[f"mount/{n}.new/file"] = hashlib.sha256(content).hexdigest()

        writers = [threading.Thread(target=guarded(work)) for work in (drive, write)]
        for writer in writers:
            writer.start()
        checks = 0
        while time.monotonic() < ends or checks < CHECKS_MIN:
            said = self.run_gridstore("check", self.uri)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            said = self.run_gridstore("check", "--repair", self.uri)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            self.assertNotIn("repaired", said.stdout)
            checks += 1
        for writer in writers:
            writer.join()
        self.assertEqual(errors, [])
        self.assertGreater(len(expected), 4)
        for name, digest in expected.items():
            with open(os.path.join(mount.root, name), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), digest, name)
        self.assertNotIn("lost+found.files", self.db.list_collection_names())


    def test_collections_of_applications_are_left_alone(self):
        self.put("file", b"content")
        self.db.project.files.insert_many([{"title": n} for n in range(3)])
        self.db.ldap.directories.insert_many([{"host": n} for n in range(3)])
        self.db.site.links.insert_many([{"url": n} for n in range(3)])
        self.db.command("create", "seen.files", viewOn="fs.files", pipeline=[])
        self.db.seen.chunks.insert_one({"application": "data"})
        names = ["project.files", "ldap.directories", "site.links", "seen.chunks"]
        before = {name: (list(self.db[name].find()), self.db[name].index_information()) for name in names}
        self.assertIn("read 1 bucket,", self.gridstore("check", self.uri))
        self.gridstore("check", "--repair", "--grace", "0", self.uri)
        after = {name: (list(self.db[name].find()), self.db[name].index_information()) for name in names}
        self.assertEqual(after, before)
        said = self.gridstore("check", "--repair", self.uri.replace("/test?", "/?"), status=1)
        self.assertIn("a repair works on one database", said)

    def test_duplicates_that_others_remove_meanwhile_are_left_to_them(self):
        count, contested = 1000, 50
        made = self.put("doubled", bytes(n % 251 for n in range(count)), chunkSize=1)
        chunks = self.db.fs.chunks
        chunks.drop_index("files_id_1_n_1")
        first = {chunk["n"]: chunk for chunk in chunks.find({"files_id": made})}
        second = {n: {**chunk, "_id": ObjectId()} for n, chunk in first.items()}
        chunks.insert_many(second.values())
        doomed = [(first if n % 2 else second)[n]["_id"] for n in range(count - contested, count)]

        keep = os.path.join(self.scratch, "keep")

        def remove():
            """Removes duplicates after the repair has found them, during its first transaction."""
            ends = time.monotonic() + 60
            while not os.path.exists(os.path.join(keep, "test.fs.chunks.bson")):
                if time.monotonic() > ends:
                    return
                time.sleep(0.001)
            chunks.delete_many({"_id": {"$in": doomed}})

        other = threading.Thread(target=remove)
        other.start()
        said = self.gridstore("check", "--repair", "--keep", keep, self.uri)
        other.join()
        self.assertIn("no problems", said)
        self.assertEqual(chunks.count_documents({"_id": {"$in": doomed}}), 0)
        self.assertEqual(chunks.count_documents({}), count)

    def test_an_interrupted_move_is_completed_and_spares_a_new_upload_of_the_same_id(self):
        cut = self.put("cut", os.urandom(1_200_000), _id="mine")
        self.db.fs.chunks.delete_one({"files_id": cut, "n": 1})
        self.gridstore("check", "--repair", self.uri)
        moved = self.db["lost+found"].files.find_one({"metadata.lostAndFound._id": "mine"})
        # Makes the state of a repair that was killed after its first transaction, and uploads
        # "mine" again.
        self.db["lost+found"].files.update_one(
            {"_id": moved["_id"]}, {"$set": {"metadata.lostAndFound.moving": True}}
        )
        content = os.urandom(700_000)
        self.put("mine", content, _id="mine")
        self.gridstore("check", "--repair", self.uri)
        self.assertEqual(gridfs.GridFS(self.db).get("mine").read(), content)
        moved = self.db["lost+found"].files.find_one({"_id": moved["_id"]})
        self.assertNotIn("moving", moved["metadata"]["lostAndFound"])
        # The same without the upload: the chunks that are left move.
        gridfs.GridFS(self.db).delete("mine")
        self.db["lost+found"].files.update_one(
            {"_id": moved["_id"]}, {"$set": {"metadata.lostAndFound.moving": True}}
        )
        chunk = self.db["lost+found"].chunks.find_one_and_delete({"files_id": moved["_id"], "n": 2})
        self.db.fs.chunks.insert_one({"files_id": "mine", "n": 2, "data": chunk["data"]})
        self.gridstore("check", "--repair", self.uri)
        again = self.db["lost+found"].chunks.find_one({"files_id": moved["_id"], "n": 2})
        self.assertEqual(again["data"], chunk["data"])
        self.assertEqual(self.db.fs.chunks.count_documents({}), 0)


class StandaloneCheckTest(GridstoreCase):
    standalone = True

    def test_damage_is_found_and_repaired(self):
        content = os.urandom(700_000)
        sound = self.put("sound", content)
        cut = self.put("cut", os.urandom(700_000))
        self.db.fs.chunks.delete_one({"files_id": cut, "n": 1})
        self.assertIn("missing chunks: 1", self.gridstore("check", self.uri, status=2))
        self.gridstore("check", "--repair", self.uri)
        self.assertEqual(gridfs.GridFS(self.db).get(sound).read(), content)
        self.assertEqual(self.db["lost+found"].files.count_documents({}), 1)


class DumpTest(GridstoreCase):
    def fill(self):
        self.put("file", os.urandom(600_000))
        self.db.things.insert_many([{"_id": n, "text": "x" * 100} for n in range(500)])
        self.db.things.create_index("text", name="by text")
        self.db.create_collection("capped", capped=True, size=1 << 20)
        self.db.command("create", "view", viewOn="things", pipeline=[{"$match": {"_id": 1}}])

    def contents(self, db):
        names = [n for n in db.list_collection_names() if not n.startswith("system.")]
        return {
            name: (
                sorted(db[name].find(), key=lambda document: str(document["_id"])),
                sorted(db[name].index_information()) if name != "view" else None,
            )
            for name in names
        }

    def test_dump_and_restore(self):
        self.fill()
        before = self.contents(self.db)
        dump = os.path.join(self.scratch, "dump")
        said = self.gridstore("dump", "--out", dump, self.uri)
        self.assertIn("0 failures", said)
        store = os.path.join(self.scratch, "store")
        self.assertIn("0 failures", self.gridstore("restore", "--create", store, dump))
        self.assertIn("no problems", self.gridstore("check", store))
        back = os.path.join(self.scratch, "back")
        self.gridstore("dump", "--out", back, store)
        self.client.drop_database("test")
        self.assertIn("0 failures", self.gridstore("restore", self.uri, back))
        self.assertEqual(self.contents(self.db), before)
        # Every document is there already: each is refused, and nothing else happens.
        said = self.gridstore("restore", self.uri, back, status=1)
        self.assertIn("E11000", said)
        self.assertEqual(self.contents(self.db), before)
        self.db.things.delete_many({"_id": {"$in": [3, 77, 499]}})
        self.gridstore("restore", self.uri, back, status=1)
        self.assertEqual(self.contents(self.db), before)
        self.assertIn("0 failures", self.gridstore("restore", "--drop", self.uri, back))
        self.assertEqual(self.contents(self.db), before)

    def test_an_archive_into_another_database(self):
        self.fill()
        archive = os.path.join(self.scratch, "archive.gz")
        self.gridstore("dump", f"--archive={archive}", "--gzip", self.uri)
        other = self.uri.replace("/test?", "/?")
        self.gridstore(
            "restore", f"--archive={archive}", "--gzip", "--nsFrom=test.*", "--nsTo=copy.*", other
        )
        self.assertEqual(self.contents(self.client.copy), self.contents(self.db))

    def test_of_all_databases_the_deployments_own_are_left_out(self):
        self.fill()
        dump = os.path.join(self.scratch, "all")
        said = self.gridstore("dump", "--out", dump, self.uri.replace("/test?", "/?"))
        self.assertEqual(sorted(os.listdir(dump)), ["prelude.json", "test"], said)
        self.gridstore("restore", "--drop", self.uri.replace("/test?", "/?"), dump)

    def test_stats(self):
        self.fill()
        said = self.gridstore("stats", self.uri)
        self.assertIn("deployment  mongodb://", said)
        self.assertRegex(said, r"things +500 documents")
        shown = json.loads(self.gridstore("stats", "--json", self.uri))
        self.assertEqual([database["db"] for database in shown["databases"]], ["test"])
        everything = json.loads(self.gridstore("stats", "--json", self.uri.replace("/test?", "/?")))
        self.assertEqual([database["db"] for database in everything["databases"]], ["test"])

    def test_top_shows_what_others_do(self):
        stop = threading.Event()

        def read():
            while not stop.is_set():
                self.client.test.things.find_one()
                time.sleep(0.01)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            lines = self.gridstore("top", "--json", "--interval", "1", "--count", "2", self.uri).splitlines()
        finally:
            stop.set()
            reader.join()
        for shown in map(json.loads, lines):
            self.assertIn("test.things query", [activity["name"] for activity in shown["activities"]])
            self.assertGreater(shown["rates"]["query"], 0)
            # The drivers of others always wait for the server's next state.
            self.assertNotRegex(str(shown["pending"]), "(?i)hello|ismaster|currentop")

    def test_bad_input(self):
        uri = self.uri
        for arguments, message in (
            (["backup", uri, "folder"], "a connection string is not a store folder"),
            (["compact", uri], "a connection string is not a store folder"),
            (["check", "--db", "other", uri], "contradicts the connection string"),
            (["dump", "--db", "other", uri], "contradicts the connection string"),
            (["restore", "--create", uri, "dump"], "--create is for stores in folders"),
            (["check", "--password-file", "p", "folder"], "--password-file is for MongoDB deployments"),
            (["check", "--server-timeout", "5", "folder"], "--server-timeout is for MongoDB deployments"),
            (["stats", "--server-timeout", "5", "folder"], "--server-timeout is for MongoDB deployments"),
            (["check", "mongodb://"], "not a MongoDB URI"),
            (["check", "mongodb:/host"], "a connection string begins with mongodb://"),
            (["stats", "mongodb:/host"], "a connection string begins with mongodb://"),
        ):
            run = self.run_gridstore(*arguments)
            self.assertEqual(run.returncode, 1, (arguments, run.stdout, run.stderr))
            self.assertIn(message, run.stderr, arguments)
        # No such database.
        absent = uri.replace("/test?", "/absent?")
        run = self.run_gridstore("check", absent)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("has no database", run.stderr)
        unreachable = self.run_gridstore(
            "check", "--server-timeout", "1", "mongodb://127.0.0.1:1/test"
        )
        self.assertEqual(unreachable.returncode, 25, unreachable.stderr)
        self.assertIn("check the addresses", unreachable.stderr)


class LogInTest(unittest.TestCase):
    def test_password_file_and_wrong_password(self):
        require_mongod()
        with tempfile.TemporaryDirectory() as scratch, Mongod(auth=True) as server:
            password = os.path.join(scratch, "password")
            with open(password, "w") as file:
                file.write(PASSWORD + "\n")
            uri = f"mongodb://{ROOT}@{server.address}/test?authSource=admin&directConnection=true"

            def stats(file):
                return subprocess.run(
                    [os.environ["GRIDSTORE"], "stats", "--password-file", file, uri],
                    capture_output=True,
                    text=True,
                )

            self.assertEqual(stats(password).returncode, 0, stats(password).stderr)
            with open(password, "w") as file:
                file.write("wrong\n")
            refused = stats(password)
            self.assertEqual(refused.returncode, 15, refused.stderr)


if __name__ == "__main__":
    unittest.main()
