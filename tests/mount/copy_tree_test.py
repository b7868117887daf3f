"""Goal: a tree copied into the mount is the same tree at once, after a remount, and copied out
again.
"""

import os

from mount_case import MountCase, main


class CopyTree(MountCase):
    def test_CopiedTree_IsTheSame_AlsoAfterRemount(self):
        tree = self.copy_moderate_tree()
        inside = self.path("tree")
        self.run_program("cp", "-a", tree, inside)
        self.assert_same_tree(tree, inside)
        self.system.remount()
        self.assert_same_tree(tree, inside)
        back = os.path.join(self.scratch, "back")
        self.run_program("cp", "-a", inside, back)
        self.assert_same_tree(tree, back)

    def test_RsyncedTree_IsTheSame_AndASecondRunSendsNothing(self):
        tree = self.copy_moderate_tree()
        inside = self.path("tree")
        self.run_program("rsync", "-a", tree + "/", inside + "/")
        self.assert_same_tree(tree, inside)
        again = self.run_program("rsync", "-a", "--itemize-changes", tree + "/", inside + "/")
        self.assertEqual(again, b"")

    def test_RsyncedWithLinksAndAttributes_IsTheSame_AndASecondRunSendsNothing(self):
        tree = self.copy_moderate_tree()
        self.make_links_and_attributes(tree)
        inside = self.path("tree")
        copy = ["rsync", "-aHAX", "--delete", "--itemize-changes"]
        for _ in range(2):
            self.run_program(*copy, tree + "/", inside + "/")
            self.assertEqual(self.run_program(*copy, "-c", tree + "/", inside + "/"), b"")
            # Sparse or not, linked or not, the archive's reader has the last word.
            self.assertEqual(self.run_program(*copy, "-nc", inside + "/", tree + "/"), b"")
            self.system.remount()
        first = os.stat(os.path.join(inside, "linked0"))
        self.assertEqual(first.st_nlink, 5)
        self.assertEqual(os.stat(os.path.join(inside, "empty/linked4")).st_ino, first.st_ino)
        self.assertEqual(os.getxattr(os.path.join(inside, "empty"), "user.colour"), b"blue\0\xff")
        # Changes on either side are found and carried over, links to other files among them.
        os.setxattr(os.path.join(tree, "linked2"), "user.colour", b"red")
        os.unlink(os.path.join(tree, "linked1"))
        os.link(os.path.join(tree, "private"), os.path.join(tree, "linked1"))
        self.run_program("setfacl", "-m", "u:77:r", os.path.join(tree, "private"))
        changed = self.run_program(*copy, tree + "/", inside + "/").decode()
        self.assertIn("linked1", changed)
        self.assertEqual(self.run_program(*copy, "-c", tree + "/", inside + "/"), b"")
        self.assertEqual(os.getxattr(os.path.join(inside, "linked0"), "user.colour"), b"red")
        self.system.stop()
        self.check_store()

    def make_links_and_attributes(self, tree):
        for number in range(5):
            name = os.path.join(tree, "empty" if number == 4 else "", f"linked{number}")
            if number:
                os.link(os.path.join(tree, "linked0"), name)
            else:
                self.make_random_file(name, 300_000)
        os.setxattr(os.path.join(tree, "empty"), "user.colour", b"blue\0\xff")
        os.setxattr(os.path.join(tree, "linked3"), "user.long", bytes(2000))
        self.run_program("setfacl", "-m", "u:1234:rw,g:2345:r,m::rw", os.path.join(tree, "linked0"))
        self.run_program("setfacl", "-m", "d:u:1234:rwx", os.path.join(tree, "empty"))

    def test_MovedAndRemovedFolders_LeaveNothing(self):
        tree = self.copy_moderate_tree()
        self.run_program("cp", "-a", tree, self.path("tree"))
        os.rename(self.path("tree"), self.path("moved"))
        self.assert_same_tree(tree, self.path("moved"))
        self.assertEqual(os.listdir(self.root), ["moved"])
        self.run_program("rm", "-rf", self.path("moved"))
        self.assertEqual(os.listdir(self.root), [])
        self.system.remount()
        self.assertEqual(os.listdir(self.root), [])

    def test_StoreOfACopiedTree_IsSound(self):
        tree = self.copy_moderate_tree()
        self.run_program("cp", "-a", tree, self.path("tree"))
        self.run_program("rm", "-rf", self.path("tree", "doc"))
        self.system.stop()
        self.check_store()


if __name__ == "__main__":
    main()
