"""Goal: `-o revisions` keeps the right contents and no others, in the right place, and `.gridfs`
and `-o at` show them.
"""

import datetime
import errno
import json
import os
import time
import urllib.parse

from driver_client import DriverCase
from mount_case import gridmount_only, main

DAY = datetime.timedelta(days=1)


class RevisionCase(DriverCase):
    def mount(self, *options):
        self.system.stop()
        self.system.options = ["-o", ",".join(options)] if options else []
        self.system.start()
        self.connect()

    def replace(self, name, data):
        self.write("new", data)
        os.rename(self.path("new"), self.path(name))

    def revisions(self, name):
        folder = self.path(".gridfs", "revisions", name)
        return [self.read(".gridfs", "revisions", name, n) for n in sorted(os.listdir(folder), key=int)]

    def upload(self, name, data, date, id=None):
        document = {
            "_id": f"{name} {date}" if id is None else id, "filename": name, "length": len(data),
            "chunkSize": 1000, "uploadDate": date,
        }
        self.db.fs.chunks.insert_one({"files_id": document["_id"], "n": 0, "data": data})
        self.db.fs.files.insert_one({key: value for key, value in document.items() if value is not None})


@gridmount_only
class Kept(RevisionCase):
    options = ["-o", "revisions=3"]

    def test_WithoutTheOption_NothingIsKept(self):
        self.mount()
        self.write("a", b"one")
        self.write("a", b"two")
        self.replace("a", b"three")
        os.truncate(self.path("a"), 0)
        self.write("a", b"four")
        self.assertEqual(self.revisions("a"), [b"four"])
        self.assertEqual(self.db.fs.files.count_documents({}), 1)

    def test_EachWayOfCuttingToNothing_KeepsWhatWas(self):
        self.write("a", b"one")
        os.truncate(self.path("a"), 0)
        with open(self.path("a"), "r+b", buffering=0) as file:
            file.write(b"two")
            os.fsync(file.fileno())
            file.truncate(0)
            file.seek(0)
            file.write(b"three")
        os.close(os.open(self.path("a"), os.O_WRONLY | os.O_TRUNC))
        self.write("a", b"four")
        self.assertEqual(self.revisions("a"), [b"one", b"two", b"three", b"four"])

    def test_WhatReplaces_IsADocumentOfItsOwn_AndTheSameNode(self):
        self.write("a", b"one")
        number = os.stat(self.path("a")).st_ino
        self.write("a", b"two")
        self.assertEqual(os.stat(self.path("a")).st_ino, number)
        documents = list(self.db.fs.files.find({"filename": "a"}).sort("uploadDate", 1))
        self.assertEqual([each["length"] for each in documents], [3, 3])
        self.assertNotEqual(documents[0]["_id"], documents[1]["_id"])
        chunks = [self.db.fs.chunks.find_one({"files_id": each["_id"]})["data"] for each in documents]
        self.assertEqual(chunks, [b"one", b"two"])

    def test_OtherChanges_AreMadeToThePresentContent(self):
        self.write("a", b"content")
        with open(self.path("a"), "ab") as file:
            file.write(b" and more")
        with open(self.path("a"), "r+b") as file:
            file.write(b"C")
        os.truncate(self.path("a"), 9)
        os.chmod(self.path("a"), 0o600)
        self.assertEqual(self.revisions("a"), [b"Content a"])

    def test_NothingEmpty_IsKept(self):
        self.write("a", b"")
        self.write("a", b"")
        self.replace("a", b"one")
        os.truncate(self.path("a"), 0)
        self.replace("a", b"two")
        self.assertEqual(self.revisions("a"), [b"one", b"two"])

    def test_Renaming_MovesAllAlong_AndRemoving_RemovesAll(self):
        os.mkdir(self.path("folder"))
        self.write("a", b"one")
        self.write("a", b"two")
        os.rename(self.path("a"), self.path("folder", "b"))
        self.assert_fails(errno.ENOENT, os.listdir, self.path(".gridfs", "revisions", "a"))
        self.assertEqual(self.revisions("folder/b"), [b"one", b"two"])
        os.rename(self.path("folder"), self.path("moved"))
        self.assertEqual(self.revisions("moved/b"), [b"one", b"two"])
        os.unlink(self.path("moved", "b"))
        self.assertEqual(self.db.fs.files.count_documents({}), 0)
        self.assertEqual(self.db.fs.chunks.count_documents({}), 0)

    def test_OfAFileWithSeveralNames_TheyAreUnderItsFilename(self):
        self.write("a", b"one")
        os.link(self.path("a"), self.path("b"))
        self.write("b", b"two")
        self.assertEqual(self.read("a"), b"two")
        self.assertEqual(self.revisions("a"), [b"one", b"two"])
        self.assertEqual(self.revisions("b"), [b"two"])

    def test_OneOfSeveralNamesTakenAway_KeepsNothingOfIt(self):
        self.write("a", b"one")
        os.link(self.path("a"), self.path("b"))
        self.replace("b", b"two")
        self.assertEqual(self.revisions("b"), [b"two"])
        self.assertEqual(self.revisions("a"), [b"one"])

    def test_UploadsWithoutADate_AreNotKept(self):
        self.upload("a", b"one", "not a date")
        self.assertEqual(self.read("a"), b"one")
        self.replace("a", b"two")
        self.assertEqual(self.revisions("a"), [b"two"])
        # An upload with a date is kept.
        self.upload("b", b"one", datetime.datetime(2020, 1, 2))
        self.replace("b", b"two")
        self.assertEqual(self.revisions("b"), [b"one", b"two"])

    def test_WhoeverHadItOpen_GoesOnWritingToWhatIsKept(self):
        self.write("a", b"one")
        with open(self.path("a"), "r+b", buffering=0) as file:
            self.replace("a", b"two")
            file.write(b"ONE and more")
        self.assertEqual(self.read("a"), b"two")
        self.assertEqual(self.revisions("a"), [b"ONE and more", b"two"])


