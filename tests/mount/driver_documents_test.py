"""Goal: the mount shows documents made by drivers as the table of names says.

Method: driver_documents.cc, which knows nothing of the mount, puts the documents into the store one
by one: other chunk sizes and number types, no metadata, ids of every kind, names that are not valid
paths.
"""

import errno
import hashlib
import json
import os
import stat
import subprocess

from mount_case import MountCase, gridmount_only, main

UPLOAD_SECONDS = 1_500_000_000
LONG = "n" * 300


def content(seed, size):
    return bytes((seed + i * 31 + i // 251) & 0xFF for i in range(size))


@gridmount_only
class DriverDocuments(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self._seed = 0

    def insert(self, length, bucket="fs", chunk_size=255 * 1024, seconds=UPLOAD_SECONDS, extra=None,
               order=None, **fields):
        """Inserts one file. Returns its content. `fields` and `extra` are fields of the files
        document."""
        self._seed += 1
        document = {
            "_id": {"$oid": f"5f5f5f5f5f5f5f5f{self._seed:08x}"},
            "length": {"$numberLong": str(length)},
            "chunkSize": {"$numberInt": str(chunk_size)},
            "uploadDate": {"$date": {"$numberLong": str(seconds * 1000 + 250)}},
            **fields,
            **(extra or {}),
        }
        line = json.dumps(
            {"bucket": bucket, "seed": self._seed, "document": document, **(order or {})}
        )
        self.run_program(
            os.environ["DRIVER_DOCUMENTS"], "insert", self.system.store, input=line.encode() + b"\n"
        )
        return content(self._seed, length)

    def bucket(self, name, *parts):
        return os.path.join(self.system.mount_point, name, *parts)

    def assert_content(self, path, expected):
        with open(path, "rb") as file:
            data = file.read()
        self.assertEqual(len(data), len(expected), path)
        self.assertEqual(os.stat(path).st_size, len(expected), path)
        self.assertTrue(data == expected, f"{path} has other content")

    def assert_shown(self, expected, listings):
        """Checks that the mount shows `expected`, {path: content}, and `listings`, {folder: names},
        also if no folder was listed before."""
        self.system.start()
        for path, data in expected.items():
            self.assert_content(self.path(path), data)
        self.system.remount()
        for folder, names in listings.items():
            self.assertEqual(sorted(os.listdir(self.path(folder))), sorted(names), folder)
        for path, data in expected.items():
            self.assert_content(self.path(path), data)
        self.system.stop()
        self.check_store()

    def test_MetadataThatIsNoDocument_KeepsAttributesAll_AndLosesNothing(self):
        """Old drivers wrote null. Others wrote strings and lists."""
        kinds = {"null": None, "string": "text of an app", "list": ["a", {"b": 1}], "posix": {"k": 1, "posix": 5},
                 "posixNull": {"k": 1, "posix": None}}
        for name, metadata in kinds.items():
            extra = {"metadata": metadata, "aliases": None}
            self.insert(1000, filename=name, extra=extra)
        self.system.start()
        stamp = 1_400_000_000_000_000_123
        for name in kinds:
            path = self.path(name)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o644)
            os.chmod(path, 0o640)
            os.utime(path, ns=(stamp, stamp))
            os.setxattr(path, "user.a", b"1")
            os.link(path, path + ".link")
            os.rename(path, path + ".renamed")
            with open(path + ".link", "ab") as file:
                file.write(b"more")
            os.truncate(path + ".link", 10_000_000)  # a hole
            os.utime(path + ".renamed", ns=(stamp, stamp))
        self.system.remount()
        for name in kinds:
            shown = os.stat(self.path(name + ".renamed"))
            self.assertEqual((shown.st_mode & 0o777, shown.st_mtime_ns, shown.st_size, shown.st_nlink),
                             (0o640, stamp, 10_000_000, 2), name)
            self.assertEqual(os.getxattr(self.path(name + ".link"), "user.a"), b"1")
        self.assertEqual(json.loads(os.getxattr(self.path("string.link"), "user.gridfs.metadata")),
                         {"value": "text of an app"})
        self.system.stop()
        self.check_store()
        stored = {}
        for document, _ in self.documents():
            stored[document["filename"].split(".")[0]] = document["metadata"]
        self.assertNotIn("value", stored["null"])
        self.assertEqual(stored["string"]["value"], "text of an app")
        self.assertEqual(stored["list"]["value"], ["a", {"b": {"$numberInt": "1"}}])
        self.assertEqual(stored["posix"]["k"], {"$numberInt": "1"})
        self.assertEqual(stored["posix"]["posix"]["value"], {"$numberInt": "5"})
        self.assertNotIn("value", stored["posixNull"]["posix"])

    def test_MetadataThatIsAString_StaysAsLongAsNothingIsKept(self):
        self.insert(1000, filename="a", extra={"metadata": "text"})
        self.system.start()
        with open(self.path("a"), "rb") as file:
            file.read()
        self.assertEqual(json.loads(os.getxattr(self.path("a"), "user.gridfs.metadata")), "text")
        self.system.stop()
        [(document, _)] = self.documents()
        self.assertEqual(document["metadata"], "text")

    def test_ChunkSizeAboveWhatAChunkHolds_IsReadAndWritten(self):
        """The whole content fits in the first chunk, so it can be read whatever chunkSize the
        document has."""
        sizes = {"a": 16_760_833, "b": 2_147_483_647}
        expected = {}
        for name, size in sizes.items():
            expected[name] = self.insert(1000, chunk_size=size, filename=name)
            self.insert(0, chunk_size=size, filename="empty" + name)
        expected["c"] = self.insert(
            1000, filename="c", extra={"chunkSize": {"$numberLong": "5000000000"}})
        self.system.start()
        for name in expected:
            self.assert_content(self.path(name), expected[name])
            os.chmod(self.path(name), 0o600)
        for name in ("a", "c"):
            with open(self.path(name), "ab") as file:
                file.write(b"x" * 17_000_000)
        with open(self.path("emptyb"), "wb") as file:
            file.write(b"y")
        self.system.remount()
        for name in ("a", "c"):
            self.assert_content(self.path(name), expected[name] + b"x" * 17_000_000)
        self.assert_content(self.path("emptyb"), b"y")
        self.system.stop()
        self.check_store()
        sizes = {document["filename"]: document["chunkSize"] for document, _ in self.documents()}
        self.assertEqual(sizes["a"], {"$numberInt": "16760833"})
        self.assertEqual(sizes["c"], {"$numberInt": "16760832"})
        self.assertEqual(sizes["b"], {"$numberInt": "2147483647"})

    def test_ChunksOfWhatADocumentCarries_AreReadAndWritten(self):
        """If the ids are ObjectIds, 62 bytes of a chunk document of 16 MiB are other fields."""
        expected = {
            "one": self.insert(16_777_154, chunk_size=2_147_483_647, filename="one"),
            "two": self.insert(16_777_154 + 9, chunk_size=16_777_154, filename="two"),
        }
        self.assert_shown(expected, {"": expected.keys()})
        self.system.start()
        for name in expected:
            with open(self.path(name), "r+b") as file:
                file.seek(16_777_000)
                file.write(b"x" * 1000)
            expected[name] = expected[name][:16_777_000] + b"x" * 1000
        self.system.remount()
        for name in expected:
            self.assert_content(self.path(name), expected[name])
        self.system.stop()
        self.check_store()

    def test_ChunkSizesAndNumberTypes_AreHonoured(self):
        expected = {
            "seven": self.insert(50, filename="seven", chunk_size=7),
            "driver": self.insert(600_000, filename="driver"),
            "mebibyte": self.insert(2_500_000, filename="mebibyte", chunk_size=1 << 20),
            "exact": self.insert(255 * 1024 * 2, filename="exact"),
            "empty": self.insert(0, filename="empty"),
            "int32": self.insert(1000, filename="int32",
                                 extra={"length": {"$numberInt": "1000"}}),
            "double": self.insert(1000, filename="double",
                                  extra={"length": {"$numberDouble": "1000.0"},
                                         "chunkSize": {"$numberDouble": "300.0"}}),
            "int64": self.insert(1000, filename="int64",
                                 extra={"chunkSize": {"$numberLong": "300"}}),
        }
        self.assert_shown(expected, {"": expected.keys()})

    def test_IdsOfAllTypes_AreFiles(self):
        ids = {
            "string": "an/id",
            "int32": {"$numberInt": "-5"},
            "int64": {"$numberLong": "5000000000"},
            "double": {"$numberDouble": "1.5"},
            "uuid": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}},
            "date": {"$date": {"$numberLong": "1"}},
            "document": {"a": {"$numberInt": "1"}, "b": ["x"]},
            "bool": True,
            "null": None,
        }
        expected = {
            name: self.insert(300_000, filename=name, extra={"_id": value})
            for name, value in ids.items()
        }
        self.assert_shown(expected, {"": expected.keys()})

    def test_OddNames_HaveTheirEscapes(self):
        shown = {  # filename -> path in the mount
            "/leading": "%gridfs:esc:%2Fleading",
            "//two/slashes": "%gridfs:esc:%2F%2Ftwo/slashes",
            "a//b": "a/%gridfs:esc:/b",
            "trailing/": "trailing/%gridfs:esc:",
            "./here": "%gridfs:esc:%2E/here",
            "up/../down": "up/%gridfs:esc:%2E%2E/down",
            "nul\0byte": "%gridfs:esc:nul%00byte",
            "%gridfs:esc:own": "%gridfs:esc:%25gridfs:esc:own",
            ".gridfs": "%gridfs:esc:.gridfs",
            "both": "%gridfs:file:both",
            "both/inside": "both/inside",
            "space and\nline": "space and\nline",
            "quote\"back\\slash*?": "quote\"back\\slash*?",
            "..three...": "..three...",
            "100%": "100%",
            "ünïcödé/日本/🙂": "ünïcödé/日本/🙂",
            "sub/.gridfs": "sub/.gridfs",
        }
        expected = {
            path: self.insert(1000, filename=name, chunk_size=300) for name, path in shown.items()
        }
        self.assert_shown(
            expected,
            {
                "": {path.split("/")[0] for path in expected},
                "both": ["inside"],
                "a": ["%gridfs:esc:"],
                "up": ["%gridfs:esc:%2E%2E"],
                "trailing": ["%gridfs:esc:"],
            },
        )
        self.assert_filenames_unchanged(shown)

    def assert_filenames_unchanged(self, names):
        self.assertEqual(
            sorted(file["filename"] for file, _ in self.documents()), sorted(names)
        )

    def test_EmptyName_IsAFile(self):
        self.assert_shown({"%gridfs:esc:": self.insert(10, filename="")}, {"": ["%gridfs:esc:"]})

    def test_LongComponent_IsShownShortened_AndOpens(self):
        data = self.insert(1000, filename=f"folder/{LONG}")
        self.insert(10, filename=f"folder/{LONG}other")
        self.system.start()
        names = os.listdir(self.path("folder"))
        self.assertEqual(len(names), 2)
        digest = hashlib.sha256(LONG.encode()).hexdigest()[:32]
        own = [name for name in names if name.endswith(":" + digest)]
        self.assertEqual(len(own), 1, names)
        self.assertTrue(own[0].startswith("%gridfs:long:nnn"), own)
        self.assertLessEqual(len(own[0].encode()), 255)
        self.system.remount()  # so that the name is found without the listing
        self.assert_content(self.path("folder", own[0]), data)

    def test_FileWithoutName_IsShownByItsId(self):
        unnamed = self.insert(1000, extra={"_id": {"$numberInt": "42"}})
        number = self.insert(500, filename={"$numberInt": "7"}, extra={"_id": "key/7"})
        self.system.start()
        names = os.listdir(self.root)
        self.assertEqual(len(names), 2, names)
        for mark, data in (("42", unnamed), ("key", number)):
            found = [name for name in names if mark in name]
            self.assertEqual(len(found), 1, names)
            self.assertTrue(found[0].startswith("%gridfs:id:"), found)
            self.system.remount()
            self.assert_content(self.path(found[0]), data)

    def test_Revisions_TheNewestIsTheFile_UnlinkTakesAll(self):
        self.insert(100, filename="r", seconds=UPLOAD_SECONDS)
        newest = self.insert(3000, filename="r", seconds=UPLOAD_SECONDS + 50)
        self.insert(200, filename="r", seconds=UPLOAD_SECONDS + 20)
        self.assert_shown({"r": newest}, {"": ["r"]})
        self.system.start()
        os.unlink(self.path("r"))
        self.assertEqual(os.listdir(self.root), [])
        self.system.stop()
        self.assertEqual(self.documents(), [])
        self.check_store()

    def test_WithoutMetadata_AttributesComeFromTheDocument(self):
        self.insert(1000, filename="plain/file")
        self.system.start()
        status = os.stat(self.path("plain/file"))
        self.assertEqual(stat.S_IFMT(status.st_mode), stat.S_IFREG)
        self.assertEqual(stat.S_IMODE(status.st_mode), 0o644)
        self.assertEqual(status.st_mtime_ns, (UPLOAD_SECONDS * 1000 + 250) * 1_000_000)
        self.assertEqual(status.st_nlink, 1)
        folder = os.stat(self.path("plain"))
        self.assertTrue(stat.S_ISDIR(folder.st_mode))
        self.assertEqual(stat.S_IMODE(folder.st_mode), 0o755)

    def test_ChangesThroughTheMount_KeepWhatTheDriverWrote(self):
        fields = {
            "contentType": "text/plain", "aliases": ["x"], "team": {"$numberInt": "3"},
            "metadata": {"tags": ["a", "b"], "nested": {"n": {"$numberLong": "9"}}},
        }
        before = self.insert(1000, filename="file", chunk_size=300, **fields)
        self.system.start()
        os.chmod(self.path("file"), 0o600)
        os.utime(self.path("file"), ns=(1, 1_234_567_890_123_456_789))
        with open(self.path("file"), "ab") as file:
            file.write(b"appended" * 100)
        os.mkdir(self.path("folder"))
        os.rename(self.path("file"), self.path("folder/renamed"))
        self.assert_content(self.path("folder/renamed"), before + b"appended" * 100)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("folder/renamed")).st_mode), 0o600)
        self.system.stop()
        [(file, chunks)] = self.documents()
        self.assertEqual(file["filename"], "folder/renamed")
        self.assertEqual(file["_id"], {"$oid": f"5f5f5f5f5f5f5f5f{self._seed:08x}"})
        self.assertEqual(file["length"], {"$numberLong": "1800"})
        self.assertEqual(file["chunkSize"], {"$numberInt": "300"})
        for name in ("contentType", "aliases", "team"):
            self.assertEqual(file[name], fields[name])
        for name, value in fields["metadata"].items():
            self.assertEqual(file["metadata"][name], value)
        self.assertEqual([chunk["bytes"] for chunk in chunks], [{"$numberLong": "300"}] * 6)
        self.check_store()

    def test_OtherBuckets_AreFoldersOfTheRoot(self):
        data = self.insert(1000, bucket="photos", filename="2024/a.jpg")
        dotted = self.insert(10, bucket="my.bucket", filename="b")
        self.system.start()
        self.assertEqual(sorted(os.listdir(self.system.mount_point)), ["fs", "my.bucket", "photos"])
        self.assert_content(self.bucket("photos", "2024", "a.jpg"), data)
        self.assert_content(self.bucket("my.bucket", "b"), dotted)

    def assert_unreadable(self, path):
        with self.assertRaises(OSError) as caught:
            with open(path, "rb") as file:
                file.read()
        self.assertEqual(caught.exception.errno, errno.EIO, path)

    def test_DamagedFiles_AreErrors_AndTheOthersAreFine(self):
        good = self.insert(1000, filename="good", chunk_size=300)
        self.insert(1000, filename="missing", chunk_size=300, order={"missing_chunk": 2})
        self.insert(1000, filename="last", chunk_size=300, order={"missing_chunk": 3})
        self.insert(1000, filename="short", chunk_size=300, order={"short_chunk": 1})
        self.insert(1000, filename="absurd", chunk_size=0)
        self.system.start()
        names = os.listdir(self.root)
        self.assertLessEqual({"good", "missing", "last", "short"}, set(names))
        for name in ("missing", "last", "short"):
            self.assert_unreadable(self.path(name))
        if "absurd" in names:
            self.assert_unreadable(self.path("absurd"))
        self.assert_content(self.path("good"), good)
        self.system.stop()
        checked = self.check_damaged_store()
        for name in ("missing", "last", "short", "absurd"):
            self.assertIn(name, checked)
        self.assertNotIn("good", checked)

    def check_damaged_store(self):
        finished = subprocess.run(
            [os.environ["GRIDSTORE"], "check", self.system.store], capture_output=True, text=True
        )
        self.assertGreater(finished.returncode, 0, finished.stdout)
        return finished.stdout + finished.stderr


if __name__ == "__main__":
    main()
