"""Goal: for a user with one built-in role, every command is allowed or refused exactly as by
MongoDB's own server.

Method: both servers get a user for every role, in each database where that makes a difference, and
one user without roles. Each user sends every command of COMMANDS to both. The test compares whether
the answer was "Unauthorized" (13). Where the two differ, DIFFERENCES names the users and the
reason. A listed difference that no longer exists also fails the test.
"""

import os
import unittest
import urllib.parse

import pymongo
from bson.int64 import Int64
from mongod import PASSWORD, ROOT, Mongod, require_mongod
from pymongo.errors import OperationFailure

OF_EACH_DATABASE = ("read", "readWrite", "dbAdmin", "userAdmin", "dbOwner", "enableSharding")
OF_ADMIN = (
    "readAnyDatabase",
    "readWriteAnyDatabase",
    "dbAdminAnyDatabase",
    "userAdminAnyDatabase",
    "clusterMonitor",
    "hostManager",
    "clusterManager",
    "clusterAdmin",
    "backup",
    "restore",
    "root",
)
USERS = {"nobody": []}
USERS.update({f"{role}@shop": [(role, "shop")] for role in OF_EACH_DATABASE})
USERS.update({f"{role}@admin": [(role, "admin")] for role in OF_EACH_DATABASE})
USERS.update({f"{role} of all": [(role, "admin")] for role in OF_ADMIN})
UNAUTHORIZED = 13


def aggregate(collection, *stages, **fields):
    return {"aggregate": collection, "pipeline": list(stages), "cursor": {}, **fields}


def read_commands():
    """Returns the read commands for every kind of namespace."""
    for database, collection in (
        ("shop", "orders"),
        ("shop", "system.js"),
        ("shop", "system.profile"),
        ("shop", "system.users"),
        ("other", "orders"),
        ("admin", "things"),
        ("admin", "system.users"),
        ("admin", "system.roles"),
        ("admin", "system.version"),
        ("admin", "tempusers"),
        ("local", "startup_log"),
        ("config", "things"),
    ):
        yield f"find {database}.{collection}", database, {"find": collection, "limit": 1}
        yield f"insert {database}.{collection}", database, {
            "insert": collection,
            # This document is neither a user nor an entry of a profile. The command tests only the
            # permission.
            "documents": [{"_id": {"$bad": 1}}],
        }
        yield f"remove {database}.{collection}", database, {
            "delete": collection,
            "deletes": [{"q": {"_id": "absent"}, "limit": 1}],
        }
    for database in ("shop", "other"):
        yield f"count {database}", database, {"count": "orders"}
        yield f"distinct {database}", database, {"distinct": "orders", "key": "a"}
        yield f"explain find {database}", database, {"explain": {"find": "orders"}}
        yield f"explain remove {database}", database, {
            "explain": {"delete": "orders", "deletes": [{"q": {}, "limit": 1}]}
        }
        yield f"aggregate {database}", database, aggregate("orders")
        yield f"explain aggregate {database}", database, {
            "explain": aggregate("orders", {"$lookup": {"from": "o", "as": "x", "pipeline": []}}),
            "verbosity": "queryPlanner",
        }
        yield f"listIndexes {database}", database, {"listIndexes": "orders"}
        yield f"collStats {database}", database, {"collStats": "orders"}
        yield f"dbStats {database}", database, {"dbStats": 1}
        yield f"listCollections {database}", database, {"listCollections": 1}
        yield f"listCollections own {database}", database, {
            "listCollections": 1,
            "nameOnly": True,
            "authorizedCollections": True,
        }
        yield f"validate {database}", database, {"validate": "orders"}
        yield f"dataSize {database}", database, {"dataSize": f"{database}.orders"}
        yield f"filemd5 {database}", database, {"filemd5": 1, "root": "fs"}
        yield f"profile {database}", database, {"profile": -1}


