"""Goal: packaging/build-image.sh makes an image as OCI specifies it, whose programs mount a store, and the containers of
examples/compose and examples/kubernetes run commands that work in it.

  image_test.py FOLDER     what bare_debian.py has made

Method: makes the image, follows the digests from index.json to the layer, unpacks that, and runs
the programs there by chroot. These tests are skipped if there is no bare Debian. The tests of the
layout of another image and of the yaml files always run.
"""

import gzip
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import yaml

from bare_debian import BARE, SKIPPED, Tree, package_in, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ""
SECONDS_MAX = 60.0
MOUNT_POINT = "/mnt/media"


def documents(name):
    return list(yaml.safe_load_all((ROOT / "examples" / name).read_text(encoding="utf-8")))


def mount_of_compose():
    return documents("compose/compose.yaml")[0]["services"]["mount"]


def mount_of_kubernetes():
    return documents("kubernetes/pod.yaml")[1]["spec"]["initContainers"][0]


class Files(unittest.TestCase):
    def test_Compose_GivesWhatFuseNeeds(self):
        compose = documents("compose/compose.yaml")[0]
        mount, reader = compose["services"]["mount"], compose["services"]["reader"]
        self.assertEqual((mount["devices"], mount["cap_add"]), (["/dev/fuse"], ["SYS_ADMIN"]))
        store, shared = mount["volumes"]
        self.assertIn(store.split(":")[0], compose["volumes"])
        self.assertEqual((shared["target"], shared["bind"]["propagation"]), (MOUNT_POINT, "rshared"))
        (used,) = reader["volumes"]
        self.assertEqual((used["source"], used["bind"]["propagation"]), (shared["source"], "rslave"))
        self.assertEqual(mount["command"][-2].split("/")[1], store.split(":")[1].strip("/"))
        self.assertEqual(mount["command"][-1], MOUNT_POINT)

    def test_Pod_MountsWhatItsContainersUse(self):
        claim, pod = documents("kubernetes/pod.yaml")
        spec = pod["spec"]
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        self.assertEqual(volumes["store"]["persistentVolumeClaim"]["claimName"], claim["metadata"]["name"])
        mount = mount_of_kubernetes()
        self.assertEqual((mount["restartPolicy"], mount["securityContext"]), ("Always", {"privileged": True}))
        made = {each["name"]: each for each in mount["volumeMounts"]}
        used = {each["name"]: each for each in spec["containers"][0]["volumeMounts"]}
        self.assertEqual(set(made), set(volumes))
        self.assertEqual(made["media"]["mountPropagation"], "Bidirectional")
        self.assertEqual(used["media"]["mountPropagation"], "HostToContainer")
        self.assertEqual(mount["command"][-1], made["media"]["mountPath"])
        self.assertTrue(mount["command"][-2].startswith(made["store"]["mountPath"] + "/"))

    def test_Images_AreOfTheVersionOfThePrograms(self):
        (version,) = {
            line.split()[2] for line in (ROOT / "CMakeLists.txt").read_text("utf-8").splitlines() if "project(grid" in line
        }
        for container in (mount_of_compose(), mount_of_kubernetes()):
            self.assertEqual(container["image"], f"gridmount:{version}")


class Archive:
    """An image that is read by its digests, beginning with index.json."""

    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        (self.entry,) = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(self.entry))
        self.config = json.loads(self.blob(self.manifest["config"]))
        (layer,) = self.manifest["layers"]
        self.layer = self.blob(layer)

    def blob(self, descriptor):
        data = self.files["blobs/" + descriptor["digest"].replace(":", "/")]
        if (len(data), "sha256:" + hashlib.sha256(data).hexdigest()) != (descriptor["size"], descriptor["digest"]):
            raise AssertionError(f"{descriptor} does not describe its blob")
        return data


