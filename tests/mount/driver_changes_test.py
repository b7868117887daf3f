"""Goal: when a driver gets the reply to a change, the change has the right effect on open files, on
directories and on a bucket.
"""

import contextlib
import datetime
import errno
import os

import gridfs

from driver_client import DriverCase, call
from mount_case import gridmount_only, main

LARGE = 3_000_000
IN_CREATE, IN_DELETE = 0x100, 0x200


@gridmount_only
class DriverChanges(DriverCase):
    def setUp(self):
        super().setUp()
        self.bucket = gridfs.GridFS(self.db)
        self.content = os.urandom(LARGE)
        self.file_id = self.bucket.put(self.content, filename="file")

    def test_OpenFile_ThatADriverRenames_StaysReadable(self):
        with open(self.path("file"), "rb", buffering=0) as file:
            self.assertEqual(file.read(10), self.content[:10])
            self.db.fs.files.update_one({"_id": self.file_id}, {"$set": {"filename": "renamed"}})
            self.assertFalse(os.path.exists(self.path("file")))
            self.assertEqual(self.rest_of(file), self.content[10:])
        self.assertEqual(self.read("renamed"), self.content)

    def test_OpenFile_ThatADriverUploadsAnew_StaysTheOlderOne(self):
        with open(self.path("file"), "rb", buffering=0) as file:
            self.assertEqual(file.read(10), self.content[:10])
            self.bucket.put(b"newer", filename="file")
            self.assertEqual(self.read("file"), b"newer")
            self.assertEqual(os.fstat(file.fileno()).st_size, LARGE)
            self.assertEqual(self.rest_of(file), self.content[10:])

    def test_OpenFile_ThatADriverDeletes_IsStale(self):
        file = os.open(self.path("file"), os.O_RDWR)
        self.assertEqual(os.read(file, 10), self.content[:10])
        self.bucket.delete(self.file_id)
        self.assertFalse(os.path.exists(self.path("file")))
        self.assertEqual(os.fstat(file).st_nlink, 0)
        self.assert_fails(errno.ESTALE, os.read, file, 1000)
        self.assert_fails(errno.ESTALE, os.fchmod, file, 0o600)
        # If the kernel could not write data back, it reports EIO.
        os.pwrite(file, b"x" * (1 << 20), 0)
        self.assert_fails(errno.EIO, os.fsync, file)
        with contextlib.suppress(OSError):
            os.close(file)
        self.assertEqual(self.db.fs.chunks.count_documents({}), 0)

    def test_OpenFileWithAHole_ThatADriverDeletes_IsStale(self):
        """Reads fail with ESTALE, and do not return zeros."""
        with open(self.path("sparse"), "wb") as file:
            os.pwrite(file.fileno(), b"end", LARGE)
        self.system.remount()
        with open(self.path("sparse"), "rb", buffering=0) as file:
            self.connect()
            self.bucket = gridfs.GridFS(self.db)
            self.bucket.delete(self.document("sparse")["_id"])
            self.assert_fails(errno.ESTALE, os.pread, file.fileno(), 1000, LARGE // 2)

    @staticmethod
    def rest_of(file):
        return b"".join(iter(lambda: file.read(1 << 20), b""))

    def test_ChangedChunk_IsShownToWhoeverOpensItThen(self):
        self.assertEqual(self.read("file"), self.content)
        chunk = self.db.fs.chunks.find_one({"files_id": self.file_id, "n": 3})
        changed = bytes(reversed(chunk["data"]))
        self.db.fs.chunks.update_one({"_id": chunk["_id"]}, {"$set": {"data": changed}})
        at = 3 * self.bucket.get(self.file_id).chunk_size
        self.assertEqual(self.read("file"), self.content[:at] + changed + self.content[at + len(changed) :])

    def test_Watches_TellOfTheMountsOwnChangesAlone(self):
        watch = call("inotify_init1", os.O_NONBLOCK)
        self.addCleanup(os.close, watch)
        call("inotify_add_watch", watch, self.root.encode(), IN_CREATE | IN_DELETE)
        self.bucket.put(b"content", filename="uploaded")
        self.assertTrue(os.path.exists(self.path("uploaded")))
        self.bucket.delete(self.file_id)
        self.assertFalse(os.path.exists(self.path("file")))
        with self.assertRaises(BlockingIOError):
            os.read(watch, 4096)
        self.write("written", b"content")
        self.assertIn(b"written", os.read(watch, 4096))

    def test_DroppedBucket_HasGone(self):
        path = os.path.join(self.system.mount_point, "photos")
        gridfs.GridFS(self.db, "photos").put(b"content", filename="folder/a")
        self.assertEqual(os.listdir(os.path.join(path, "folder")), ["a"])
        for name in ("files", "chunks", "directories"):
            self.db.drop_collection(f"photos.{name}")
        self.assertFalse(os.path.exists(os.path.join(path, "folder", "a")))
        self.assertEqual(os.listdir(self.system.mount_point), ["fs"])
        # The kernel keeps the bucket's own name for a moment longer.
        self.wait_until(lambda: not os.path.exists(path), "the bucket's folder stays")

    def test_FoldersDocument_EndsTheCountingOfLinks(self):
        os.mkdir(self.path("folder"))
        os.mkdir(self.path("folder", "inner"))
        self.assertEqual(os.stat(self.path("folder")).st_nlink, 3)
        self.db.fs.directories.insert_one({"parent": "folder", "name": "made"})
        self.assertEqual(sorted(os.listdir(self.path("folder"))), ["inner", "made"])
        self.assertEqual(os.stat(self.path("folder")).st_nlink, 1)

    def test_RenamedFolder_IsOfOneMomentForDrivers(self):
        """A driver sees either all old names or all new ones, however often it asks during the
        rename."""
        date = datetime.datetime(2020, 1, 2)
        self.db.fs.files.insert_many([
            {"filename": f"here/{number}", "length": 0, "chunkSize": 1000, "uploadDate": date}
            for number in range(3000)
        ])
        names = ["here", "there"]
        for _ in range(4):
            child = os.fork()
            if child == 0:
                try:
                    os.rename(self.path(names[0]), self.path(names[1]))
                finally:
                    os._exit(0)
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                moment = list(self.db.fs.files.aggregate([
                    {"$match": {"filename": {"$regex": "here/"}}},
                    {"$group": {"_id": {"$substrCP": ["$filename", 0, 1]}, "count": {"$sum": 1}}},
                ]))
                self.assertEqual([each["count"] for each in moment], [3000], moment)
            names.reverse()
        self.assertEqual(len(os.listdir(self.path(names[0]))), 3000)


@gridmount_only
class BucketAtTheRoot(DriverCase):
    """The root of the mount is the bucket, and has no name that the kernel could forget."""

    def setUp(self):
        super().setUp()
        self.system.options = ["-o", "bucket=fs"]
        self.system.remount()
        self.connect()
        self.system.root = self.root = self.system.mount_point

    def test_FileInADroppedCollection_CanBeMadeAgain(self):
        self.write("file", b"content")
        os.stat(self.path("file"))
        self.db.drop_collection("fs.files")
        self.assertFalse(os.path.exists(self.path("file")))
        self.write("file", b"new")
        self.assertEqual(self.read("file"), b"new")


if __name__ == "__main__":
    main()
