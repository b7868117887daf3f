"""Goal: FORMAT.md's worked example can be decoded from the text of FORMAT.md alone.

Method: the bytes are read as a stranger would who has only the text. Catalog, counts, records and
index entries must give the documents that the example names, and each index must have the entries
that these documents require. format_example_test.cc checks that a store really holds these bytes.
"""

import json
import pathlib
import re
import struct
import sys
import unittest

FORMAT = pathlib.Path(__file__).resolve().parents[4] / "engine" / "local" / "FORMAT.md"


def block(name):
    text = FORMAT.read_text("utf-8")
    return re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", text, re.DOTALL).group(1)


def entries():
    """{tree: {key: value}}"""
    trees = {}
    value = None
    for line in block("entries").splitlines():
        words = line.split()
        if not words:
            continue
        if not line.startswith("     "):
            value = trees.setdefault(words[0], {}).setdefault(bytes.fromhex(words[1]), bytearray())
        elif words[0] == "00" and words[1:2] == ["*"]:
            value.extend(bytes(int(words[2])))
        else:
            value.extend(bytes.fromhex(words[0]))
    return trees


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def bson(data):
    """A BSON document as a dict, of the types the example has."""
    size = struct.unpack_from("<i", data)[0]
    assert size == len(data) and data[-1] == 0
    fields = {}
    at = 4
    while data[at]:
        kind = data[at]
        end = data.index(0, at + 1)
        name = data[at + 1 : end].decode()
        at = end + 1
        if kind == 0x01:
            fields[name], step = struct.unpack_from("<d", data, at)[0], 8
        elif kind == 0x02:
            length = struct.unpack_from("<i", data, at)[0]
            fields[name], step = data[at + 4 : at + 3 + length].decode(), 4 + length
        elif kind in (0x03, 0x04):
            step = struct.unpack_from("<i", data, at)[0]
            inner = bson(data[at : at + step])
            fields[name] = inner if kind == 0x03 else list(inner.values())
        elif kind == 0x05:
            length = struct.unpack_from("<i", data, at)[0]
            fields[name], step = (data[at + 4], data[at + 5 : at + 5 + length]), 5 + length
        elif kind == 0x08:
            fields[name], step = bool(data[at]), 1
        elif kind == 0x10:
            fields[name], step = struct.unpack_from("<i", data, at)[0], 4
        elif kind == 0x12:
            fields[name], step = struct.unpack_from("<q", data, at)[0], 8
        else:
            raise ValueError(f"type {kind:02x}")
        at += step
    return fields


def checked(value, order="<"):
    """What a CRC-32C stands before."""
    crc = struct.unpack_from(order + "I", value)[0]
    assert crc == crc32c(value[4:]), "the checksum is wrong"
    return bytes(value[4:])


def decode_part(key, descends):
    """The first value that is encoded in the key, and what is behind it."""
    plain = bytes(byte ^ 0xFF for byte in key) if descends else key
    kind = plain[0]
    if kind == 0x0C:
        value, size = None, 1
    elif kind == 0x10:
        bits = struct.unpack_from(">Q", plain, 1)[0]
        bits = bits ^ (1 << 63) if bits >> 63 else bits ^ 0xFFFFFFFFFFFFFFFF
        value, size = struct.unpack(">d", struct.pack(">Q", bits))[0], 10
        assert plain[9] == 0, "a number that no double holds"
    elif kind == 0x18:
        end = plain.index(0, 1)
        value = plain[1:end].replace(b"\x01\x01", b"\x00").replace(b"\x01\x02", b"\x01").decode()
        size = end + 1
    else:
        raise ValueError(f"class {kind:02x}")
    return value, key[size:]


