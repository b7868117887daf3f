"""Certificates for one run of the tests, made by openssl: an authority, the server's certificate
for localhost and a client's certificate signed by it, and the same for an unknown authority.
"""

import os
import subprocess
import time

DAYS = "2"
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
ADDRESSES = "subjectAltName=DNS:localhost,IP:127.0.0.1\n"


def make_certificates(folder):
    """Writes ca.pem, server.pem, client.pem, other-ca.pem and other-client.pem; the certificates come
    with their keys, as drivers and mongod want them."""
    os.mkdir(folder)
    for prefix in ("", "other-"):
        authority = os.path.join(folder, prefix + "ca")
        run("req", "-x509", *KEY, "-days", DAYS, "-subj", f"/O=gridmount/CN={prefix}authority",
            "-keyout", authority + ".key", "-out", authority + ".pem")
        sign(folder, prefix + "client", prefix + "ca", "extendedKeyUsage=clientAuth\n")
    sign(folder, "server", "ca", "extendedKeyUsage=serverAuth\n" + ADDRESSES)


def sign(folder, name, authority, extensions):
    path = os.path.join(folder, name)
    authority = os.path.join(folder, authority)
    with open(path + ".ext", "w", encoding="ascii") as file:
        file.write(extensions)
    run("req", *KEY, "-subj", f"/O=gridmount/CN={name}", "-keyout", path + ".key",
        "-out", path + ".csr")
    run("x509", "-req", "-in", path + ".csr", "-CA", authority + ".pem", "-CAkey",
        authority + ".key", "-CAcreateserial", "-days", DAYS, "-extfile", path + ".ext",
        "-out", path + ".crt")
    combine(path)


def make_valid_until(folder, name, end):
    """Signs the certificate, which `ca` has signed, again. `end` is a time as time.time() returns
    it."""
    path = os.path.join(folder, name)
    authority = os.path.join(folder, "ca")
    with open(path + ".index", "w", encoding="ascii"):
        pass
    with open(path + ".cnf", "w", encoding="ascii") as file:
        file.write(f"[ca]\ndefault_ca = own\n[own]\ndatabase = {path}.index\n"
                   f"serial = {path}.serial\nnew_certs_dir = {folder}\ndefault_md = sha256\nunique_subject = no\n"
                   "policy = any\n[any]\norganizationName = optional\ncommonName = supplied\n")
    run("ca", "-batch", "-notext", "-config", path + ".cnf", "-in", path + ".csr", "-rand_serial",
        "-cert", authority + ".pem", "-keyfile", authority + ".key", "-extfile", path + ".ext",
        "-enddate", time.strftime("%y%m%d%H%M%SZ", time.gmtime(end)), "-out", path + ".crt")
    combine(path)


def combine(path):
    with open(path + ".pem", "wb") as combined:
        for part in (".crt", ".key"):
            with open(path + part, "rb") as file:
                combined.write(file.read())


def run(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
