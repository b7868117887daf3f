"""Goal: the server used for comparison starts, requires authentication if configured, and ends."""

import unittest
from unittest import mock

import mongod
from mongod import Mongod, require_mongod
from pymongo.errors import OperationFailure


class Starting(unittest.TestCase):
    def test_WithoutAuth_AnswersEverybody(self):
        with Mongod() as peer, peer.client() as client:
            client.test.items.insert_one({"_id": 1})
            self.assertEqual(client.test.items.count_documents({}), 1)
            self.assertEqual(client.server_info()["version"], "6.0.5")
        self.assertIsNotNone(peer.process.poll())

    def test_WithAuth_AnswersRootAlone(self):
        with Mongod(auth=True) as peer, peer.client() as nobody, peer.root_client() as root:
            with self.assertRaises(OperationFailure) as refused:
                nobody.test.items.find_one()
            self.assertEqual(refused.exception.code, 13)
            root.test.items.insert_one({"_id": 1})

    def test_PortOfAnotherServer_IsNotTakenForItsOwn(self):
        with Mongod() as other:
            taken = int(other.address.rpartition(":")[2])
            ports = mock.Mock(side_effect=[taken, mongod._free_port()])
            with mock.patch("mongod._free_port", ports), Mongod() as peer:
                self.assertNotEqual(peer.address, other.address)


if __name__ == "__main__":
    require_mongod()
    unittest.main(verbosity=2)
