"""Goal: authentication over TCP succeeds and fails as it should, and roles have the right
permissions.
"""

import os
import urllib.parse

import gridfs
from pymongo.errors import OperationFailure

from client_case import PASSWORD, ClientCase

ADDRESS = os.environ["CLIENT_TCP"]


class Authentication(ClientCase):
    def log_in(self, user, password=PASSWORD, mechanism=None, **options):
        if mechanism:
            options["authMechanism"] = mechanism
        return self.connect(
            ADDRESS, username=user, password=password, authSource="test", **options
        )

    def test_BothMechanisms_LogIn(self):
        for user, mechanism in (
            ("both", None),
            ("both", "SCRAM-SHA-1"),
            ("both", "SCRAM-SHA-256"),
            ("sha1", None),
            ("sha1", "SCRAM-SHA-1"),
            ("sha256", "SCRAM-SHA-256"),
        ):
            with self.subTest(user=user, mechanism=mechanism):
                client = self.log_in(user, mechanism=mechanism)
                items = client["test"]["python-items"]
                items.replace_one({"_id": 1}, {"by": user}, upsert=True)
                self.assertEqual(items.find_one(), {"_id": 1, "by": user})
                info = client["test"].command("connectionStatus")["authInfo"]
                self.assertEqual(info["authenticatedUsers"], [{"user": user, "db": "test"}])
                items.drop()

    def test_Addresses_CarryUsers(self):
        user = urllib.parse.quote_plus("both") + ":" + urllib.parse.quote_plus(PASSWORD)
        client = self.connect(f"{user}@{ADDRESS}/test")
        self.assertEqual(client["test"]["python-items"].count_documents({}), 0)

    def test_WrongLogIns_AreRefused(self):
        for user, password, mechanism in (
            ("both", "wrong", "SCRAM-SHA-256"),
            ("both", "wrong", "SCRAM-SHA-1"),
            ("both", "wrong", None),
            ("nobody", PASSWORD, "SCRAM-SHA-256"),
            ("sha1", PASSWORD, "SCRAM-SHA-256"),
            ("sha256", PASSWORD, "SCRAM-SHA-1"),
        ):
            with self.subTest(user=user, mechanism=mechanism):
                client = self.log_in(user, password, mechanism)
                with self.assertRaises(OperationFailure) as refused:
                    client["test"]["python-items"].find_one()
                self.assert_code(refused.exception, 18, "AuthenticationFailed")
                # So many failures in a row would shut out even the right password for a while.
                if user != "nobody":
                    self.log_in(user)["test"]["python-items"].find_one()

    def test_WithoutLogIn_NothingIsAnswered(self):
        client = self.connect(ADDRESS)
        self.assertEqual(client.admin.command("ping")["ok"], 1)
        for refused in (
            lambda: client["test"]["python-items"].find_one(),
            lambda: client["test"]["python-items"].insert_one({}),
            lambda: client.list_database_names(),
        ):
            with self.assertRaises(OperationFailure) as error:
                refused()
            self.assert_code(error.exception, 13, "Unauthorized")

    def test_Readers_MayNotWrite(self):
        self.client["test"]["python-items"].insert_one({"_id": 1})
        items = self.log_in("reader")["test"]["python-items"]
        self.assertEqual(items.find_one(), {"_id": 1})
        for refused in (
            lambda: items.insert_one({}),
            lambda: items.update_one({}, {"$set": {"a": 1}}),
            lambda: items.delete_many({}),
            lambda: items.create_index("a"),
            lambda: items.drop(),
            lambda: items.aggregate([{"$out": "python-other"}]),
        ):
            with self.assertRaises(OperationFailure) as error:
                refused()
            self.assert_code(error.exception, 13, "Unauthorized")
        self.client["test"]["python-items"].drop()

    def test_Roles_EndWithTheirDatabase(self):
        client = self.log_in("both")
        for refused in (
            lambda: client["elsewhere"]["items"].find_one(),
            lambda: client["elsewhere"]["items"].insert_one({}),
            lambda: client["test"].command("createUser", "x", pwd="y", roles=[]),
        ):
            with self.assertRaises(OperationFailure) as error:
                refused()
            self.assert_code(error.exception, 13, "Unauthorized")

    def test_GridFs_WithALogIn(self):
        data = os.urandom(700_000)
        id = gridfs.GridFS(self.log_in("both")["test"]).put(data, filename="python-login")
        with open(os.path.join(os.environ["CLIENT_ROOT"], "python-login"), "rb") as file:
            self.assertEqual(file.read(), data)
        readers = gridfs.GridFS(self.log_in("reader")["test"])
        self.assertEqual(readers.get(id).read(), data)
        with self.assertRaises(OperationFailure) as error:
            readers.delete(id)
        self.assertEqual(error.exception.code, 13)
        os.unlink(os.path.join(os.environ["CLIENT_ROOT"], "python-login"))

    def test_Users_AreManaged(self):
        db = self.client["python"]
        db.command("createUser", "eve", pwd="one", roles=[{"role": "read", "db": "test"}])
        self.addCleanup(db.command, "dropAllUsersFromDatabase")
        [user] = db.command("usersInfo", "eve")["users"]
        self.assertEqual(user["roles"], [{"role": "read", "db": "test"}])
        self.assertEqual(sorted(user["mechanisms"]), ["SCRAM-SHA-1", "SCRAM-SHA-256"])
        db.command("updateUser", "eve", pwd="two")
        with self.assertRaises(OperationFailure):
            self.connect(ADDRESS, username="eve", password="one", authSource="python").test.x.find_one()
        client = self.connect(ADDRESS, username="eve", password="two", authSource="python")
        self.assertIsNone(client["test"]["python-items"].find_one())
        with self.assertRaises(OperationFailure):
            client["test"]["python-items"].insert_one({})
        db.command("grantRolesToUser", "eve", roles=[{"role": "readWrite", "db": "test"}])
        client["test"]["python-items"].insert_one({})
        client["test"]["python-items"].drop()
        with self.assertRaises(OperationFailure) as exists:
            db.command("createUser", "eve", pwd="one", roles=[])
        self.assertEqual(exists.exception.code, 51003)