def stage_commands():
    lookup = {"from": "system.users", "as": "x", "pipeline": []}
    graph = {
        "from": "system.users",
        "startWith": 1,
        "connectFromField": "a",
        "connectToField": "b",
        "as": "x",
    }
    for database in ("shop", "admin"):
        things = "orders" if database == "shop" else "things"
        for label, stage in (
            ("$lookup", {"$lookup": lookup}),
            ("$lookup in $facet", {"$facet": {"f": [{"$lookup": lookup}]}}),
            ("$lookup in $unionWith", {"$unionWith": {"coll": things, "pipeline": [{"$lookup": lookup}]}}),
            ("$unionWith", {"$unionWith": "system.users"}),
            ("$graphLookup", {"$graphLookup": graph}),
            ("$unionWith own", {"$unionWith": things}),
            ("$collStats", {"$collStats": {"count": {}}}),
            ("$indexStats", {"$indexStats": {}}),
        ):
            yield f"{label} {database}", database, aggregate(things, stage)
    nothing = {"$match": {"_id": "absent"}}
    for database in ("shop", "other"):
        yield f"$merge into {database}", "shop", aggregate(
            "orders", nothing, {"$merge": {"into": {"db": database, "coll": "made"}}}
        )
        yield f"$out to {database}", "shop", aggregate(
            "orders", nothing, {"$out": {"db": database, "coll": "replaced"}}
        )
        yield f"$merge without validation {database}", "shop", aggregate(
            "orders",
            nothing,
            {"$merge": {"into": {"db": database, "coll": "made"}}},
            bypassDocumentValidation=True,
        )
    yield "$currentOp", "admin", aggregate(1, {"$currentOp": {"allUsers": True}})
    yield "$currentOp own", "admin", aggregate(1, {"$currentOp": {}})
    yield "$listLocalSessions", "admin", aggregate(1, {"$listLocalSessions": {"allUsers": True}})


def write_commands():
    for database in ("shop", "other"):
        yield f"update {database}", database, {
            "update": "orders",
            "updates": [{"q": {"_id": "absent"}, "u": {"$set": {"a": 1}}}],
        }
        yield f"upsert {database}", database, {
            "update": "orders",
            "updates": [{"q": {"_id": "upserted"}, "u": {"$set": {"a": 1}}, "upsert": True}],
        }
        yield f"insert without validation {database}", database, {
            "insert": "orders",
            "documents": [{"_id": {"$bad": 1}}],
            "bypassDocumentValidation": True,
        }
        absent = {"findAndModify": "orders", "query": {"_id": "absent"}}
        yield f"findAndModify {database}", database, {**absent, "update": {"$set": {"a": 1}}}
        yield f"findAndModify remove {database}", database, {**absent, "remove": True}
        yield f"create {database}", database, {"create": "orders"}
        yield f"createIndexes {database}", database, {
            "createIndexes": "orders",
            "indexes": [{"key": {"a": 1}, "name": "a_1"}],
        }
        yield f"dropIndexes {database}", database, {"dropIndexes": "orders", "index": "absent"}
        yield f"drop {database}", database, {"drop": "absent"}
        yield f"collMod {database}", database, {"collMod": "orders", "validationLevel": "strict"}
        yield f"convertToCapped {database}", database, {"convertToCapped": "absent", "size": 4096}
        yield f"view {database}", database, {"create": "v", "viewOn": "orders", "pipeline": []}
        yield f"renameCollection {database}", "admin", {
            "renameCollection": f"{database}.absent",
            "to": f"{database}.gone",
        }
        yield f"renameCollection over {database}", "admin", {
            "renameCollection": f"{database}.absent",
            "to": f"{database}.orders",
            "dropTarget": True,
        }
        yield f"dropDatabase {database}", database, {"dropDatabase": 1}
    yield "renameCollection elsewhere", "admin", {
        "renameCollection": "shop.absent",
        "to": "other.gone",
    }
    yield "dropDatabase admin", "admin", {"dropDatabase": 1}
    for collection in ("system.users", "system.version", "system.roles"):
        yield f"drop {collection}", "admin", {"drop": collection}
    yield "convertToCapped system.users", "admin", {"convertToCapped": "system.users", "size": "x"}


def user_commands():
    for database in ("shop", "other", "admin"):
        absent = {"user": "absent", "db": database}
        yield f"usersInfo 1 {database}", database, {"usersInfo": 1}
        yield f"usersInfo {database} from shop", "shop", {"usersInfo": absent}
        yield f"usersInfo credentials {database} from shop", "shop", {
            "usersInfo": absent,
            "showCredentials": True,
        }
        yield f"usersInfo list {database} from shop", "shop", {
            "usersInfo": [{"user": "absent", "db": "shop"}, absent]
        }
        yield f"rolesInfo {database} from shop", "shop", {
            "rolesInfo": {"role": "hostManager", "db": database}
        }
        yield f"rolesInfo 1 {database}", database, {"rolesInfo": 1, "showPrivileges": True}
        yield f"createUser {database}", database, {
            "createUser": "made",
            "pwd": "made",
            "roles": [{"role": "read", "db": database}],
        }
        yield f"createUser of another's role {database}", database, {
            "createUser": "unmade",
            "pwd": "x",
            "roles": [{"role": "read", "db": "third"}],
        }
        yield f"createUser without roles {database}", database, {
            "createUser": "idle",
            "pwd": "x",
            "roles": [],
        }
        for label, fields in (
            ("pwd", {"pwd": "x"}),
            ("customData", {"customData": {}}),
            ("roles", {"roles": []}),
        ):
            yield f"updateUser {label} {database}", database, {"updateUser": "absent", **fields}
        for command in ("grantRolesToUser", "revokeRolesFromUser"):
            yield f"{command} {database}", database, {command: "absent", "roles": ["read"]}
            yield f"{command} nothing {database}", database, {command: "absent", "roles": []}
        yield f"dropUser {database}", database, {"dropUser": "absent"}
    yield "usersInfo all", "admin", {"usersInfo": {"forAllDBs": True}}
    yield "dropAllUsersFromDatabase", "shop", {"dropAllUsersFromDatabase": 1}
    yield "connectionStatus", "shop", {"connectionStatus": 1, "showPrivileges": True}


