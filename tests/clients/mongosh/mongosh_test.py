"""Goal: mongosh runs the manuals' examples and everyday shell commands, authenticates, and checks
certificates.

Needs NODE and MONGOSH (the program and the script) in addition to the variables that live_store.py
sets.
"""

import glob
import os
import subprocess
import unittest
import urllib.parse

FOLDER = os.path.dirname(os.path.abspath(__file__))
MANUALS = os.path.join(os.path.dirname(FOLDER), "manuals")
EXAMPLE = os.path.join(MANUALS, "example.js")
SOCKET = urllib.parse.quote_plus(os.environ["CLIENT_SOCKET"])
PASSWORD = os.environ["CLIENT_PASSWORD"]
SECONDS_MAX = 60


def certificate(name):
    return os.path.join(os.environ["CLIENT_CERTIFICATES"], name)


class Mongosh(unittest.TestCase):
    def run_shell(self, address, *arguments):
        """Returns the shell's exit status and everything that it printed."""
        environment = {**os.environ, "HOME": os.environ["CLIENT_SCRATCH"]}
        command = [os.environ["NODE"], os.environ["MONGOSH"], f"mongodb://{address}"]
        finished = subprocess.run(
            [*command, "--quiet", "--norc", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS_MAX,
        )
        return finished.returncode, finished.stdout.decode(errors="replace")

    def run_scripts(self, database, *scripts):
        files = [word for script in scripts for word in ("--file", script)]
        status, output = self.run_shell(f"{SOCKET}/{database}", *files)
        self.assertEqual(status, 0, output)
        self.assertIn("ok: ", output)

    def assert_refused(self, address, *arguments, because):
        status, output = self.run_shell(address, *arguments, "--eval", "db.runCommand({ping: 1})")
        self.assertNotEqual(status, 0, output)
        self.assertIn(because, output)

    def evaluate(self, address, expression, *arguments):
        status, output = self.run_shell(address, *arguments, "--eval", expression)
        self.assertEqual(status, 0, output)
        return output.strip()

    def test_Manuals(self):
        scripts = sorted(glob.glob(os.path.join(MANUALS, "*.js")))
        self.assertGreater(len(scripts), 5)
        scripts.remove(EXAMPLE)
        self.run_scripts("manuals", EXAMPLE, *scripts)

    def test_TheShellsDailyWork(self):
        self.run_scripts("mongosh", EXAMPLE, os.path.join(FOLDER, "daily_work.js"))

    def test_ShellCommands_Show(self):
        self.evaluate(f"{SOCKET}/shown", "db.one.insertOne({a: 1}); db.two.insertOne({a: 1})")
        self.assertIn("shown", self.evaluate(f"{SOCKET}/shown", "show dbs"))
        self.assertEqual(
            self.evaluate(f"{SOCKET}/shown", "show collections").split(), ["one", "two"]
        )
        self.evaluate(f"{SOCKET}/shown", "db.dropDatabase()")
        self.assertNotIn("shown", self.evaluate(f"{SOCKET}/test", "show dbs"))

    def test_LogIns_GoodAndBad(self):
        address = f"{os.environ['CLIENT_TCP']}/test"
        who = "db.runCommand({connectionStatus: 1}).authInfo.authenticatedUsers[0].user"
        for user, mechanism in (("both", "SCRAM-SHA-256"), ("sha1", "SCRAM-SHA-1"), ("sha1", None)):
            log_in = ["--username", user, "--password", PASSWORD]
            if mechanism:
                log_in += ["--authenticationMechanism", mechanism]
            self.assertEqual(self.evaluate(address, who, *log_in), user)
        self.assert_refused(
            address, "--username", "both", "--password", "wrong",
            because="MongoServerError: Authentication failed.",
        )
        reader = ["--username", "reader", "--password", PASSWORD]
        write = "try { db.mongosh.insertOne({}) } catch (error) { print(error.code) }"
        self.assertEqual(self.evaluate(address, write, *reader), "13")
        self.assertEqual(self.evaluate(address, "db.mongosh.countDocuments()", *reader), "0")

    def test_Certificates_GoodAndBad(self):
        address = f"{os.environ['CLIENT_TLS']}/test"
        soon = f"{address}?serverSelectionTimeoutMS=2000"
        trusted = ["--tls", "--tlsCAFile", certificate("ca.pem")]
        log_in = ["--username", "both", "--password", PASSWORD]
        self.assertEqual(self.evaluate(address, "db.hello().ok", *trusted, *log_in), "1")
        own = ["--tlsCertificateKeyFile", certificate("client.pem")]
        self.assertEqual(self.evaluate(address, "db.hello().ok", *trusted, *own), "1")
        self.assert_refused(
            soon, "--tls", "--tlsCAFile", certificate("other-ca.pem"), because="certificate"
        )
        self.assert_refused(
            soon, *trusted, "--tlsCertificateKeyFile", certificate("other-client.pem"),
            because="MongoServerSelectionError",
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
