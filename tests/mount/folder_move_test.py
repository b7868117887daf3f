"""Goal: while a large directory is renamed, all requests for something in it wait, and no reader
elsewhere does.

Method: the directory is made as drivers would make it, by names of files. While it is renamed, more
threads than the daemon has look up names below it and make files in other directories, each in its
own, because the kernel lets only one thread at a time change a directory. The measured thread looks
up names that the kernel does not know yet, and reads a file.
"""

import json
import os
import threading
import time

from mount_case import MountCase, gridmount_only, main

NAMES = 100_000
WAITING = 40  # of each kind


@gridmount_only
class FolderMove(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        lines = (
            json.dumps({"bucket": "fs", "seed": i, "document": {
                "_id": i, "length": 3 if i == 0 else 0, "chunkSize": 261120,
                "uploadDate": {"$date": "2024-05-06T07:08:09Z"},
                "filename": f"moved/{i % 100}/{i}" if i else "elsewhere/file",
            }})
            for i in range(NAMES)
        )
        self.run_program(
            os.environ["DRIVER_DOCUMENTS"], "insert", self.system.store,
            input="\n".join(lines).encode(),
        )
        self.system.start()

    def start(self, work):
        def guarded():
            try:
                work()
            except Exception as error:
                self.errors.append(repr(error))

        thread = threading.Thread(target=guarded)
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def make(self, name):
        with open(name, "wb") as file:
            file.write(b"content")

    def look_up_elsewhere(self, name):
        self.assertFalse(os.path.exists(self.path("elsewhere", name)))
        with open(self.path("elsewhere", "file"), "rb") as file:
            self.assertEqual(len(file.read()), 3)

    def test_ManyWhoWait_KeepNobodyFromReadingElsewhere(self):
        self.errors = []
        for i in range(WAITING):
            os.listdir(self.path("moved", str(i)))
            os.makedirs(self.path("made", str(i)))
        self.look_up_elsewhere("absent")
        ended = []

        def rename():
            os.rename(self.path("moved"), self.path("renamed"))
            ended.append(time.monotonic())

        begin = time.monotonic()
        threads = [self.start(rename)]
        time.sleep(0.05)
        for i in range(WAITING):
            threads.append(self.start(lambda i=i: os.path.exists(self.path("moved", str(i), "new"))))
            threads.append(self.start(lambda i=i: self.make(self.path("made", str(i), "file"))))
        longest = 0.0
        answers = 0
        while not ended:
            before = time.monotonic()
            self.look_up_elsewhere(f"absent{answers}")
            longest = max(longest, time.monotonic() - before)
            answers += 1
            time.sleep(0.005)
        for thread in threads:
            thread.join()
        self.assertEqual(self.errors, [])
        lasted = ended[0] - begin
        self.assertLess(longest, lasted / 2, f"{answers} answers while a move took {lasted:.2f} s")
        self.assertGreater(answers, 10)
        for i in range(WAITING):
            self.assertEqual(os.listdir(self.path("made", str(i))), ["file"])
        self.assertEqual(len(os.listdir(self.path("renamed"))), 100)
        self.assertFalse(os.path.exists(self.path("moved")))
        self.system.stop()
        self.check_store()


if __name__ == "__main__":
    main()
