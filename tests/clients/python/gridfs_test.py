"""Goal: GridFS works in both directions: a file that the driver stores is in the mount, and the
driver can read a file of the mount.
"""

import hashlib
import io
import os
import urllib.parse

import bson
import gridfs
from gridfs.errors import CorruptGridFile, NoFile

from client_case import ClientCase

ROOT = os.environ["CLIENT_ROOT"]
CHUNK = 255 * 1024
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 256 * 1024, 5_000_001]


def content(seed, size):
    return bytes((seed + i * 7 + i // 253) & 0xFF for i in range(65536))[:size] * (
        size // 65536 + 1
    )


class GridFs(ClientCase):
    def setUp(self):
        super().setUp()
        self.files = self.client["test"]
        self.bucket = gridfs.GridFSBucket(self.files)
        self.fs = gridfs.GridFS(self.files)

    def path(self, name):
        return os.path.join(ROOT, name)

    def test_Uploads_AreFilesInTheMount(self):
        for size in SIZES:
            data = content(1, size)[:size]
            name = f"python/up/{size}"
            id = self.bucket.upload_from_stream(name, io.BytesIO(data), metadata={"size": size})
            self.assertEqual(os.stat(self.path(name)).st_size, size)
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), data, size)
            digest = self.files.command("filemd5", id, root="fs")
            self.assertEqual(digest["md5"], hashlib.md5(data).hexdigest())
            self.bucket.delete(id)
            self.assertFalse(os.path.exists(self.path(name)))

    def test_FilesOfTheMount_AreDownloaded(self):
        os.makedirs(self.path("python/down"))
        for size in SIZES:
            data = content(2, size)[:size]
            name = f"python/down/{size}"
            with open(self.path(name), "wb") as file:
                file.write(data)
            into = io.BytesIO()
            self.bucket.download_to_stream_by_name(name, into)
            self.assertEqual(into.getvalue(), data, size)
            stored = self.fs.get_last_version(name)
            self.assertEqual((stored.length, stored.filename), (size, name))
            document = self.files["fs.files"].find_one({"filename": name})
            self.assertEqual(document["md5"], hashlib.md5(data).hexdigest())
            os.unlink(self.path(name))
            with self.assertRaises(NoFile):
                self.bucket.open_download_stream_by_name(name)

    def test_Streams_SeekAndRead(self):
        data = content(3, 1_000_000)[:1_000_000]
        with open(self.path("python-seek"), "wb") as file:
            file.write(data)
        with self.bucket.open_download_stream_by_name("python-seek") as stream:
            for position in (0, 999_999, 262_143, 262_144, 500_000, 10):
                stream.seek(position)
                self.assertEqual(stream.read(70_000), data[position : position + 70_000])
        os.unlink(self.path("python-seek"))

    def test_Revisions_HaveTheirOrder(self):
        for i in range(3):
            self.fs.put(b"revision %d" % i, filename="python-revised")
        for revision, number in ((0, 0), (1, 1), (-1, 2), (-2, 1)):
            stream = self.bucket.open_download_stream_by_name("python-revised", revision=revision)
            self.assertEqual(stream.read(), b"revision %d" % number)
        with open(self.path("python-revised"), "rb") as file:
            self.assertEqual(file.read(), b"revision 2")
        # A change through the mount changes the newest revision.
        with open(self.path("python-revised"), "ab") as file:
            file.write(b" and more")
        self.assertEqual(self.fs.get_last_version("python-revised").read(), b"revision 2 and more")
        self.assertEqual(self.fs.get_version("python-revised", 1).read(), b"revision 1")
        for file in self.bucket.find({"filename": "python-revised"}):
            self.bucket.delete(file._id)
        self.assertFalse(os.path.exists(self.path("python-revised")))

    def test_RenamesAndAborts_ShowInTheMount(self):
        id = bson.ObjectId()
        self.bucket.upload_from_stream_with_id(id, "python-old", b"x" * 600_000, chunk_size_bytes=1000)
        self.bucket.rename(id, "python-new")
        self.assertFalse(os.path.exists(self.path("python-old")))
        self.assertEqual(os.stat(self.path("python-new")).st_size, 600_000)
        os.rename(self.path("python-new"), self.path("python-newer"))
        self.assertEqual(self.fs.get(id).filename, "python-newer")
        self.assertEqual(self.fs.get(id).chunk_size, 1000)
        stream = self.bucket.open_upload_stream("python-never")
        stream.write(b"y" * 1_000_000)
        stream.abort()
        self.assertFalse(os.path.exists(self.path("python-never")))
        self.assertEqual(self.files["fs.chunks"].count_documents({"files_id": stream._id}), 0)
        self.bucket.delete(id)
        with self.assertRaises(NoFile):
            self.bucket.delete(id)

    def test_CompressedMessages_CarryTheSame(self):
        socket = urllib.parse.quote_plus(os.environ["CLIENT_SOCKET"])
        bucket = gridfs.GridFSBucket(self.connect(f"{socket}/?compressors=zlib")["test"])
        data = content(4, 2_000_000)[:2_000_000]
        id = bucket.upload_from_stream("python-zlib", data)
        with open(self.path("python-zlib"), "rb") as file:
            self.assertEqual(file.read(), data)
        self.assertEqual(bucket.open_download_stream(id).read(), data)
        bucket.delete(id)

    def test_MissingChunks_AreErrors(self):
        other = gridfs.GridFSBucket(self.db, bucket_name="broken", chunk_size_bytes=1000)
        id = other.upload_from_stream("f", b"z" * 5000)
        indexes = self.db["broken.chunks"].index_information()
        self.assertEqual(indexes["files_id_1_n_1"]["unique"], True)
        self.db["broken.chunks"].delete_one({"files_id": id, "n": 2})
        with self.assertRaises(CorruptGridFile):
            other.open_download_stream(id).read()
