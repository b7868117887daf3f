"""Sends one request and prints the answer, as curl does.

  request.py METHOD URL [BODY] [NAME: VALUE...]      BODY may be @FILE; prints the status and the body
"""

import sys
import urllib.error
import urllib.request


def main(method, url, *rest):
    headers = dict(word.split(": ", 1) for word in rest[1:])
    body = rest[0].encode() if rest else None
    if body and body.startswith(b"@"):
        with open(body[1:], "rb") as file:
            body = file.read()
    request = urllib.request.Request(url, data=body or None, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            status, text = reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    print(f"{status} {text}".rstrip())


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
