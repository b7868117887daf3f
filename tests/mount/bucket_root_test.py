"""Goal: the root of a mount that shows all buckets: which operations it allows, and what operations
across buckets do.
"""

import errno
import os

from driver_client import DriverCase
from mount_case import gridmount_only, main


@gridmount_only
class BucketRoot(DriverCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.at("photos"))
        self.write("file", b"content")

    def at(self, *parts):
        return os.path.join(self.system.mount_point, *parts)

    def make(self, *parts):
        with open(self.at(*parts), "wb") as file:
            file.write(b"content")

    def test_BucketsMadeAndRenamed_AreThereForDrivers(self):
        self.make("photos", "a")
        self.assertEqual(self.db["photos.files"].count_documents({"filename": "a"}), 1)
        os.rename(self.at("photos"), self.at("pictures"))
        self.assertEqual(self.db["pictures.files"].count_documents({"filename": "a"}), 1)
        names = self.db.list_collection_names()
        self.assertEqual([name for name in names if name.startswith("photos.")], [])
        os.unlink(self.at("pictures", "a"))
        os.rmdir(self.at("pictures"))
        names = self.db.list_collection_names()
        self.assertEqual([name for name in names if name.startswith("pictures.")], [])

    def test_WhileAFileOfItIsOpen_ABucketIsNotRenamed(self):
        with open(self.at("photos", "open"), "wb"):
            self.assert_fails(errno.EBUSY, os.rename, self.at("photos"), self.at("pictures"))
        self.wait_until(lambda: self.can_rename("photos", "pictures"), "it stays busy")
        self.assertEqual(os.listdir(self.at("pictures")), ["open"])

    def can_rename(self, old, new):
        """Returns False while the bucket is busy: the daemon learns of a close only a moment
        later."""
        try:
            os.rename(self.at(old), self.at(new))
        except OSError as error:
            self.assertEqual(error.errno, errno.EBUSY)
            return False
        return True

    def test_EmptyBucketWithAnOpenFile_IsNotReplaced(self):
        os.mkdir(self.at("new"))
        with open(self.at("photos", "open"), "wb"):
            os.unlink(self.at("photos", "open"))
            self.assertEqual(os.listdir(self.at("photos")), [])
            self.assert_fails(errno.EBUSY, os.rename, self.at("new"), self.at("photos"))

    def test_BucketsNewName_HasToBeOneThatABucketCanHave(self):
        self.assert_fails(errno.EINVAL, os.rename, self.at("photos"), self.at("a$b"))
        self.assertEqual(sorted(os.listdir(self.system.mount_point)), ["fs", "photos"])

    def test_FilesLinksAndPipes_AreNotMade(self):
        self.assert_fails(errno.EPERM, os.open, self.at("new"), os.O_CREAT | os.O_WRONLY)
        self.assert_fails(errno.EPERM, os.symlink, "fs", self.at("new"))
        self.assert_fails(errno.EPERM, os.link, self.path("file"), self.at("new"))
        self.assert_fails(errno.EPERM, os.mkfifo, self.at("new"))
        self.assertEqual(sorted(os.listdir(self.system.mount_point)), ["fs", "photos"])

    def test_AttributesOfTheRoot_AreNotChanged(self):
        before = os.stat(self.system.mount_point)
        self.assert_fails(errno.EPERM, os.chmod, self.system.mount_point, 0o700)
        self.assert_fails(errno.EPERM, os.chown, self.system.mount_point, 1, 1)
        self.assert_fails(errno.EPERM, os.utime, self.system.mount_point, (1, 1))
        self.assert_fails(errno.EPERM, os.setxattr, self.system.mount_point, "user.a", b"1")
        after = os.stat(self.system.mount_point)
        self.assertEqual((after.st_mode, after.st_uid, after.st_mtime_ns),
                         (before.st_mode, before.st_uid, before.st_mtime_ns))

    def test_AcrossBucketsAndIntoAndOutOfTheRoot_IsAnotherDevice(self):
        os.mkdir(self.path("folder"))
        for old, new in (
            (self.path("file"), self.at("photos", "file")),
            (self.path("folder"), self.at("photos", "folder")),
            (self.path("folder"), self.at("folder")),
            (self.at("photos"), self.path("photos")),
        ):
            self.assert_fails(errno.EXDEV, os.rename, old, new)
        self.assert_fails(errno.EXDEV, os.link, self.path("file"), self.at("photos", "file"))

    def test_Mv_CopiesAcrossBuckets(self):
        os.mkdir(self.path("folder"))
        self.write("folder/inner", b"inner")
        self.run_program("mv", self.path("file"), self.path("folder"), self.at("photos"))
        self.assertEqual(os.listdir(self.root), [])
        self.assertEqual(sorted(os.listdir(self.at("photos"))), ["file", "folder"])
        with open(self.at("photos", "folder", "inner"), "rb") as file:
            self.assertEqual(file.read(), b"inner")
        self.assertEqual(self.db["photos.files"].count_documents({}), 2)


if __name__ == "__main__":
    main()