class Layout(unittest.TestCase):
    """The layout of an image, with any layer."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gridmount-image-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tar = self.folder / "layer.tar"
        with tarfile.open(self.tar, "w") as layer:
            layer.add(__file__, "file")

    def write(self, name):
        path = self.folder / name
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "86400"}
        run(ROOT / "packaging/oci_archive.py", self.tar, path, "1.2.3", "arm64", env=environment)
        return path

    def test_Layout_IsThatOfTheSpecification(self):
        image = Archive(self.write("image.tar"))
        self.assertEqual(json.loads(image.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        self.assertEqual(image.manifest["schemaVersion"], 2)
        self.assertEqual(gzip.decompress(image.layer), self.tar.read_bytes())
        digest = hashlib.sha256(self.tar.read_bytes()).hexdigest()
        self.assertEqual(image.config["rootfs"], {"type": "layers", "diff_ids": [f"sha256:{digest}"]})
        self.assertEqual((image.config["os"], image.config["architecture"]), ("linux", "arm64"))
        self.assertEqual(image.config["created"], "1970-01-02T00:00:00Z")
        self.assertEqual(image.entry["annotations"], {"org.opencontainers.image.ref.name": "gridmount:1.2.3"})
        blobs = {name for name in image.files if name.startswith("blobs/")}
        self.assertEqual(len(blobs), 3)
        (of_docker,) = json.loads(image.files["manifest.json"])
        self.assertEqual(of_docker["RepoTags"], ["gridmount:1.2.3"])
        self.assertLessEqual({of_docker["Config"], *of_docker["Layers"]}, blobs)

    def test_EqualLayers_MakeEqualArchives(self):
        self.assertEqual(self.write("one.tar").read_bytes(), self.write("two.tar").read_bytes())


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        bare = pathlib.Path(FOLDER, BARE)
        if not bare.exists():
            raise unittest.SkipTest("there is no bare Debian")
        folder = tempfile.TemporaryDirectory(prefix="gridmount-image-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        build = ROOT / "packaging/build-image.sh"
        cls.image = Archive(run(build, "--deb", package_in(FOLDER), "--bare", bare, cls.folder).strip())
        cls.layer = cls.folder / "layer.tar"
        cls.layer.write_bytes(gzip.decompress(cls.image.layer))

    def test_Layer_HasNothingOfTheMachine(self):
        with tarfile.open(self.layer) as layer:
            names = {member.name.removeprefix("./") for member in layer}
        for name in ("etc/resolv.conf", "etc/hostname", "etc/machine-id", "usr/sbin/policy-rc.d", "tmp/gridmount.deb"):
            self.assertNotIn(name, names)
        self.assertEqual([name for name in names if name.startswith(("dev/", "var/lib/apt/lists/"))], [])

    def test_Commands_OfTheExamplesMountInTheImage(self):
        unpacked = Tree(self.layer, self.folder / "unpacked")
        try:
            for program in ("gridmount", "gridfiles", "gridstore"):
                self.assertIn(program, unpacked.run(program, "--version"))
            self.assertIn("Usage: gridmount", unpacked.run(*self.image.config["config"]["Cmd"]))
            unpacked.run("mkdir", "-p", "/store", MOUNT_POINT)
            for container, probe in (
                (mount_of_compose(), mount_of_compose()["healthcheck"]["test"][1:]),
                (mount_of_kubernetes(), mount_of_kubernetes()["startupProbe"]["exec"]["command"]),
            ):
                # Any port is good enough here, and the ports of the files may be in use.
                command = [word.replace(":27017", ":0").replace(":9100", ":0") for word in container["command"]]
                self.run_container(unpacked, command, probe)
            self.assertIn("no problems", unpacked.run("gridstore", "check", "/store/media.gfs"))
        finally:
            unpacked.close()

    def run_container(self, unpacked, command, probe):
        """Runs the container until the probe succeeds, and then stops it as containers are
        stopped."""
        with subprocess.Popen(["chroot", str(unpacked.root), *command], stderr=subprocess.PIPE, text=True) as process:
            try:
                deadline = time.monotonic() + SECONDS_MAX
                while subprocess.run(["chroot", str(unpacked.root), *probe]).returncode != 0:
                    self.assertIsNone(process.poll())
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)
                # Any user may use it.
                unpacked.run("sh", "-c", f"echo content > {MOUNT_POINT}/fs/file && chmod 644 {MOUNT_POINT}/fs/file")
                text = unpacked.run("setpriv", "--reuid", "65534", "--clear-groups", "cat", f"{MOUNT_POINT}/fs/file")
                self.assertEqual(text, "content\n")
            finally:
                process.send_signal(getattr(signal, self.image.config["config"]["StopSignal"]))
                self.assertEqual(process.wait(SECONDS_MAX), 0, process.stderr.read())
        self.assertFalse(unpacked.is_mounted(MOUNT_POINT))


if __name__ == "__main__":
    FOLDER = pathlib.Path(sys.argv.pop()).resolve()
    outcome = unittest.main(verbosity=2, exit=False).result
    if outcome.skipped and outcome.wasSuccessful():
        sys.exit(SKIPPED)
    sys.exit(0 if outcome.wasSuccessful() else 1)
