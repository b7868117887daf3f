"""One connection to a server. It sends raw commands, to which the caller has added only `$db`, and
receives raw replies.

A reply is decoded into pairs, which keep the order of fields and the types. A document is
("document", [(name, value), ...]), an array is ("array", [value, ...]), and any other value is
(name of the type, its bytes).
"""

import socket
import struct

import bson

OP_MSG = 2013
SECONDS_MAX = 60.0

DOUBLE, STRING, DOCUMENT, ARRAY, BINARY, OBJECT_ID, REGEX, CODE_WITH_SCOPE = 1, 2, 3, 4, 5, 7, 11, 15
TYPES = {1: "double", 2: "string", 5: "binary", 6: "undefined", 7: "objectId", 8: "bool", 9: "date"}
TYPES |= {10: "null", 11: "regex", 12: "dbPointer", 13: "code", 14: "symbol", 15: "codeWithScope"}
TYPES |= {16: "int", 17: "timestamp", 18: "long", 19: "decimal", 255: "minKey", 127: "maxKey"}
SIZES = {1: 8, 6: 0, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 17: 8, 18: 8, 19: 16, 255: 0, 127: 0}
NAN = ("double", b"NaN")
DECIMAL_NAN = ("decimal", b"NaN")


class Gone(Exception):
    """The server has closed the connection, or has not answered."""


class Connection:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=SECONDS_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.cursor = 0  # of the last reply that has opened or read one

    def close(self):
        self.socket.close()

    def send(self, body):
        """Sends an encoded command."""
        try:
            self.socket.sendall(struct.pack("<iiiiIb", 21 + len(body), 1, 0, OP_MSG, 0, 0) + body)
        except OSError as failure:
            raise Gone(str(failure)) from failure

    def receive(self):
        """Returns the encoded reply."""
        (size,) = struct.unpack("<i", self._read(4))
        return self._read(size - 4)[17:]

    def note_cursor(self, reply):
        """Records the cursor that a decoded reply names, for getMore."""
        cursor = field(reply, "cursor")
        if cursor is not None and field(cursor, "id") is not None:
            (self.cursor,) = struct.unpack("<q", field(cursor, "id")[1])

    def _read(self, size):
        parts = []
        while size > 0:
            try:
                part = self.socket.recv(size)
            except OSError as failure:
                raise Gone(str(failure)) from failure
            if not part:
                raise Gone("the connection was closed")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def field(document, name):
    """Returns the first field of that name in a decoded document, or None."""
    if document[0] != "document":
        return None
    return next((value for each, value in document[1] if each == name), None)


def decode(data):
    return ("document", _fields(data, 4, len(data) - 1))


def _fields(data, at, end):
    fields = []
    while at < end:
        kind = data[at]
        name_end = data.index(0, at + 1)
        name = data[at + 1 : name_end].decode("utf-8", "surrogateescape")
        value, at = _value(data, kind, name_end + 1)
        fields.append((name, value))
    return fields


def _value(data, kind, at):
    if kind in (DOCUMENT, ARRAY):
        end = at + struct.unpack_from("<i", data, at)[0]
        fields = _fields(data, at + 4, end - 1)
        return (("document", fields) if kind == DOCUMENT else ("array", [value for _, value in fields])), end
    if kind in SIZES:
        end = at + SIZES[kind]
    elif kind == BINARY:
        end = at + 5 + struct.unpack_from("<i", data, at)[0]
    elif kind == REGEX:
        end = data.index(0, data.index(0, at) + 1) + 1
    elif kind == CODE_WITH_SCOPE:
        end = at + struct.unpack_from("<i", data, at)[0]
    else:
        end = at + 4 + struct.unpack_from("<i", data, at)[0]
    return _leaf(kind, data[at:end]), end


def _leaf(kind, data):
    # Many byte sequences are a NaN, and no client distinguishes them.
    if kind == DOUBLE and data[7] & 0x7F == 0x7F and data[6] & 0xF0 == 0xF0 and (data[6] & 0x0F or any(data[:6])):
        return NAN
    if kind == 19 and data[15] & 0x7C == 0x7C:
        return DECIMAL_NAN
    return (TYPES[kind], data)


def text_of_reply(value):
    """Returns the reply as a text for people."""
    kind, content = value
    if kind == "document":
        return "{" + ", ".join(f"{name}: {text_of_reply(item)}" for name, item in content) + "}"
    if kind == "array":
        return "[" + ", ".join(text_of_reply(item) for item in content) + "]"
    if content == b"NaN":
        return f"{kind} NaN"
    if kind == "double":
        return repr(struct.unpack("<d", content)[0])
    if kind in ("int", "long", "date"):
        number = int.from_bytes(content, "little", signed=True)
        return str(number) if kind == "int" else f"{kind}({number})"
    if kind == "bool":
        return "true" if content[0] else "false"
    if kind == "string":
        return repr(content[4:-1].decode("utf-8", "replace"))
    if kind == "decimal":
        return f"decimal({bson.Decimal128.from_bid(content)})"
    if kind in ("null", "minKey", "maxKey", "undefined"):
        return kind
    return f"{kind}({content.hex()})"