def server_commands():
    for command in (
        {"serverStatus": 1},
        {"hostInfo": 1},
        {"getLog": "global"},
        {"top": 1},
        {"getParameter": 1, "quiet": 1},
        {"setParameter": 1, "quiet": False},
        {"getCmdLineOpts": 1},
        {"connPoolStats": 1},
        {"currentOp": 1},
        {"killOp": 1, "op": 999999999},
        {"listDatabases": 1},
        {"listCommands": 1},
        {"buildInfo": 1},
        {"ping": 1},
        {"hello": 1},
        {"whatsmyuri": 1},
        {"fsyncUnlock": 1},
        {"killAllSessions": [{"user": "absent", "db": "shop"}]},
        {"endSessions": []},
        {"refreshSessions": []},
        {"startSession": 1},
        {"replSetGetStatus": 1},
    ):
        yield next(iter(command)), "admin", command
    yield "killCursors", "shop", {"killCursors": "orders", "cursors": [Int64(1)]}


def all_commands():
    yield from read_commands()
    yield from stage_commands()
    yield from write_commands()
    yield from user_commands()
    yield from server_commands()


WITHOUT_INPROG = set(USERS) - {"clusterMonitor of all", "clusterAdmin of all", "root of all"}

# label of the command: (users, why).
DIFFERENCES = {
    "$currentOp own": (WITHOUT_INPROG, "whose an operation is is not told: all of them are shown"),
}


def prepare(root):
    root.drop_database("shop")
    root.drop_database("other")
    for database in ("shop", "other"):
        root[database]["orders"].insert_one({"_id": 1})
        root[database].command("create", "v", viewOn="orders", pipeline=[])
    root["admin"]["things"].replace_one({"_id": 1}, {"_id": 1}, upsert=True)


def create_users(root):
    for name, roles in USERS.items():
        given = [{"role": role, "db": database} for role, database in roles]
        root["admin"].command("createUser", name, pwd=PASSWORD, roles=given)


def answers(connect, root):
    """Returns {(user, label): True if the server refused the command}."""
    found = {}
    for name in USERS:
        prepare(root)
        with connect(name) as client:
            for label, database, command in all_commands():
                try:
                    client[database].command(command)
                    found[name, label] = False
                except OperationFailure as failure:
                    found[name, label] = failure.code == UNAUTHORIZED
    return found


class Roles(unittest.TestCase):
    maxDiff = None

    def test_EveryRole_IsAllowedAndRefusedAsByThePeer(self):
        expected = self.of_peer()
        ours = self.of_ours()
        different = {}
        for (user, label), refused in expected.items():
            if ours[user, label] != refused:
                different.setdefault(label, {})[user] = "refused" if refused else "allowed"
        unlisted = {
            f"{label} by {user}": f"the peer: {answer}"
            for label, users in different.items()
            for user, answer in users.items()
            if user not in DIFFERENCES.get(label, ((), ""))[0]
        }
        self.assertEqual(unlisted, {})
        gone = {
            f"{label} by {user}"
            for label, (users, _) in DIFFERENCES.items()
            for user in users
            if user not in different.get(label, {})
        }
        self.assertEqual(gone, set())

    def of_peer(self):
        with Mongod(auth=True) as peer, peer.root_client() as root:
            create_users(root)
            return answers(lambda name: peer.client(username=name, password=PASSWORD), root)

    def of_ours(self):
        socket = urllib.parse.quote_plus(os.environ["CLIENT_SOCKET"])
        with pymongo.MongoClient(f"mongodb://{socket}") as owner:
            owner["admin"].command("createUser", ROOT, pwd=PASSWORD, roles=["root"])
            create_users(owner)
            return answers(
                lambda name: pymongo.MongoClient(
                    f"mongodb://{os.environ['CLIENT_TCP']}", username=name, password=PASSWORD
                ),
                owner,
            )


if __name__ == "__main__":
    require_mongod()
    unittest.main(verbosity=2)
