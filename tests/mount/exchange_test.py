"""Goal: files can be exchanged between the mount and `gridfiles` in both directions, and are
standard GridFS documents.
"""

import os

from mount_case import MountCase, gridmount_only, main

CHUNK_BYTES = 256 * 1024


@gridmount_only
class Exchange(MountCase):
    def make(self, name, size):
        path = os.path.join(self.scratch, name)
        self.make_random_file(path, size)
        return path

    def get(self, name):
        """Returns the path of a file with the bytes that `gridfiles get` returns."""
        target = os.path.join(self.scratch, "got")
        if os.path.exists(target):
            os.unlink(target)
        self.gridfiles("get", name, "--local", target)
        return target

    def document(self, filename):
        found = [each for each in self.documents() if each[0].get("filename") == filename]
        self.assertEqual(len(found), 1, filename)
        return found[0]

    def test_PutFiles_AppearInTheMount(self):
        sizes = {"small.txt": 5, "deep/er/large.bin": 3_000_001, "empty": 0, "ü mlaut/é": 300_000}
        self.system.stop()
        for number, (name, size) in enumerate(sizes.items()):
            self.gridfiles("put", name, "--local", self.make(f"source{number}", size))
        self.system.start()
        for number, (name, size) in enumerate(sizes.items()):
            self.assertEqual(os.stat(self.path(name)).st_size, size)
            self.assert_same_file(os.path.join(self.scratch, f"source{number}"), self.path(name))
        self.assertEqual(sorted(os.listdir(self.root)), ["deep", "empty", "small.txt", "ü mlaut"])

    def test_WrittenFiles_AreGot(self):
        sources = {}
        for name, size in {"a": 0, "b/c": 1, "b/d": CHUNK_BYTES, "e": 5 * CHUNK_BYTES + 1}.items():
            sources[name] = self.make(name.replace("/", "_"), size)
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.run_program("cp", sources[name], self.path(name))
        self.system.stop()
        for name, source in sources.items():
            self.assertEqual(self.digest(self.get(name)), self.digest(source), name)
        listed = dict(
            line.split("\t") for line in self.gridfiles("list").decode().splitlines()
        )
        self.assertEqual(
            listed, {name: str(os.stat(source).st_size) for name, source in sources.items()}
        )

    def test_Md5_IsThatOfTheContent(self):
        for name, size in {"one": 1, "chunk": CHUNK_BYTES, "more": 7 * CHUNK_BYTES + 13}.items():
            self.run_program("cp", self.make(name, size), self.path(name))
        self.run_program("cp", "/dev/null", self.path("none"))
        # One file is written out of order, the other one is shortened. Their md5 is recomputed or
        # absent, but never stale.
        with open(self.path("random"), "wb") as file:
            for at in (2_000_000, 0, 900_000):
                file.seek(at)
                file.write(os.urandom(300_000))
        self.run_program("cp", self.make("cut", 1_500_000), self.path("cut"))
        os.truncate(self.path("cut"), 700_000)
        self.system.remount()
        md5 = {
            name: self.run_program("md5sum", self.path(name)).decode().split()[0]
            for name in os.listdir(self.root)
        }
        self.system.stop()
        for name in ("one", "chunk", "more", "none"):
            self.assertEqual(self.document(name)[0].get("md5"), md5[name], name)
        for name in ("random", "cut"):
            self.assertEqual(self.document(name)[0].get("md5", md5[name]), md5[name], name)

    def test_WrittenFile_HasTheDocumentsOfTheSpecification(self):
        size = 3 * CHUNK_BYTES + 100
        self.run_program("cp", self.make("source", size), self.path("file"))
        self.system.stop()
        file, chunks = self.document("file")
        self.assertEqual(file["length"], {"$numberLong": str(size)})
        self.assertEqual(file["chunkSize"], {"$numberInt": str(CHUNK_BYTES)})
        self.assertIn("$date", file["uploadDate"])
        self.assertIn("$oid", file["_id"])
        self.assertEqual(
            [(chunk["n"], chunk["bytes"]) for chunk in chunks],
            [
                ({"$numberInt": str(n)}, {"$numberLong": str(min(CHUNK_BYTES, size - n * CHUNK_BYTES))})
                for n in range(4)
            ],
        )

    def test_Hole_HasNoChunks_AndReadsAsZeros(self):
        with open(self.path("holey"), "wb") as file:
            file.write(b"start")
            file.seek(40 * CHUNK_BYTES)
            file.write(b"end")
        self.system.remount()
        with open(self.path("holey"), "rb") as file:
            data = file.read()
        self.assertEqual(data, b"start" + bytes(40 * CHUNK_BYTES - 5) + b"end")
        self.system.stop()
        file, chunks = self.document("holey")
        self.assertIs(file["metadata"]["sparse"], True)
        self.assertLess(len(chunks), 10)
        with open(self.get("holey"), "rb") as got:
            self.assertEqual(got.read(), data)
        self.check_store()

    def test_ReplacedAndDeleted_BothWays(self):
        self.run_program("cp", self.make("first", 100_000), self.path("file"))
        self.run_program("cp", self.make("other", 10), self.path("other"))
        self.system.stop()
        second = self.make("second", 400_000)
        self.gridfiles("--replace", "put", "file", "--local", second)
        self.gridfiles("delete", "other")
        self.system.start()
        self.assertEqual(os.listdir(self.root), ["file"])
        self.assert_same_file(second, self.path("file"))
        os.unlink(self.path("file"))
        self.system.stop()
        self.assertEqual(self.gridfiles("list"), b"")
        self.assertEqual(self.documents(), [])
        self.check_store()


if __name__ == "__main__":
    main()
