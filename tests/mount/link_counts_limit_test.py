"""Goal: st_nlink is exact for a limited number of directories, those made first. For all others it
is 1.
"""

import os

from mount_case import MountCase, gridmount_only, main

FOLDERS_MAX = 100_000
IN_EACH = 1000


@gridmount_only
class LinkCountsLimit(MountCase):
    def links(self, *parts):
        return os.stat(self.path(*parts)).st_nlink

    def test_FoldersBeyondTheLimit_AreNotCounted(self):
        parents = FOLDERS_MAX // IN_EACH
        for parent in range(parents):
            os.mkdir(self.path(str(parent)))
            for number in range(IN_EACH):
                os.mkdir(self.path(str(parent), str(number)))
        os.mkdir(self.path("late"))
        os.mkdir(self.path("late", "inner"))
        self.assertEqual(self.links("0"), IN_EACH + 2)
        self.assertEqual(self.links("0", "0"), 2)
        self.assertEqual(self.links("late"), 1)
        self.assertEqual(self.links("late", "inner"), 1)
        # Directories that are counted stay counted.
        os.mkdir(self.path("0", "one more"))
        self.assertEqual(self.links("0"), IN_EACH + 3)
        self.assertEqual(os.listdir(self.path("late")), ["inner"])


if __name__ == "__main__":
    main()
