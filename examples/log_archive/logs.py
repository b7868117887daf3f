"""Lines of logs in a store that gridmount or gridstore serves.

  logs.py init SECONDS                     makes the collection; its lines expire after SECONDS
  logs.py keep SECONDS                     changes that time
  logs.py write PROGRAM LEVEL TEXT         adds a line
  logs.py find FILTER                      prints the lines that match a filter (JSON)
  logs.py count                            how many lines there are
  logs.py archive NAME                     writes all lines into the GridFS file NAME
  logs.py wait-until-empty                 returns when all lines have expired

The store is logs.gfs in the present folder. Files are in its database `test`, which a mount shows unless it is told
otherwise, and lines in the database `logs`.
"""

import datetime
import json
import os
import sys
import time
import urllib.parse

import gridfs
import pymongo

SECONDS_MAX = 60


def connect():
    socket = os.path.abspath("logs.gfs/gridmount.sock")
    return pymongo.MongoClient(f"mongodb://{urllib.parse.quote_plus(socket)}", tz_aware=True)


def init(client, seconds):
    client.logs.lines.create_index("at", expireAfterSeconds=int(seconds))
    print(f"a line expires after {seconds} seconds")


def keep(client, seconds):
    index = {"keyPattern": {"at": 1}, "expireAfterSeconds": int(seconds)}
    client.logs.command("collMod", "lines", index=index)
    print(f"a line expires after {seconds} seconds")


def write(client, program, level, text):
    now = datetime.datetime.now(datetime.timezone.utc)
    client.logs.lines.insert_one({"at": now, "program": program, "level": level, "text": text})


def find(client, condition):
    for line in client.logs.lines.find(json.loads(condition)).sort("at"):
        print(line["program"], line["level"], line["text"])


def count(client):
    print(client.logs.lines.count_documents({}), "lines")


def archive(client, name):
    lines = 0
    with gridfs.GridFSBucket(client.test).open_upload_stream(name) as file:
        for line in client.logs.lines.find().sort("at"):
            fields = (line["at"].isoformat(), line["program"], line["level"], line["text"])
            file.write(("\t".join(fields) + "\n").encode())
            lines += 1
    print(lines, "lines in", name)


def wait_until_empty(client):
    deadline = time.monotonic() + SECONDS_MAX
    while client.logs.lines.count_documents({}) > 0:
        if time.monotonic() > deadline:
            sys.exit(f"there are lines after {SECONDS_MAX} seconds")
        time.sleep(0.1)
    print("no lines")


COMMANDS = {
    "init": init,
    "keep": keep,
    "write": write,
    "find": find,
    "count": count,
    "archive": archive,
    "wait-until-empty": wait_until_empty,
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    with connect() as store:
        COMMANDS[sys.argv[1]](store, *sys.argv[2:])
