#!/usr/bin/env python3
"""Measures how fast one file is read in order over a network: by the mount, by a mount that has the
file in its cache on disk, by pymongo's GridFS, and by one find of all chunks. The network is a
proxy that delays all data.

  stream.py [--mib 100] [--rounds 3] [--round-trips 0,0.5,5,50] [--options=...]

Needs the variables that `ctest -N -V -R mount.deployment` shows (MONGOD, GRIDMOUNT, PYTHONPATH).
Prints MB/s, the median of the rounds. The daemon and pymongo's client are new in each round. Both
have read another file before, so that their connections are open.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

import gridfs
import pymongo

from deployment import Deployment, ReplicaSet
from mongod import require_mongod
from proxy import Proxy

CHUNK_BYTES = 256 * 1024
NAME = "file"
OTHER_NAME = "other"
OTHER_BYTES = 32 << 20


def upload(servers, size):
    with servers.client() as client:
        bucket = gridfs.GridFSBucket(client.bench, chunk_size_bytes=CHUNK_BYTES)
        bucket.upload_from_stream(NAME, os.urandom(size))
        bucket.upload_from_stream(OTHER_NAME, os.urandom(OTHER_BYTES))


def seconds_of(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def by_mount(uri, size, options):
    with Deployment(uri=uri, options=options) as mount:
        def read(name):
            path = os.path.join(mount.root, name)
            command = ["dd", f"if={path}", "of=/dev/null", "bs=1M", "status=none"]
            subprocess.run(command, check=True)

        read(OTHER_NAME)
        return seconds_of(lambda: read(NAME))


def from_disk(uri, size, options):
    """Measures a read from the cache on disk. Four reads before fill the cache, because one read
    leaves out data that the disk could not take in time. The kernel's page cache has the data, too,
    because the machine has just written it."""
    with tempfile.TemporaryDirectory() as folder:
        cached = [*options, f"--disk-cache={os.path.join(folder, 'cache')}"]
        for _ in range(4):
            by_mount(uri, size, cached)
        return by_mount(uri, size, cached)


def by_pymongo(uri, size, _):
    with pymongo.MongoClient(uri) as client:
        bucket = gridfs.GridFSBucket(client.get_default_database())

        def download(name):
            with open(os.devnull, "wb") as sink:
                bucket.download_to_stream_by_name(name, sink)

        download(OTHER_NAME)
        return seconds_of(lambda: download(NAME))


def by_find(uri, size, _):
    with pymongo.MongoClient(uri) as client:
        database = client.get_default_database()

        def find(name, length):
            file = database["fs.files"].find_one({"filename": name})
            chunks = database["fs.chunks"].find({"files_id": file["_id"]}).sort("n", 1)
            assert sum(len(chunk["data"]) for chunk in chunks) == length

        find(OTHER_NAME, OTHER_BYTES)
        return seconds_of(lambda: find(NAME, size))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--round-trips", default="0,0.5,5,50", help="milliseconds")
    parser.add_argument("--options", action="append", default=[], help="of gridmount")
    arguments = parser.parse_args()
    require_mongod()
    size = arguments.mib << 20
    systems = {"mount": by_mount, "from disk": from_disk, "pymongo": by_pymongo, "find": by_find}
    print("round trip  " + "".join(f"{name:>10}" for name in systems) + "   MB/s")
    with ReplicaSet() as servers:
        upload(servers, size)
        for round_trip in arguments.round_trips.split(","):
            rates = {name: [] for name in systems}
            for _ in range(arguments.rounds):
                for name, measure in systems.items():
                    with Proxy(servers.address, float(round_trip) / 2000) as proxy:
                        uri = f"mongodb://{proxy.address}/bench?directConnection=true"
                        rates[name].append(size / 1e6 / measure(uri, size, arguments.options))
            medians = (f"{statistics.median(rates[name]):10.0f}" for name in systems)
            print(f"{round_trip:>7} ms  " + "".join(medians), flush=True)


if __name__ == "__main__":
    main()
