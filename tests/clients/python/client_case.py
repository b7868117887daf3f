"""The common part of the tests with pymongo. They run with Debian's 3.11 and with the newest
version.
"""

import os
import unittest
import urllib.parse

import pymongo

PASSWORD = os.environ["CLIENT_PASSWORD"]
SELECTION_MS = 10_000
# The driver retries refused connections for this time.
REFUSAL_MS = 1_000


def certificate(name):
    return os.path.join(os.environ["CLIENT_CERTIFICATES"], name)


class ClientCase(unittest.TestCase):
    """`self.client` is connected to the socket; `self.db` is a database without anything in it."""

    def setUp(self):
        self.client = self.connect(urllib.parse.quote_plus(os.environ["CLIENT_SOCKET"]))
        self.client.drop_database("python")
        self.db = self.client["python"]

    def connect(self, address, **options):
        options.setdefault("serverSelectionTimeoutMS", SELECTION_MS)
        client = pymongo.MongoClient(f"mongodb://{address}", **options)
        self.addCleanup(client.close)
        return client

    def assert_code(self, error, code, name):
        self.assertEqual(error.code, code, error)
        self.assertEqual(error.details.get("codeName"), name, error)
