"""Goal: fields of files documents appear as extended attributes, and other attributes are kept or
refused as documented.
"""

import errno
import json
import os

from bson import json_util

from driver_client import DriverCase
from mount_case import gridmount_only, main

FIXED = ("id", "length", "chunkSize", "uploadDate", "md5", "filename")
CHANGEABLE = ("contentType", "metadata")


@gridmount_only
class DocumentFields(DriverCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("file")
        self.write("file", b"content")

    def field(self, name):
        return os.getxattr(self.file, f"user.gridfs.{name}").decode()

    def test_Fields_AreThoseThatADriverSees(self):
        self.db.fs.files.update_one(
            {"filename": "file"},
            {"$set": {"contentType": "text/plain", "metadata.tags": ["a", {"n": 1.5}]}},
        )
        seen = self.document("file")
        self.assertEqual(self.field("id"), str(seen["_id"]))
        self.assertEqual(self.field("length"), "7")
        self.assertEqual(self.field("chunkSize"), str(seen["chunkSize"]))
        shown = json_util.loads(self.field("uploadDate"))
        self.assertEqual(shown.replace(tzinfo=None), seen["uploadDate"])
        self.assertEqual(self.field("md5"), seen["md5"])
        self.assertEqual(self.field("filename"), "file")
        self.assertEqual(self.field("contentType"), "text/plain")
        # The attribute leaves out the mount's own part of `metadata`.
        self.assertIn("posix", seen["metadata"])
        self.assertEqual(json.loads(self.field("metadata")), {"tags": ["a", {"n": 1.5}]})

    def test_ContentTypeAndMetadata_AreSetAndRemovedForDrivers(self):
        before = self.document("file")["metadata"]["posix"]
        os.setxattr(self.file, "user.gridfs.contentType", b"image/png")
        os.setxattr(self.file, "user.gridfs.metadata", b'{"n": {"$numberLong": "9"}}')
        seen = self.document("file")
        self.assertEqual(seen["contentType"], "image/png")
        self.assertEqual(seen["metadata"]["n"], 9)
        self.assertEqual(seen["metadata"]["posix"]["mode"], before["mode"])
        for name in CHANGEABLE:
            os.removexattr(self.file, f"user.gridfs.{name}")
            self.assert_fails(errno.ENODATA, os.getxattr, self.file, f"user.gridfs.{name}")
        seen = self.document("file")
        self.assertNotIn("contentType", seen)
        self.assertEqual(list(seen["metadata"]), ["posix"])

    def test_OtherFields_CanNeitherBeSetNorRemoved(self):
        before = self.document("file")
        for name in FIXED:
            self.assert_fails(errno.EPERM, os.setxattr, self.file, f"user.gridfs.{name}", b"1")
            self.assert_fails(errno.EPERM, os.removexattr, self.file, f"user.gridfs.{name}")
        self.assertEqual(self.document("file"), before)

    def test_Fields_AreNotListed_AndNotCopied(self):
        os.setxattr(self.file, "user.gridfs.contentType", b"image/png")
        os.setxattr(self.file, "user.own", b"kept")
        self.assertEqual(os.listxattr(self.file), ["user.own"])
        self.run_program("cp", "--preserve=all", self.file, self.path("copy"))
        self.assertEqual(os.getxattr(self.path("copy"), "user.own"), b"kept")
        self.assertNotIn("contentType", self.document("copy"))

    def test_OtherAttributes_AreRefused(self):
        for name in ("security.selinux", "system.other", "other.a", "nothing"):
            self.assert_fails(errno.EOPNOTSUPP, os.setxattr, self.file, name, b"1")
            self.assert_fails(errno.EOPNOTSUPP, os.getxattr, self.file, name)
        self.assertEqual(os.listxattr(self.file), [])


if __name__ == "__main__":
    main()
