"""Goal: a key that appears twice in a command or in a part of it gets the same answer as from
MongoDB's own server. Otherwise code that checks one of the two and acts on the other could be
deceived.

Method: each of CASES goes to both servers. The codes must be the same, except for DIFFERENCES.
"""

import os
import unittest
import urllib.parse

import pymongo
from bson.int64 import Int64
from mongod import Mongod, require_mongod
from pymongo.errors import OperationFailure


class Again(str):
    """A key that may stand in a dict beside an equal one."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


def doubled(document, key, value):
    return {**document, Again(key): value}


def aggregate(name, options, key, value):
    stage = {name: doubled(options, key, value)}
    return {"aggregate": "c", "pipeline": [stage], "cursor": {}}


LOOKUP = {"from": "c", "as": "x", "pipeline": []}
GRAPH = {"from": "c", "startWith": 1, "connectFromField": "a", "connectToField": "b", "as": "x"}
BUCKET = {"groupBy": "$a", "boundaries": [0, 9], "default": 1}
STAGES = [
    ("$merge", {"into": "o"}, "into", {"db": "b", "coll": "o"}),
    ("$merge", {"into": "o", "on": "_id"}, "on", "_id"),
    ("$merge", {"into": doubled({"db": "a", "coll": "o"}, "db", "b")}, "whenMatched", "merge"),
    ("$out", {"db": "a", "coll": "o"}, "db", "b"),
    ("$unionWith", {"coll": "c"}, "coll", "d"),
    ("$unionWith", {"coll": "c", "pipeline": []}, "pipeline", []),
    ("$lookup", LOOKUP, "as", "y"),
    ("$lookup", LOOKUP, "pipeline", []),
    ("$lookup", {**LOOKUP, "let": {}}, "let", {}),
    ("$graphLookup", GRAPH, "as", "y"),
    ("$graphLookup", {**GRAPH, "maxDepth": 1}, "maxDepth", 2),
    ("$collStats", {"count": {}}, "count", {}),
    ("$listLocalSessions", {"allUsers": True}, "allUsers", True),
    ("$replaceRoot", {"newRoot": "$$ROOT"}, "newRoot", "$$ROOT"),
    ("$facet", {"f": []}, "f", []),
    ("$bucket", BUCKET, "default", 2),
    ("$unwind", {"path": "$a"}, "path", "$a"),
    ("$sample", {"size": 1}, "size", 1),
    ("$group", {"_id": 1}, "_id", 2),
    ("$project", {"a": 1}, "a", 1),
    ("$addFields", {"a": 1}, "a", 1),
    ("$match", {"a": 1}, "a", 1),
]
OF_USER = {"user": "u", "db": "a"}
COMMANDS = [
    ({"aggregate": "c", "pipeline": [], "cursor": {}}, "pipeline", []),
    ({"aggregate": "c", "pipeline": [], "cursor": {}}, "aggregate", "d"),
    ({"aggregate": "c", "pipeline": [], "cursor": doubled({"batchSize": 1}, "batchSize", 2)}, "hint", {}),
    ({"find": "c"}, "find", "d"),
    ({"find": "c", "filter": {}}, "filter", {}),
    ({"find": "c", "unknown": 1}, "unknown", 1),
    ({"find": "c", "maxTimeMS": 100}, "maxTimeMS", 200),
    ({"find": "c", "comment": 1}, "comment", 2),
    ({"count": "c", "query": {}}, "query", {}),
    ({"distinct": "c", "key": "a"}, "key", "b"),
    ({"insert": "c", "ordered": True, "documents": [{}]}, "ordered", False),
    ({"insert": "c", "writeConcern": {"w": 1}, "documents": [{}]}, "writeConcern", {"w": 1}),
    ({"update": "c", "updates": [doubled({"q": {}, "u": {}}, "q", {"a": 1})]}, "ordered", True),
    ({"delete": "c", "deletes": [doubled({"q": {}, "limit": 1}, "limit", 0)]}, "ordered", True),
    ({"findAndModify": "c", "query": {}, "remove": True}, "query", {"a": 1}),
    ({"findAndModify": "c", "query": {}, "remove": True}, "remove", False),
    ({"create": "made", "capped": True, "size": 4096}, "capped", False),
    ({"create": "made", "viewOn": "c", "pipeline": []}, "viewOn", "d"),
    ({"create": "made", "viewOn": "c", "pipeline": []}, "pipeline", []),
    ({"collMod": "v", "viewOn": "c", "pipeline": []}, "viewOn", "d"),
    ({"collMod": "c", "index": doubled({"name": "_id_", "hidden": True}, "name", "x")}, "validator", {}),
    ({"drop": "absent"}, "drop", "c"),
    ({"dropDatabase": 1}, "dropDatabase", 1),
    ({"createIndexes": "c", "indexes": []}, "indexes", []),
    ({"dropIndexes": "c", "index": "x"}, "index", "*"),
    ({"listIndexes": "c", "cursor": {}}, "cursor", {}),
    ({"listCollections": 1, "nameOnly": True}, "nameOnly", False),
    ({"createUser": "made", "pwd": "x", "roles": []}, "roles", ["root"]),
    ({"updateUser": "u", "pwd": "x"}, "pwd", "y"),
    ({"grantRolesToUser": "u", "roles": ["read"]}, "roles", ["root"]),
    ({"usersInfo": 1, "showCredentials": False}, "showCredentials", True),
    ({"explain": doubled({"find": "c", "filter": {}}, "filter", {})}, "comment", 1),
    ({"explain": {"find": "c"}, "verbosity": "queryPlanner"}, "verbosity", "queryPlanner"),
    ({"validate": "c", "full": False}, "full", True),
    ({"collStats": "c", "scale": 1}, "scale", 2),
    ({"dbStats": 1, "scale": 1}, "scale", 2),
    ({"ping": 1}, "ping", 1),
    ({"hello": 1}, "hello", 1),
    ({"connectionStatus": 1, "showPrivileges": True}, "showPrivileges", False),
    ({"getMore": Int64(1), "collection": "c"}, "collection", "d"),
    ({"killCursors": "c", "cursors": []}, "cursors", [Int64(1)]),
    ({"endSessions": []}, "endSessions", []),
    ({"filemd5": 1, "root": "fs"}, "root", "gs"),
    ({"convertToCapped": "c", "size": 4096}, "size", 8192),
    ({"profile": -1, "slowms": 100}, "slowms", 200),
    ({"createUser": "x", "pwd": "x", "roles": [doubled({"role": "read", "db": "a"}, "db", "b")]}, "comment", 1),
    ({"usersInfo": doubled(OF_USER, "db", "b")}, "comment", 1),
    ({"rolesInfo": doubled({"role": "read", "db": "a"}, "db", "b")}, "comment", 1),
]
ADMINISTRATION = [
    ({"renameCollection": "a.absent", "to": "a.y"}, "to", "a.z"),
    ({"renameCollection": "a.absent", "to": "a.y", "dropTarget": False}, "dropTarget", True),
    ({"getParameter": 1, "quiet": 1}, "quiet", 1),
    ({"setParameter": 1, "quiet": False}, "quiet", False),
    ({"killOp": 1, "op": 999999}, "op", 999998),
    ({"currentOp": 1, "$all": True}, "$all", False),
    ({"listDatabases": 1, "nameOnly": True}, "nameOnly", False),
    ({"getLog": "global"}, "getLog", "global"),
    ({"top": 1}, "top", 1),
]
# MongoDB 6.0.5 uses one of the two keys here. This server refuses the command.
TAKES_ONE = "an option of the stage given twice is refused"
OTHER_CODE = "it has a code of its own (2) for names of users and roles"
DIFFERENCES = {
    "$out db": (40413, "it says that there are not two fields"),
    "$lookup as": (40413, TAKES_ONE),
    "$lookup pipeline": (40413, TAKES_ONE),
    "$lookup let": (40413, TAKES_ONE),
    "$graphLookup as": (40413, TAKES_ONE),
    "$graphLookup maxDepth": (40413, TAKES_ONE),
    "createUser comment": (40413, OTHER_CODE),
    "usersInfo comment": (40413, OTHER_CODE),
    "rolesInfo comment": (40413, OTHER_CODE),
}


def cases():
    """(label, database, command)."""
    for name, options, key, value in STAGES:
        database = "a"
        command = aggregate(name, options, key, value)
        if name == "$listLocalSessions":
            command["aggregate"] = 1
        yield f"{name} {key}", database, command
    for database, commands in (("a", COMMANDS), ("admin", ADMINISTRATION)):
        for command, key, value in commands:
            given = command if key == "comment" and "comment" not in command else doubled(command, key, value)
            yield f"{next(iter(command))} {key}", database, given


def answers(client):
    """Returns {label: code}. The code of a success is 0."""
    client.drop_database("a")
    client["a"]["c"].insert_one({"_id": 1, "a": 1})
    client["a"].command("create", "v", viewOn="c", pipeline=[])
    found = {}
    for label, database, command in cases():
        try:
            client[database].command(command)
            found[label] = 0
        except OperationFailure as failure:
            found[label] = failure.code
    return found


class Duplicates(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        socket = urllib.parse.quote_plus(os.environ["CLIENT_SOCKET"])
        self.client = pymongo.MongoClient(f"mongodb://{socket}")
        self.addCleanup(self.client.close)

    def test_KeysGivenTwice_AreAnsweredAsByThePeer(self):
        with Mongod() as peer, peer.client() as client:
            expected = answers(client)
        expected.update({label: code for label, (code, _) in DIFFERENCES.items()})
        self.assertEqual(answers(self.client), expected)

    def test_CollectionsGivenTwice_AreRefused(self):
        """A command with two of these options ends MongoDB 6.0.5."""
        for name, options in (("$lookup", LOOKUP), ("$graphLookup", GRAPH)):
            with self.assertRaises(OperationFailure) as refused:
                self.client["a"].command(aggregate(name, options, "from", "d"))
            self.assertEqual(refused.exception.code, 40413)


if __name__ == "__main__":
    require_mongod()
    unittest.main(verbosity=2)
