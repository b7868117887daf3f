"""Goal: drivers and the mount use one store at the same time, and each sees the other's changes at
once.

Method: the driver is Debian's pymongo with its gridfs module, on the socket in the store's folder.
Before each change by the driver, the test makes the kernel cache existing and absent names.
"""

import errno
import os
import threading
import time
import urllib.parse

import bson
import gridfs
import pymongo

from mount_case import MountCase, gridmount_only, main

MEBIBYTE = 1 << 20


def pattern(seed, size):
    return bytes((seed + i * 7 + i // 253) & 0xFF for i in range(min(size, 65536))) * (
        size // 65536 + 1
    )


def content(seed, size):
    return pattern(seed, size)[:size]


@gridmount_only
class Wire(MountCase):
    def setUp(self):
        super().setUp()
        self.connect()

    def connect(self):
        socket = os.path.join(self.system.store, "gridmount.sock")
        address = "mongodb://" + urllib.parse.quote_plus(socket)
        self.client = pymongo.MongoClient(address, serverSelectionTimeoutMS=10_000)
        self.addCleanup(self.client.close)
        self.db = self.client["test"]
        self.bucket = gridfs.GridFS(self.db)

    def read(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read()

    def write(self, data, *parts):
        with open(self.path(*parts), "wb") as file:
            file.write(data)

    def assert_missing(self, *parts):
        with self.assertRaises(OSError) as caught:
            os.stat(self.path(*parts))
        self.assertEqual(caught.exception.errno, errno.ENOENT, parts)

    def stop_and_check(self):
        self.client.close()
        self.system.stop()
        self.check_store()

    def test_Uploads_ShowAtOnce_WhereTheKernelKnewOfNothing(self):
        names = ["a", "folder/b", "folder/deeper/c", "%strange name", "ünïcödé/日本"]
        for i, name in enumerate(names):
            self.assert_missing(name)
            os.listdir(self.root)
            data = content(i, 700_000)
            self.bucket.put(data, filename=name)
            self.assertEqual(self.read(name), data)
            self.assertIn(name.split("/")[0], os.listdir(self.root))
        self.assertEqual(sorted(os.listdir(self.path("folder"))), ["b", "deeper"])
        self.stop_and_check()

    def test_Uploads_IntoDirectoriesThatTheMountMade_TakeTheirNames(self):
        def create(*parts):
            os.close(os.open(self.path(*parts), os.O_CREAT | os.O_EXCL | os.O_WRONLY))

        os.makedirs(self.path("made", "deeper"))
        names = ["made/a", "made/deeper/b", "made/implied/c"]
        for i, name in enumerate(names):
            create(f"made/before {i}")
            self.assert_missing(name)
            data = content(i, 3000)
            self.bucket.put(data, filename=name)
            with self.assertRaises(FileExistsError):
                create(name)
            self.assertEqual(self.read(name), data)
            with self.assertRaises(FileExistsError):
                os.mkdir(self.path(name))
        id = self.bucket.put(b"content", filename="elsewhere")
        os.mkdir(self.path("new"))
        self.db.fs.files.update_one({"_id": id}, {"$set": {"filename": "new/renamed"}})
        with self.assertRaises(FileExistsError):
            create("new/renamed")
        self.stop_and_check()

    def test_NewRevisions_TakeTheName_OpenFilesKeepTheirs(self):
        old, new = content(1, 300_000), content(2, 900_000)
        self.bucket.put(old, filename="r")
        self.assertEqual(self.read("r"), old)
        with open(self.path("r"), "rb") as before:
            self.assertEqual(before.read(1000), old[:1000])
            self.bucket.put(new, filename="r")
            self.assertEqual(os.stat(self.path("r")).st_size, len(new))
            self.assertEqual(self.read("r"), new)
            self.assertEqual(before.read(), old[1000:])
        self.stop_and_check()

    def test_Deletes_ShowAtOnce(self):
        for name in ("one", "folder/only"):
            id = self.bucket.put(content(3, 1000), filename=name)
            self.assertEqual(len(self.read(name)), 1000)
            os.listdir(self.root)
            self.bucket.delete(id)
            self.assert_missing(name)
        self.assert_missing("folder")
        self.assertEqual(os.listdir(self.root), [])
        self.stop_and_check()

    def test_Renames_ShowAtOnce(self):
        id = self.bucket.put(content(4, 5000), filename="from/name")
        self.assertEqual(len(self.read("from/name")), 5000)
        self.assert_missing("to")
        self.db.fs.files.update_one({"_id": id}, {"$set": {"filename": "to/other"}})
        self.assertEqual(len(self.read("to/other")), 5000)
        self.assert_missing("from")
        self.stop_and_check()

    def test_ContentInPlace_IsReadAnew(self):
        id = self.bucket.put(content(5, 2000), filename="f")
        self.assertEqual(self.read("f"), content(5, 2000))
        other = content(6, 1500)
        self.db.fs.chunks.update_one({"files_id": id}, {"$set": {"data": bson.Binary(other)}})
        self.db.fs.files.update_one(
            {"_id": id}, {"$set": {"length": 1500}, "$unset": {"md5": 1}}
        )
        self.assertEqual(os.stat(self.path("f")).st_size, 1500)
        self.assertEqual(self.read("f"), other)
        self.stop_and_check()

    def test_Attributes_ShowAtOnce(self):
        self.write(b"x", "f")
        self.assertEqual(os.stat(self.path("f")).st_mode & 0o777, 0o644)
        [file] = self.db.fs.files.find({"filename": "f"})
        self.assertIn("metadata", file)
        os.chmod(self.path("f"), 0o640)
        mode = self.db.fs.files.find_one({"filename": "f"})["metadata"]
        self.db.fs.files.update_one({"_id": file["_id"]}, {"$unset": {"metadata": 1}})
        self.assertNotEqual(mode, {})
        self.assertEqual(os.stat(self.path("f")).st_mode & 0o777, 0o644)

    def test_ExtendedAttributes_ShowAtOnce(self):
        self.write(b"x", "f")
        for value in (b"a", b"b"):
            self.assertEqual(os.listxattr(self.path("f")), [])
            self.set_xattrs([{"name": "user.by_driver", "value": value.decode()}])
            self.assertEqual(os.getxattr(self.path("f"), "user.by_driver"), value)
            self.set_xattrs([])
        self.assertEqual(os.listxattr(self.path("f")), [])

    def set_xattrs(self, xattrs):
        change = {"$set": {"metadata.posix.xattrs": xattrs}}
        self.db.fs.files.update_one({"filename": "f"}, change)

    def test_FilesOfTheMount_AreTheDriversOnClose(self):
        for i in range(20):
            data = content(i, 100_000 * i)
            self.write(data, f"file{i}")
            self.assertEqual(self.bucket.get_last_version(f"file{i}").read(), data)
        os.unlink(self.path("file7"))
        self.assertFalse(self.bucket.exists(filename="file7"))
        os.mkdir(self.path("d"))
        os.rename(self.path("file8"), self.path("d/file8"))
        self.assertTrue(self.bucket.exists(filename="d/file8"))
        self.stop_and_check()

    def test_OtherBuckets_AppearAndGo(self):
        photos = gridfs.GridFS(self.db, "photos")
        photos.put(b"x" * 10, filename="a/b.jpg")
        self.assertIn("photos", os.listdir(self.system.mount_point))
        inside = os.path.join(self.system.mount_point, "photos", "a", "b.jpg")
        self.assertEqual(os.stat(inside).st_size, 10)
        photos.put(b"y" * 20, filename="a/b.jpg")
        self.assertEqual(os.stat(inside).st_size, 20)
        self.db.drop_collection("photos.files")
        self.db.drop_collection("photos.chunks")
        self.assertFalse(os.path.exists(inside))
        self.stop_and_check()

    def test_BothUnderLoad_AgreeInTheEnd(self):
        rounds = 60
        failures = []

        def guarded(work):
            def run():
                try:
                    work()
                except Exception as error:  # told by the test, whichever thread it was in
                    failures.append(repr(error))

            return threading.Thread(target=run)

        def drive(worker):
            def work():
                for i in range(rounds):
                    name = f"driver{worker}/{i % 10}"
                    data = content(worker * 100 + i, 40_000 + 9000 * i)
                    self.bucket.put(data, filename=name)
                    assert self.read(name) == data, name

            return work

        def mount(worker):
            def work():
                os.mkdir(self.path(f"mount{worker}"))
                for i in range(rounds):
                    name = f"mount{worker}/{i % 10}"
                    data = content(worker * 100 + i, 30_000 + 8000 * i)
                    self.write(data, name)
                    assert self.bucket.get_last_version(name).read() == data, name

            return work

        threads = [guarded(drive(i)) for i in range(3)] + [guarded(mount(i)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(200)
        self.assertEqual(failures, [])
        self.assertFalse(any(thread.is_alive() for thread in threads))
        for worker in range(3):
            self.assertEqual(len(os.listdir(self.path(f"driver{worker}"))), 10)
            self.assertEqual(len(os.listdir(self.path(f"mount{worker}"))), 10)
        self.stop_and_check()

    def test_ADeadOwnersSocket_IsNotWaitedFor(self):
        with open(self.path("left"), "wb") as file:
            file.write(b"12345")
        self.client.close()
        self.system.kill()
        self.assertTrue(os.path.exists(os.path.join(self.system.store, "gridmount.sock")))
        began = time.monotonic()
        self.assertIn(b"left\t5", self.gridfiles("list"))
        # A driver would look for its server for 30.
        self.assertLess(time.monotonic() - began, 20)

    def test_TheSocket_IsTheOwnersAlone_AndGoesWithTheMount(self):
        socket = os.path.join(self.system.store, "gridmount.sock")
        self.assertEqual(os.stat(socket).st_mode & 0o777, 0o600)
        self.client.close()
        self.system.stop()
        self.assertFalse(os.path.exists(socket))
        self.system.start()
        self.connect()
        self.assertEqual(self.client.admin.command("ping")["ok"], 1)
        self.system.kill()
        self.system.start()  # over the dead owner's socket
        self.connect()
        self.assertEqual(self.client.admin.command("ping")["ok"], 1)


if __name__ == "__main__":
    main()
