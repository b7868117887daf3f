"""Goal: packaging/build-image.sh makes an image as OCI specifies it, whose programs mount a store, and the containers of
examples/compose and examples/kubernetes run commands that work in it.

  image_test.py BUILD     a build folder with the programs built

Method: makes the package and the image, follows the digests from index.json to the layer, unpacks that, and runs the
programs there by chroot. Skipped, with a line that says why, where an image cannot be made: without root, without the
permission to make devices, or without a mirror of Debian's packages. The yaml files are parsed in any case.
"""

import gzip
import hashlib
import io
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

from debian_package_test import Bare, mirror, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ""
SKIPPED = 77
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


class Unpacked(Bare):
    """The layer of an image, in which commands run as in a container."""

    def __init__(self, folder, layer):
        self.root = pathlib.Path(folder, "image")
        self.root.mkdir()
        subprocess.run(["tar", "-xzf", "-", "-C", str(self.root), "--numeric-owner"], input=layer, check=True)
        for path in ("proc", "dev"):
            (self.root / path).mkdir(exist_ok=True)
        run("mknod", self.root / "dev/fuse", "c", "10", "229")
        run("mount", "--bind", "/proc", self.root / "proc")


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        where = mirror()
        if os.geteuid() != 0 or where is None:
            raise unittest.SkipTest("an image needs root and a mirror of Debian 12")
        folder = tempfile.TemporaryDirectory(prefix="gridmount-image-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        given = os.environ.get("GRIDMOUNT_IMAGE")  # of a run by hand
        cls.archive = pathlib.Path(given) if given else cls.build(where)
        with tarfile.open(cls.archive) as archive:
            cls.files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        cls.manifest = json.loads(cls.blob(json.loads(cls.files["index.json"])["manifests"][0]))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))
        cls.layer = cls.blob(cls.manifest["layers"][0])

    @classmethod
    def build(cls, where):
        package = run(ROOT / "packaging/build-deb.sh", "--build", BUILD, cls.folder).strip()
        command = [ROOT / "packaging/build-image.sh", "--deb", package, "--mirror", where, cls.folder]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if "debootstrap" in done.stderr or "mknod" in done.stderr:
            raise unittest.SkipTest("debootstrap could not make a bare Debian: " + done.stderr[-500:])
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.strip()

    @classmethod
    def blob(cls, descriptor):
        data = cls.files["blobs/" + descriptor["digest"].replace(":", "/")]
        if (len(data), "sha256:" + hashlib.sha256(data).hexdigest()) != (descriptor["size"], descriptor["digest"]):
            raise AssertionError(f"{descriptor} does not describe its blob")
        return data

    def test_Layout_IsThatOfTheSpecification(self):
        self.assertEqual(json.loads(self.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        self.assertEqual((self.manifest["schemaVersion"], len(self.manifest["layers"])), (2, 1))
        digest = hashlib.sha256(gzip.decompress(self.layer)).hexdigest()
        self.assertEqual(self.config["rootfs"], {"type": "layers", "diff_ids": [f"sha256:{digest}"]})
        self.assertEqual(self.config["os"], "linux")
        blobs = {name for name in self.files if name.startswith("blobs/")}
        self.assertEqual(len(blobs), 3)
        (of_docker,) = json.loads(self.files["manifest.json"])
        self.assertLessEqual({of_docker["Config"], *of_docker["Layers"]}, blobs)

    def test_Layer_HasNothingOfTheMachine(self):
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(self.layer))) as layer:
            names = {member.name.removeprefix("./") for member in layer}
        for name in ("etc/resolv.conf", "etc/hostname", "etc/machine-id", "usr/sbin/policy-rc.d", "tmp/gridmount.deb"):
            self.assertNotIn(name, names)
        self.assertEqual([name for name in names if name.startswith(("dev/", "var/lib/apt/lists/"))], [])

    def test_Commands_OfTheExamplesMountInTheImage(self):
        image = Unpacked(self.folder, self.layer)
        try:
            for program in ("gridmount", "gridfiles", "gridstore"):
                self.assertIn(program, image.run(program, "--version"))
            self.assertIn("Usage: gridmount", image.run(*self.config["config"]["Cmd"]))
            image.run("mkdir", "-p", "/store", MOUNT_POINT)
            for container, probe in (
                (mount_of_compose(), mount_of_compose()["healthcheck"]["test"][1:]),
                (mount_of_kubernetes(), mount_of_kubernetes()["startupProbe"]["exec"]["command"]),
            ):
                # Any port will do here, and those of the files may be taken.
                command = [word.replace(":27017", ":0").replace(":9100", ":0") for word in container["command"]]
                self.run_container(image, command, probe)
            self.assertIn("no problems", image.run("gridstore", "check", "/store/media.gfs"))
        finally:
            image.close()

    def run_container(self, image, command, probe):
        """Until the probe succeeds; then it is stopped as containers are."""
        with subprocess.Popen(["chroot", str(image.root), *command], stderr=subprocess.PIPE, text=True) as process:
            try:
                deadline = time.monotonic() + SECONDS_MAX
                while subprocess.run(["chroot", str(image.root), *probe]).returncode != 0:
                    self.assertIsNone(process.poll())
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)
                # Any user may use it.
                image.run("sh", "-c", f"echo content > {MOUNT_POINT}/fs/file && chmod 644 {MOUNT_POINT}/fs/file")
                text = image.run("setpriv", "--reuid", "65534", "--clear-groups", "cat", f"{MOUNT_POINT}/fs/file")
                self.assertEqual(text, "content\n")
            finally:
                process.send_signal(getattr(signal, self.config["config"]["StopSignal"]))
                self.assertEqual(process.wait(SECONDS_MAX), 0, process.stderr.read())
        self.assertFalse(image.is_mounted(MOUNT_POINT))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    outcome = unittest.main(verbosity=2, exit=False).result
    if outcome.skipped and outcome.wasSuccessful():
        sys.exit(SKIPPED)
    sys.exit(0 if outcome.wasSuccessful() else 1)
