"""A tree copied into the mount is the same tree, then and after a remount, and out again."""

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