@gridmount_only
class Shown(RevisionCase):
    options = ["-o", "revisions=2"]

    def test_Uploads_AreThereWithTheKept_TheOldestFirst(self):
        start = datetime.datetime(2020, 1, 2)
        for number in (1, 0, 2):
            self.upload("a", f"upload {number}".encode(), start + number * DAY)
        self.assertEqual(self.revisions("a"), [b"upload 0", b"upload 1", b"upload 2"])
        self.assertEqual(self.read("a"), b"upload 2")

    def test_Numbers_AreOfOthersOnceOlderOnesHaveGone(self):
        for number in range(4):
            self.write("a", f"content {number}".encode())
        self.assertEqual(self.read(".gridfs", "revisions", "a", "0"), b"content 1")
        self.write("a", b"content 4")
        self.assertEqual(self.read(".gridfs", "revisions", "a", "0"), b"content 2")

    def test_Ids_AreNames(self):
        date = datetime.datetime(2020, 1, 2)
        shown = {
            "text/with a slash": '"text/with a slash"', 42: '{"$numberInt":"42"}', True: "true",
        }
        for id in shown:
            self.upload(f"of {id}", f"content of {id}".encode(), date, id)
        self.write("own", b"own content")
        folder = self.path(".gridfs", "by-id")
        names = os.listdir(folder)
        own = str(self.document("own")["_id"])
        self.assertEqual(len(own), 24)
        self.assertEqual(self.read(".gridfs", "by-id", own), b"own content")
        names.remove(own)
        found = {}
        for name in names:
            self.assertNotIn("/", name)
            text = urllib.parse.unquote(name.removeprefix("%gridfs:esc:")).replace(" ", "")
            found[text] = self.read(".gridfs", "by-id", name)
        for id, text in shown.items():
            self.assertEqual(found.get(text.replace(" ", "")), f"content of {id}".encode(), found)

    def test_Attributes_AreThoseOfTheContent(self):
        self.write("a", b"first")
        first = self.document("a")
        self.write("a", b"second one")
        path = self.path(".gridfs", "revisions", "a", "0")
        self.assertEqual(os.getxattr(path, "user.gridfs.id").decode(), str(first["_id"]))
        self.assertEqual(os.getxattr(path, "user.gridfs.length"), b"5")
        self.assertEqual(os.getxattr(path, "user.gridfs.md5").decode(), first["md5"])

    def test_Statistics_HaveWhatIsSaidOfThem(self):
        os.mkdir(self.path("folder"))
        for name in ("a", "b", "c"):
            self.write(name, b"x" * 1000)
        self.assert_fails(errno.ENOSPC, self.set_too_many_attributes, self.path("a"))

        def read():
            return json.loads(self.read(".gridfs", "stats.json"))

        self.wait_until(lambda: read()["operations"]["setxattr"]["failures"] == 1, "no failure is counted")
        with open(self.path("a"), "rb"):
            found = read()
            # stats.json is not one of the open files, because its text was made before it was
            # opened.
            self.assertEqual(found["openFiles"], 1)
        self.assertEqual(found["bucket"], "fs")
        for name, count in (("files", 3), ("chunks", 3), ("directories", 2)):
            self.assertEqual(found[name]["count"], count, name)
            self.assertGreater(found[name]["bytes"], 0, name)
        self.assertGreater(found["chunks"]["bytes"], 3000)
        self.assertEqual(found["uncommittedBytes"], 0)
        self.assertGreaterEqual(found["operationsInProgress"], 1)
        tried = found["operations"]["setxattr"]
        self.assertEqual((tried["errors"], tried["failures"]), (1, 1))
        lookup = found["operations"]["lookup"]
        self.assertGreater(lookup["errors"], 0)
        self.assertEqual(lookup["failures"], 0)
        self.assertEqual(set(lookup["latencySeconds"]), {"total", "p50", "p90", "p99", "max"})
        self.assertEqual(
            set(found["store"]),
            {"fileBytes", "usedBytes", "capacityBytes", "availableBytes", "secondsSinceCheckpoint"},
        )

    @staticmethod
    def set_too_many_attributes(path):
        for number in range(17):
            os.setxattr(path, f"user.{number}", bytes(1 << 16))


