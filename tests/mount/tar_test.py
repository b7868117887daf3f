"""Goal: tar packs and unpacks in the mount, into it and out of it, and --compare finds no
differences.
"""

import os

from mount_case import MountCase, main


class Tar(MountCase):
    def test_Archive_UnpackedInTheMount_ComparesEqual(self):
        tree = self.copy_moderate_tree()
        archive = os.path.join(self.scratch, "tree.tar")
        self.run_program("tar", "-cf", archive, "-C", tree, ".")
        os.mkdir(self.path("unpacked"))
        self.run_program("tar", "-xpf", archive, "-C", self.path("unpacked"))
        self.run_program("tar", "--compare", "-f", archive, "-C", self.path("unpacked"))
        self.assert_same_tree(tree, self.path("unpacked"))
        self.system.remount()
        self.run_program("tar", "--compare", "-f", archive, "-C", self.path("unpacked"))

    def test_Archive_WrittenToTheMount_UnpacksOutside(self):
        tree = self.copy_moderate_tree()
        self.run_program("cp", "-a", tree, self.path("tree"))
        self.run_program("tar", "-czf", self.path("tree.tgz"), "-C", self.path("tree"), ".")
        # Appending and deleting rewrite the archive in place.
        archive = self.path("tree.tar")
        self.run_program("tar", "-cf", archive, "-C", tree, "./c++")
        self.run_program("tar", "-rf", archive, "-C", tree, "./doc", "./large")
        self.run_program("tar", "--delete", "-f", archive, "./doc")
        self.system.remount()
        outside = os.path.join(self.scratch, "outside")
        os.mkdir(outside)
        self.run_program("tar", "-xpzf", self.path("tree.tgz"), "-C", outside)
        self.assert_same_tree(tree, outside)
        self.run_program("tar", "--compare", "-f", archive, "-C", tree)
        names = self.run_program("tar", "-tf", archive).decode(errors="replace")
        self.assertIn("./large\n", names)
        self.assertNotIn("./doc/", names)


if __name__ == "__main__":
    main()
