"""Goal: st_nlink of a directory is 2 plus the number of its subdirectories, or 1, which means that
nobody counts.

The count of a directory that was made since mounting is exact, whatever the kernel has in its
caches. It becomes 1 when a driver makes names that imply subdirectories.
"""

import os
import unittest

from mount_case import MountCase, gridmount_only, main


@gridmount_only
class LinkCounts(MountCase):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.path("a"), self.path("b")
        os.mkdir(self.a)
        os.mkdir(self.b)

    def links(self, path):
        told = os.stat(path).st_nlink
        # A listing's entry, which the kernel requests in another way, must have the same count.
        parent, name = os.path.split(path)
        with os.scandir(parent) as entries:
            self.assertEqual([e.stat().st_nlink for e in entries if e.name == name], [told])
        return told

    def put(self, name):
        local = os.path.join(self.scratch, "local")
        with open(local, "wb") as file:
            file.write(b"content")
        self.gridfiles("--local", local, "put", name)

    def test_MakingAndRemoving(self):
        self.assertEqual(self.links(self.a), 2)
        for count, name in enumerate(("x", "y", "z"), 3):
            os.mkdir(os.path.join(self.a, name))
            self.assertEqual(self.links(self.a), count)
        with open(os.path.join(self.a, "file"), "wb"):
            pass
        self.assertEqual(self.links(self.a), 5)
        os.rmdir(os.path.join(self.a, "y"))
        self.assertEqual(self.links(self.a), 4)

    def test_Moving_ChangesBothParents(self):
        os.mkdir(os.path.join(self.a, "x"))
        self.assertEqual((self.links(self.a), self.links(self.b)), (3, 2))
        os.rename(os.path.join(self.a, "x"), os.path.join(self.b, "x"))
        self.assertEqual((self.links(self.a), self.links(self.b)), (2, 3))
        os.rename(self.a, os.path.join(self.b, "a"))
        self.assertEqual(self.links(self.b), 4)
        # Moves a directory over an empty one.
        os.rename(os.path.join(self.b, "a"), os.path.join(self.b, "x"))
        self.assertEqual(self.links(self.b), 3)

    def test_RemovedFolderThatIsOpen_HasNone(self):
        fd = os.open(self.a, os.O_RDONLY | os.O_DIRECTORY)
        os.rmdir(self.a)
        self.assertEqual(os.fstat(fd).st_nlink, 0)
        os.close(fd)

    def test_AfterARemount_NobodyCounts(self):
        self.system.remount()
        self.assertEqual(self.links(self.a), 1)
        os.mkdir(os.path.join(self.a, "x"))
        self.assertEqual(self.links(self.a), 1)
        self.assertEqual(self.links(os.path.join(self.a, "x")), 2)

    def test_FolderThatADriverImplies_EndsTheCounting(self):
        os.mkdir(os.path.join(self.a, "x"))
        self.assertEqual(self.links(self.a), 3)
        self.put("a/x/file")
        self.put("b/file")
        self.assertEqual((self.links(self.a), self.links(self.b)), (3, 2))
        self.put("a/implied/file")
        self.assertEqual(self.links(self.a), 1)
        self.assertEqual(sorted(os.listdir(self.a)), ["implied", "x"])

    def test_Find_FindsAll(self):
        for name in ("a/x/y", "b/z"):
            os.makedirs(self.path(name))
        self.put("a/implied/deep/file")
        found = self.run_program("find", self.root, "-type", "d").decode().split()
        self.assertEqual(len(found), 8)


if __name__ == "__main__":
    main()
