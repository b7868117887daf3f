#!/usr/bin/env python3
"""Writes an image of one layer as an archive in OCI's layout.

  oci_archive.py LAYER.TAR ARCHIVE VERSION ARCHITECTURE

SOURCE_DATE_EPOCH is the time of all that has one, so that equal layers make equal archives. Source: OCI image
specification 1.0, "Image Layout", "Image Manifest", "Image Configuration". The file manifest.json is for versions of
Docker before 25, which load no other layout.
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile

NAME = "gridmount"
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BLOCK_BYTES = 1 << 20


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def compress(source, target):
    with open(source, "rb") as plain, open(target, "wb") as file:
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
            shutil.copyfileobj(plain, packed, BLOCK_BYTES)


def configuration(version, architecture, layer_digest, created):
    return {
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "Env": [PATH],
            "Cmd": ["gridmount", "--help"],
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": NAME,
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]},
        "history": [{"created": created, "created_by": "packaging/build-image.sh"}],
    }


class Archive:
    """A tar file with the blobs and what names them."""

    def __init__(self, path, epoch):
        self.tar = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)
        self.epoch = epoch
        for folder in ("blobs", "blobs/sha256"):
            entry = self.entry(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            self.tar.addfile(entry)

    def entry(self, name, size=0):
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = size, self.epoch, 0o644
        return entry

    def add(self, name, data):
        self.tar.addfile(self.entry(name, len(data)), io.BytesIO(data))

    def add_json(self, name, value):
        self.add(name, json.dumps(value, separators=(",", ":")).encode())

    def add_blob(self, media_type, value):
        """Returns its descriptor."""
        data = json.dumps(value, separators=(",", ":")).encode()
        digest = hashlib.sha256(data).hexdigest()
        self.add(f"blobs/sha256/{digest}", data)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def add_blob_file(self, media_type, path):
        digest, size = digest_of(path), os.path.getsize(path)
        with open(path, "rb") as file:
            self.tar.addfile(self.entry(f"blobs/sha256/{digest}", size), file)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}


def blob_path(descriptor):
    return "blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")


def write(layer, path, version, architecture):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", 0))
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packed = layer + ".gz"
    compress(layer, packed)
    archive = Archive(path, epoch)
    try:
        archive.add_json("oci-layout", {"imageLayoutVersion": "1.0.0"})
        layer_blob = archive.add_blob_file("application/vnd.oci.image.layer.v1.tar+gzip", packed)
        config_blob = archive.add_blob(
            "application/vnd.oci.image.config.v1+json", configuration(version, architecture, digest_of(layer), created)
        )
        manifest = archive.add_blob(
            "application/vnd.oci.image.manifest.v1+json",
            {
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": config_blob,
                "layers": [layer_blob],
            },
        )
        manifest["annotations"] = {"org.opencontainers.image.ref.name": f"{NAME}:{version}"}
        manifest["platform"] = {"architecture": architecture, "os": "linux"}
        archive.add_json("index.json", {"schemaVersion": 2, "manifests": [manifest]})
        of_docker = {"Config": blob_path(config_blob), "RepoTags": [f"{NAME}:{version}"], "Layers": [blob_path(layer_blob)]}
        archive.add_json("manifest.json", [of_docker])
    finally:
        archive.tar.close()
        os.remove(packed)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    write(*sys.argv[1:])
