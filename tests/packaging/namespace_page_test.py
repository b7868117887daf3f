"""Goal: gridmount-namespace(7) shows names, fields and attributes as a mount has them.

Method: reads the tables of the page, uploads files of those names with a driver, and looks at them in a mount.

Needs GRIDMOUNT and tests/mount on PYTHONPATH, and Debian's pymongo.
"""

import errno
import os
import pathlib
import re
import unittest
import urllib.parse

import gridfs
import pymongo

from mounts import Gridmount

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "packaging" / "gridmount-namespace.7").read_text(encoding="utf-8")


def rows_of(heading):
    """Returns the cells of the table below a heading, without macros."""
    text = PAGE.split(f".Ss {heading}\n", 1)[1].split("\n.Ss ", 1)[0]
    rows = [row.split(" Ta ") for row in re.findall(r"^\.It (.* Ta .*)$", text, re.M)]
    return [[" ".join(re.sub(r"(^| )(Li|Pa|Va|Em|No)(?= )|\\&", "", cell).split()) for cell in row] for row in rows]


class NamespacePage(unittest.TestCase):
    def setUp(self):
        self.mounted = Gridmount()
        self.addCleanup(self.mounted.cleanup)
        self.mounted.start()
        socket = urllib.parse.quote_plus(os.path.join(self.mounted.store, "gridmount.sock"))
        self.client = pymongo.MongoClient(f"mongodb://{socket}")
        self.addCleanup(self.client.close)
        self.bucket = gridfs.GridFSBucket(self.client.test)

    def path(self, name):
        return os.path.join(self.mounted.root, name)

    def upload(self, name, content=b"content"):
        return self.bucket.upload_from_stream(name, content)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_NamesThatNoFileCanHave_AreShownAsInTheTable(self):
        rows = dict(rows_of("Names that no file can have")[1:])
        self.assertGreater(len(rows), 6)
        for stored, shown in rows.items():
            with self.subTest(stored):
                if shown.endswith("BEGINNING:DIGEST"):
                    name = "long" * 70
                    self.upload(name, b"long")
                    found = [each for each in os.listdir(self.mounted.root) if each.startswith("%gridfs:long:long")]
                    self.assertEqual([self.read(each) for each in found], [b"long"])
                elif shown.endswith(":ID"):
                    self.client.test.fs.files.update_one({"_id": self.upload("x")}, {"$unset": {"filename": 1}})
                    found = [each for each in os.listdir(self.mounted.root) if each.startswith("%gridfs:id:")]
                    self.assertEqual([self.read(each) for each in found], [b"content"])
                else:
                    name = re.split(r"[ ,]", stored)[0]
                    if "beside" in stored:
                        self.upload(stored.split()[2])
                    self.upload(name, stored.encode())
                    self.assertEqual(self.read(shown), stored.encode())

    def test_NameThatIsNotUtf8_IsStoredEscaped(self):
        with open(os.fsencode(self.mounted.root) + b"/caf\xe9", "wb"):
            pass
        self.assertEqual(self.client.test.fs.files.find_one()["filename"], "%gridfs:bytes:caf%E9")

    def test_Attributes_AreInTheFieldsOfTheTable(self):
        with open(self.path("file"), "wb") as file:
            file.truncate(3 << 20)
        os.setxattr(self.path("file"), "user.note", b"text")
        os.symlink("file", self.path("link"))
        documents = list(self.client.test.fs.files.find())
        stored = set()
        for document in documents:
            stored |= {"length", *(f"metadata.{name}" for name in document["metadata"])}
            stored |= {f"metadata.posix.{name}" for name in document["metadata"]["posix"]}
        for _, fields in rows_of("Attributes and times"):
            last = ""
            for field in re.findall(r"[\w.]+", fields.replace("missing chunks, and", "").replace("dates", "")):
                last = last.rpartition(".")[0] + field if field.startswith(".") else field
                self.assertIn(last, stored)

    def test_FieldsAsExtendedAttributes_CanBeReadAndSetAsTheTableSays(self):
        self.upload("file")
        with open(self.path("file"), "r+b") as file:
            file.write(b"C")
        os.setxattr(self.path("file"), "user.gridfs.contentType", b"text/plain")
        os.setxattr(self.path("file"), "user.gridfs.metadata", b'{"a": 1}')
        self.assertEqual(os.listxattr(self.path("file")), [])
        rows = rows_of("Fields as extended attributes")
        self.assertEqual(len(rows), 8)
        for name, allowed in rows:
            with self.subTest(name):
                value = os.getxattr(self.path("file"), name)
                if "set" in allowed:
                    os.setxattr(self.path("file"), name, value)
                    os.removexattr(self.path("file"), name)
                else:
                    with self.assertRaises(OSError) as raised:
                        os.setxattr(self.path("file"), name, value)
                    self.assertEqual(raised.exception.errno, errno.EPERM)

    def test_ImpliedFolder_GoesWithItsLastFileOfADriver(self):
        number = self.upload("reports/2024/a.pdf")
        self.assertEqual(self.read("reports/2024/a.pdf"), b"content")
        self.bucket.delete(number)
        self.assertFalse(os.path.exists(self.path("reports")))
        self.upload("reports/2024/a.pdf")
        os.remove(self.path("reports/2024/a.pdf"))
        self.assertEqual(os.listdir(self.path("reports/2024")), [])

    def test_ControlFolder_HasTheNamesOfThePage(self):
        number = self.upload("main.c", b"old")
        self.upload("main.c", b"new")
        self.assertEqual(self.read("main.c"), b"new")
        self.assertNotIn(".gridfs", os.listdir(self.mounted.root))
        self.assertEqual(self.read(".gridfs/revisions/main.c/0"), b"old")
        self.assertEqual(self.read(".gridfs/revisions/main.c/1"), b"new")
        self.assertEqual(self.read(f".gridfs/by-id/{number}"), b"old")
        self.assertIn(b'"bucket"', self.read(".gridfs/stats.json"))
        os.remove(self.path("main.c"))
        self.assertEqual(self.client.test.fs.files.count_documents({}), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