class WorkedExample(unittest.TestCase):
    def setUp(self):
        self.trees = entries()
        self.documents = [
            json.loads(line) for line in block("documents").splitlines() if line.strip()
        ]
        catalog = self.trees["catalog"]
        self.entry = bson(checked(catalog[b"clibrary\x00people"], ">"))

    def range_of(self, where):
        prefix = struct.pack(">I", where["prefix"])
        tree = self.trees.get(f"t{where['tree']:03d}", {})
        return {key[4:]: bytes(value) for key, value in tree.items() if key[:4] == prefix}

    def records(self):
        found = {}
        for key, value in self.range_of(self.entry["records"]).items():
            header_and_document = checked(value)
            place = struct.pack(">II", self.entry["records"]["tree"], self.entry["records"]["prefix"])
            check = crc32c(place + key) & 0xFFFFFF
            self.assertEqual(header_and_document[:4], struct.pack("<I", check << 8 | 1))
            found[struct.unpack(">Q", key)[0]] = bson(header_and_document[4:])
        return found

    def test_catalog(self):
        self.assertEqual(self.entry["ns"], "library.people")
        self.assertEqual(self.entry["options"], {})
        subtype, uuid = self.entry["uuid"]
        self.assertEqual((subtype, len(uuid), uuid[6] >> 4, uuid[8] >> 6), (4, 16, 4, 2))
        self.assertEqual(
            [(index["name"], index["key"], index["unique"], index["multikey"])
             for index in self.entry["indexes"]],
            [("_id_", {"_id": 1}, True, False),
             ("name_1", {"name": 1}, True, False),
             ("born_tags", {"born": -1, "tags": 1}, False, True)],
        )

    def test_records_are_the_documents_in_their_order(self):
        self.assertEqual(self.records(), dict(enumerate(self.documents, 1)))

    def catalog_value(self, key):
        value = bytes(self.trees["catalog"][key])
        self.assertEqual(
            struct.unpack(">I", value[-4:])[0], crc32c(bytes([255] * 4) + key + value[:-4])
        )
        return value[:-4]

    def counts(self, prefix):
        return struct.unpack(">QQQ", self.catalog_value(b"s" + prefix))

    def test_counts_and_ranges(self):
        prefix = struct.pack(">I", self.entry["records"]["prefix"])
        documents, size, next_record = self.counts(prefix)
        sizes = [len(value) - 8 for value in self.range_of(self.entry["records"]).values()]
        self.assertEqual((documents, size, next_record), (2, sum(sizes), 3))
        next_prefix, *ranges = struct.unpack(">129I", self.catalog_value(b"n"))
        used = [self.entry["records"], *self.entry["indexes"]]
        self.assertEqual(next_prefix, 1 + len(used))
        self.assertEqual(sum(ranges), len(used))
        for where in used:
            self.assertEqual(ranges[where["tree"]], 1)

    def test_index_entries_are_those_the_documents_call_for(self):
        for index in self.entry["indexes"]:
            with self.subTest(index["name"]):
                paths = index["key"]
                expected = set()
                for record, document in enumerate(self.documents, 1):
                    values = [document.get(path) for path in paths]
                    lists = [value for value in values if isinstance(value, list)]
                    for each in lists[0] if lists else [None]:
                        key = tuple(each if isinstance(value, list) else value for value in values)
                        expected.add((key, record))
                found = set()
                for key, value in self.range_of(index).items():
                    value = self.without_checksum(index, key, value)
                    parts = []
                    for direction in paths.values():
                        part, key = decode_part(key, direction < 0)
                        parts.append(part)
                    if index["unique"]:
                        self.assertEqual(key, b"")
                        record, kinds = struct.unpack(">Q", value[:8])[0], value[8:]
                    else:
                        record, kinds = struct.unpack(">Q", key)[0], value
                    found.add((tuple(parts), record))
                    self.check_kinds(kinds, list(paths), self.documents[record - 1])
                self.assertEqual(found, expected)

    def without_checksum(self, index, key, value):
        self.assertTrue(index["checksums"])
        covered = struct.pack(">II", index["tree"], index["prefix"]) + key + value[:-4]
        self.assertEqual(struct.unpack(">I", value[-4:])[0], crc32c(covered))
        return value[:-4]

    def check_kinds(self, kinds, paths, document):
        if any(isinstance(document.get(path), list) for path in paths):
            self.assertEqual(kinds, b"")  # several keys
            return
        names = {str: 1, int: 2}
        wanted = [names[type(document[path])] if path in document else 5 for path in paths]
        self.assertEqual(list(kinds), wanted)

    def apply(self, changes):
        at = 0
        while at < len(changes):
            kind, number, key_size = struct.unpack_from("<BBH", changes, at)
            tree = self.trees["catalog" if number == 0 else f"t{number - 1:03d}"]
            at += 4
            if kind == 1:
                value_size = struct.unpack_from("<I", changes, at)[0]
                at += 4
            key = changes[at : at + key_size]
            at += key_size
            if kind == 1:
                tree[key] = bytearray(changes[at : at + value_size])
                at += value_size
            else:
                self.assertEqual(kind, 2)
                del tree[key]

    def test_the_pending_record_inserts_another_document(self):
        record = bytes.fromhex("".join(block("pending").split()))
        self.assertEqual(record[:4], b"GMP1")
        size, _, place = struct.unpack_from("<IQI", record, 4)
        self.assertEqual((place, 36 + size + 4), (0, len(record)))
        self.assertEqual(struct.unpack_from("<I", record, 36 + size)[0], crc32c(record[: 36 + size]))
        self.apply(record[36 : 36 + size])
        self.assertEqual(self.records()[3], {"_id": "h", "name": "Hedy"})
        prefix = struct.pack(">I", self.entry["records"]["prefix"])
        counts = self.counts(prefix)
        self.assertEqual((counts[0], counts[2]), (2, 4))
        self.assertIn(b"\x18Hedy\x00", self.range_of(self.entry["indexes"][1]))

    def test_the_record_of_the_log_removes_the_second_document(self):
        record = bytes.fromhex("".join(block("record").split()))
        self.assertEqual(record[:8], b"GMREDO01")
        number, _, count, size = struct.unpack_from("<QQII", record, 24)
        self.assertEqual((number, count, 48 + size + 4), (1, 1, len(record)))
        self.assertEqual(struct.unpack_from("<I", record, 48 + size)[0], crc32c(record[: 48 + size]))
        changes = record[48 : 48 + size]
        self.assertEqual(struct.unpack_from("<I", changes)[0], len(changes) - 4)
        self.apply(changes[4:])
        self.documents.pop()
        self.assertEqual(self.records(), {1: self.documents[0]})
        self.test_index_entries_are_those_the_documents_call_for()
        prefix = struct.pack(">I", self.entry["records"]["prefix"])
        counts = self.counts(prefix)
        self.assertEqual((counts[0], counts[2]), (1, 3))

    def test_a_changed_byte_is_noticed(self):
        for key in self.range_of(self.entry["records"]):
            prefix = struct.pack(">I", self.entry["records"]["prefix"])
            value = self.trees[f"t{self.entry['records']['tree']:03d}"][prefix + key]
            value[-2] ^= 0x10
            with self.assertRaises(AssertionError):
                checked(value)


if __name__ == "__main__":
    sys.exit(unittest.main())
