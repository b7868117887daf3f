"""gridmount on a MongoDB deployment: a replica set that this process starts, and mounts of its
databases.

Needs CTest's fixture `peer` (tests/clients/peer/mongod.py). Not thread-safe.
"""

import atexit
import os
import time
import unittest

import gridfs
import pymongo
from mongod import Mongod, require_mongod
from mounts import BUCKET, Mounted

SET_NAME = "rs"
PRIMARY_SECONDS_MAX = 60.0


class ReplicaSet(Mongod):
    """A replica set with one member, which is the primary. It runs while the context lasts.

    Without a `parent`, its folder is in memory if possible: the server syncs its journal for each
    commit, and no test depends on the journal after a power loss. `client_options` are the options
    of clients.
    """

    def __init__(self, auth=False, options=(), parent=None, client_options=None):
        if parent is None and os.access("/dev/shm", os.W_OK):
            parent = "/dev/shm"
        super().__init__(auth, [*options, "--replSet", SET_NAME], parent=parent)
        self.is_initiated = False
        self.client_options = client_options or {}

    def client(self, **options):
        return super().client(**self.client_options, **options)

    def _wait_until_it_answers(self):
        if not super()._wait_until_it_answers():
            return False
        with self.client() as first:
            member = {"_id": 0, "host": self.address}
            if not self.is_initiated:
                first.admin.command("replSetInitiate", {"_id": SET_NAME, "members": [member]})
                self.is_initiated = True
            return self.wait_for_primary()

    def wait_for_primary(self):
        """Returns True if there is a primary in time."""
        deadline = time.monotonic() + PRIMARY_SECONDS_MAX
        with self.client() as asked:
            while time.monotonic() < deadline:
                if asked.admin.command("hello")["isWritablePrimary"]:
                    return True
                time.sleep(0.02)
        return False

    def uri(self, database, options=""):
        return f"mongodb://{self.address}/{database}?replicaSet={SET_NAME}{options}"


class Deployment(Mounted):
    """gridmount on a database of a deployment; `root` is the folder of the bucket `fs`.

    Without a `uri` it is a fresh database of a replica set that all mounts of this process share.
    """

    name = "gridmount over a deployment"
    _shared = None
    _databases = 0

    def __init__(self, temp_parent=None, options=(), uri=None):
        super().__init__(temp_parent)
        self.options = list(options)
        self.uri = uri or self._fresh_uri()
        self.store = self.uri
        self.root = os.path.join(self.mount_point, BUCKET)

    def command(self):
        return [os.environ["GRIDMOUNT"], "-f", "--create", *self.options, self.uri, self.mount_point]

    def client(self):
        return pymongo.MongoClient(self.uri, serverSelectionTimeoutMS=10_000)

    @classmethod
    def shared(cls):
        """Returns the replica set that all mounts without a `uri` share."""
        if Deployment._shared is None:
            require_mongod()
            Deployment._shared = ReplicaSet()
            Deployment._shared.__enter__()
            atexit.register(Deployment._shared.__exit__, None, None, None)
        return Deployment._shared

    @classmethod
    def _fresh_uri(cls):
        Deployment._databases += 1
        return Deployment.shared().uri(f"db{Deployment._databases}")


class UploadCase(unittest.TestCase):
    """A test that reads files through mounts, and uploads them with a driver."""

    CHUNK_BYTES = 256 * 1024

    def database(self, mount):
        client = mount.client()
        self.addCleanup(client.close)
        return client.get_default_database()

    def upload(self, database, name, content):
        bucket = gridfs.GridFSBucket(database)
        return bucket.upload_from_stream(name, content, chunk_size_bytes=self.CHUNK_BYTES)

    def read(self, mount, name="file"):
        with open(os.path.join(mount.root, name), "rb") as file:
            return file.read()
