"""Runs a client's tests against stores that it can reach in every possible way.

  live_store.py PROGRAM [ARGUMENTS...]

One store is mounted and answers on its socket and, for users with passwords, on TCP; a second one
asks for TLS as well. PROGRAM finds them in its environment, and its exit status becomes this one's,
unless a store is not sound afterwards or its owner did not end as it should:

  CLIENT_SOCKET        gridmount.sock of the mounted store
  CLIENT_ROOT          folder of the bucket `fs` of the database `test` in the mount
  CLIENT_TCP           HOST:PORT of the mounted store; its users are those of USERS below
  CLIENT_TLS           HOST:PORT of the other store, which has the same users
  CLIENT_CERTIFICATES  folder with ca.pem, client.pem (signed by ca.pem), other-ca.pem and
                       other-client.pem (signed by other-ca.pem)
  CLIENT_SCRATCH       an empty folder
  CLIENT_PASSWORD      of all users

Needs GRIDMOUNT, GRIDSTORE, Debian's pymongo, openssl and tests/mount on PYTHONPATH.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

import pymongo

from certificates import make_certificates
from mounts import Gridmount

PASSWORD = "pass:word/ü"
# The users of the database `test`. `both` may use either mechanism.
USERS = {
    "both": {"roles": ["readWrite"]},
    "sha1": {"roles": ["readWrite"], "mechanisms": ["SCRAM-SHA-1"]},
    "sha256": {"roles": ["readWrite"], "mechanisms": ["SCRAM-SHA-256"]},
    "reader": {"roles": ["read"]},
}
START_SECONDS_MAX = 30.0
END_SECONDS_MAX = 60.0
LISTENING_ON_TCP = re.compile(r"listening on (127\.0\.0\.1:\d+)")


class Served:
    """gridstore serve on a fresh store, with TLS. Has the verbs of tests/mount's folders."""

    def __init__(self, temp, certificates):
        self.store = os.path.join(temp, "served.gfs")
        self.log_path = os.path.join(temp, "served.log")
        self.certificates = certificates
        self.process = None

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def start(self):
        certificate = os.path.join(self.certificates, "server.pem")
        authority = os.path.join(self.certificates, "ca.pem")
        command = [os.environ["GRIDSTORE"], "serve", "--create", "--listen", "127.0.0.1:0"]
        command += ["--tls-certificate-key-file", certificate, "--tls-ca-file", authority]
        command += ["--tls-allow-connections-without-certificates"]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*command, self.store], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=END_SECONDS_MAX)
        if status != 0:
            raise RuntimeError(f"gridstore serve ended with status {status}")

    def cleanup(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def address_of(owner):
    """Returns HOST:PORT, the TCP address on which the owner of a store says that it listens."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        if found := LISTENING_ON_TCP.search(owner.log()):
            return found.group(1)
        if owner.process.poll() is not None:
            break
        time.sleep(0.01)
    raise RuntimeError(f"{owner.store} is not served:\n{owner.log()}")


def create_users(store):
    """Creates the users through the socket, which needs no password."""
    socket = urllib.parse.quote_plus(os.path.join(store, "gridmount.sock"))
    with pymongo.MongoClient(f"mongodb://{socket}", serverSelectionTimeoutMS=10_000) as client:
        for name, fields in USERS.items():
            client["test"].command("createUser", name, pwd=PASSWORD, **fields)


def is_sound(store):
    checked = subprocess.run([os.environ["GRIDSTORE"], "check", store], capture_output=True)
    if checked.returncode != 0:
        sys.stderr.buffer.write(checked.stdout + checked.stderr)
    return checked.returncode == 0


def run(command):
    with Gridmount(options=["--listen", "127.0.0.1:0"]) as mounted:
        certificates = os.path.join(mounted.temp, "certificates")
        make_certificates(certificates)
        served = Served(mounted.temp, certificates)
        try:
            served.start()
            environment = {
                "CLIENT_TCP": address_of(mounted),
                "CLIENT_TLS": address_of(served),
                "CLIENT_SOCKET": os.path.join(mounted.store, "gridmount.sock"),
                "CLIENT_ROOT": mounted.root,
                "CLIENT_CERTIFICATES": certificates,
                "CLIENT_SCRATCH": tempfile.mkdtemp(dir=mounted.temp),
                "CLIENT_PASSWORD": PASSWORD,
            }
            for owner in (mounted, served):
                create_users(owner.store)
            status = subprocess.run(command, env={**os.environ, **environment}).returncode
            mounted.stop()
            served.stop()
            sound = [is_sound(owner.store) for owner in (mounted, served)]
            if status == 0 and not all(sound):
                status = 1
            return status
        finally:
            served.cleanup()
            for owner in (mounted, served):
                print(f"--- log of the owner of {owner.store}\n{owner.log()}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(run(sys.argv[1:]))
