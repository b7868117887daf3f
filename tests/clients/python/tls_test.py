"""Goal: TLS works with valid certificates of both sides, and fails with invalid ones."""

import os

import gridfs
import pymongo
from pymongo.errors import OperationFailure, ServerSelectionTimeoutError

from client_case import PASSWORD, REFUSAL_MS, ClientCase, certificate

ADDRESS = os.environ["CLIENT_TLS"]


class Tls(ClientCase):
    def connect_by_tls(self, **options):
        options.setdefault("tlsCAFile", certificate("ca.pem"))
        return self.connect(ADDRESS, tls=True, **options)

    def assert_refused(self, client):
        with self.assertRaises((ServerSelectionTimeoutError, pymongo.errors.AutoReconnect)):
            client.admin.command("ping")

    def test_TheRightAuthority_ConnectsAndLogsIn(self):
        client = self.connect_by_tls(username="both", password=PASSWORD, authSource="test")
        data = os.urandom(3_000_000)
        id = gridfs.GridFS(client["test"]).put(data, filename="f")
        self.assertEqual(gridfs.GridFS(client["test"]).get(id).read(), data)
        gridfs.GridFS(client["test"]).delete(id)

    def test_TheServersName_IsChecked(self):
        host, port = ADDRESS.split(":")
        by_name = self.connect(f"localhost:{port}", tls=True, tlsCAFile=certificate("ca.pem"))
        self.assertEqual(by_name.admin.command("ping")["ok"], 1)
        other = self.connect(
            f"127.0.0.2:{port}", tls=True, tlsCAFile=certificate("ca.pem"),
            serverSelectionTimeoutMS=REFUSAL_MS,
        )
        self.assert_refused(other)

    def test_AnotherAuthority_IsRefused(self):
        client = self.connect_by_tls(
            tlsCAFile=certificate("other-ca.pem"), serverSelectionTimeoutMS=REFUSAL_MS
        )
        self.assert_refused(client)
        unchecked = self.connect_by_tls(
            tlsCAFile=certificate("other-ca.pem"), tlsAllowInvalidCertificates=True
        )
        self.assertEqual(unchecked.admin.command("ping")["ok"], 1)

    def test_ClientCertificates_AreOptional_ButChecked(self):
        good = self.connect_by_tls(tlsCertificateKeyFile=certificate("client.pem"))
        self.assertEqual(good.admin.command("ping")["ok"], 1)
        # A certificate does not replace the log-in.
        with self.assertRaises(OperationFailure) as unauthorized:
            good["test"]["items"].find_one()
        self.assert_code(unauthorized.exception, 13, "Unauthorized")
        bad = self.connect_by_tls(
            tlsCertificateKeyFile=certificate("other-client.pem"),
            serverSelectionTimeoutMS=REFUSAL_MS,
        )
        self.assert_refused(bad)

    def test_PlainConnections_AreRefused(self):
        self.assert_refused(self.connect(ADDRESS, serverSelectionTimeoutMS=REFUSAL_MS))

    def test_WrongPasswords_AreRefusedHere_Too(self):
        client = self.connect_by_tls(username="both", password="wrong", authSource="test")
        with self.assertRaises(OperationFailure) as refused:
            client["test"]["items"].find_one()
        self.assert_code(refused.exception, 18, "AuthenticationFailed")