@gridmount_only
class EarlierTime(RevisionCase):
    def test_Names_AreThoseWithAContentUntilThen(self):
        before = datetime.datetime(2020, 1, 2)
        self.upload("dated", b"old", before)
        self.upload("dated", b"new", before + 2 * DAY)
        self.upload("later", b"new", before + 2 * DAY)
        self.upload("undated", b"content", None)
        os.mkdir(self.path("empty"))
        # This directory is made after that time, but something below it existed then.
        os.mkdir(self.path("folder"))
        self.upload("folder/dated", b"old", before)
        self.mount(f"at={(before + DAY).isoformat()}Z")
        self.assertEqual(sorted(os.listdir(self.root)), ["dated", "folder"])
        self.assertEqual(self.read("dated"), b"old")
        self.assertEqual(self.read("folder", "dated"), b"old")
        for name in ("later", "undated", "empty"):
            self.assert_fails(errno.ENOENT, os.stat, self.path(name))
        self.assert_fails(errno.EROFS, os.mkdir, self.path("x"))
        self.mount(f"at={(before + 3 * DAY).isoformat()}Z")
        self.assertEqual(sorted(os.listdir(self.root)), ["dated", "folder", "later"])
        self.assertEqual(self.read("dated"), b"new")

    def test_WhatWasChangedInPlaceOrRenamed_IsNotAsItWas(self):
        self.mount("revisions=2")
        self.write("changed", b"as it was")
        self.write("renamed", b"content")
        time.sleep(0.05)
        then = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        time.sleep(1.1)
        with open(self.path("changed"), "r+b") as file:
            file.write(b"AS")
        os.rename(self.path("renamed"), self.path("new name"))
        self.mount(f"at={then}")
        shown = os.listdir(self.root)
        self.assertNotIn("renamed", shown)
        self.assertIn("new name", shown)
        self.assertNotIn("as it was", [self.read(name) for name in shown])


if __name__ == "__main__":
    main()
