"""Goal: fio writes blocks of many sizes in random order, with checksums in them, and finds all of
them again.

Method: it uses the kernel's cache, O_DIRECT, shared mappings, and syncs in between, with several
jobs at once. Afterwards fio verifies the files in a new mount, so data that is right only in the
kernel's cache is found.
"""

import os

from mount_case import MountCase, main

OPTIONS = """
[global]
directory={folder}
filename_format=$jobname.$jobnum
allow_file_create=1
rw=randwrite
verify=crc32c
verify_fatal=1
verify_dump=0
end_fsync=1
randseed={seed}
thread=0
"""

JOBS = {
    "buffered": "ioengine=psync size=24m bsrange=512-96k bs_unaligned=1",
    "synced": "ioengine=psync size=4m bssplit=4k/50:20k/30:260k/20 fsync=16 fdatasync=7",
    "mapped": "ioengine=mmap size=16m bsrange=4k-64k",
    "direct": "ioengine=psync size=16m bssplit=4k/40:32k/30:128k/20:1m/10 direct=1",
    "queued": "ioengine=libaio iodepth=8 size=16m bssplit=4k/40:64k/40:512k/20 direct=1",
    # Overwrites existing data, so that chunks are changed in place, and verifies while it writes.
    "again": "ioengine=psync size=12m bs=12k overwrite=1 verify_backlog=64",
}
EACH = 2  # processes of each job, with a file each
SEED = 20240229


class Fio(MountCase):
    def setUp(self):
        super().setUp()
        self.folder = self.path("fio")
        os.mkdir(self.folder)

    def job_file(self, names):
        path = os.path.join(self.scratch, "jobs.fio")
        with open(path, "w", encoding="ascii") as file:
            file.write(OPTIONS.format(folder=self.folder, seed=SEED))
            for name in names:
                file.write(f"[{name}]\nnumjobs={EACH}\n" + JOBS[name].replace(" ", "\n") + "\n")
        return path

    def fio(self, names, *options, status=0):
        # fio runs in the scratch folder, and leaves the state of its verification there.
        return self.run_program("fio", *options, self.job_file(names), status=status)

    def test_RandomWritesOfManySizes_AreFoundAgain_AlsoAfterRemount(self):
        self.fio(JOBS)
        for name in JOBS:
            for number in range(EACH):
                self.assertGreater(os.path.getsize(os.path.join(self.folder, f"{name}.{number}")), 0)
        for _ in range(2):
            self.system.remount()
            self.fio(JOBS, "--verify_only")
        self.system.stop()
        self.check_store()

    def test_AChangedByte_IsFound(self):
        """Shows that fio verifies, so that the other test can fail."""
        self.fio(["direct"])
        with open(os.path.join(self.folder, "direct.1"), "r+b") as file:
            file.seek(5_000_000)
            byte = file.read(1)
            file.seek(5_000_000)
            file.write(bytes([byte[0] ^ 1]))
        self.system.remount()
        self.fio(["direct"], "--verify_only", status=1)
        self.system.stop()
        self.check_store()


if __name__ == "__main__":
    main()
