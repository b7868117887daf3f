"""A web application that keeps documents and files in one store: notes, each with attachments.

  notes.py STORE PORT         serves http://127.0.0.1:PORT/ until it is ended; port 0 is any free one

  GET  /notes                       all notes, the newest first, as JSON
  GET  /notes?tag=TAG               those with a tag
  POST /notes                       adds the note in the body, {"text": ..., "tags": [...]}; answers with its id
  PUT  /notes/ID/files/NAME         stores the body as an attachment
  GET  /notes/ID/files/NAME         an attachment, or the part of it that a Range asks for
  DELETE /notes/ID                  removes a note with its attachments

Python's standard library and pymongo are all it needs. The store is served by gridmount or gridstore; it is reached
through the socket in its folder. Notes are the collection `web.notes`, attachments the GridFS bucket `web.attachments`.
Their names are ID/NAME.
"""

import json
import os
import re
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import bson
import gridfs
import pymongo

NOTE = re.compile(r"/notes/([0-9a-f]{24})")
ATTACHMENT = re.compile(r"/notes/([0-9a-f]{24})/files/([^/]+)")
RANGE = re.compile(r"bytes=(\d+)-(\d*)")
BODY_BYTES_MAX = 64 << 20


class Notes(BaseHTTPRequestHandler):
    database = None
    attachments = None

    def answer(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, status, value):
        self.answer(status, json.dumps(value).encode() + b"\n")

    def body(self):
        length = int(self.headers.get("Content-Length", 0))
        return self.rfile.read(length) if length <= BODY_BYTES_MAX else None

    def route(self):
        """(path without the query, query)"""
        url = urllib.parse.urlsplit(self.path)
        return urllib.parse.unquote(url.path), urllib.parse.parse_qs(url.query)

    def exists(self, note):
        return self.database.notes.count_documents({"_id": bson.ObjectId(note)}, limit=1) > 0

    def do_GET(self):
        path, query = self.route()
        if path == "/notes":
            wanted = {"tags": query["tag"][0]} if "tag" in query else {}
            found = self.database.notes.find(wanted).sort("_id", pymongo.DESCENDING)
            return self.answer_json(200, [{**note, "_id": str(note["_id"])} for note in found])
        if attachment := ATTACHMENT.fullmatch(path):
            return self.send_attachment("/".join(attachment.groups()))
        return self.answer(404)

    def send_attachment(self, name):
        try:
            file = self.attachments.open_download_stream_by_name(name)
        except gridfs.NoFile:
            return self.answer(404)
        kind = (file.metadata or {}).get("type", "application/octet-stream")
        part = RANGE.fullmatch(self.headers.get("Range", ""))
        if part is None or int(part.group(1)) >= file.length:
            return self.answer(200, file.read(), kind)
        first = int(part.group(1))
        last = min(int(part.group(2) or file.length - 1), file.length - 1)
        file.seek(first)  # reads only the chunks of the range
        content_range = f"bytes {first}-{last}/{file.length}"
        return self.answer(206, file.read(last - first + 1), kind, Content_Range=content_range)

    def do_POST(self):
        if self.route()[0] != "/notes":
            return self.answer(404)
        try:
            sent = json.loads(self.body() or b"")
            note = {"text": str(sent["text"]), "tags": [str(tag) for tag in sent.get("tags", [])]}
        except (ValueError, KeyError, TypeError):
            return self.answer_json(400, {"error": 'a note is {"text": ..., "tags": [...]}'})
        return self.answer_json(201, {"_id": str(self.database.notes.insert_one(note).inserted_id)})

    def do_PUT(self):
        attachment = ATTACHMENT.fullmatch(self.route()[0])
        if not attachment or not self.exists(attachment.group(1)):
            return self.answer(404)
        body = self.body()
        if body is None:
            return self.answer(413)
        kind = self.headers.get("Content-Type", "application/octet-stream")
        name = "/".join(attachment.groups())
        self.attachments.upload_from_stream(name, body, metadata={"type": kind})
        return self.answer(204)

    def do_DELETE(self):
        note = NOTE.fullmatch(self.route()[0])
        if not note or not self.exists(note.group(1)):
            return self.answer(404)
        for file in self.attachments.find({"filename": {"$regex": f"^{note.group(1)}/"}}):
            self.attachments.delete(file._id)
        self.database.notes.delete_one({"_id": bson.ObjectId(note.group(1))})
        return self.answer(204)

    def log_message(self, form, *arguments):
        pass


def serve(store, port):
    socket = urllib.parse.quote_plus(os.path.abspath(os.path.join(store, "gridmount.sock")))
    with pymongo.MongoClient(f"mongodb://{socket}") as client:
        Notes.database = client.web
        Notes.attachments = gridfs.GridFSBucket(client.web, bucket_name="attachments")
        client.web.notes.create_index("tags")
        with ThreadingHTTPServer(("127.0.0.1", int(port)), Notes) as server:
            print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
            server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    serve(*sys.argv[1:])
