"""Creates a container that everybody may read, and empty blobs in it: container.py ENDPOINT ACCOUNT KEY CONTAINER [BLOB]..."""

import base64
import email.utils
import hashlib
import hmac
import sys
import urllib.request

endpoint, account, key, container, *blobs = sys.argv[1:]


def put(target, query, headers):
    headers = {**headers, "x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    # Of the standard headers that are signed, the request has none.
    lines = ["PUT", *[""] * 11, *[f"{name}:{value}" for name, value in sorted(headers.items())]]
    lines += [f"/{account}/{account}/{target}", *[f"{name}:{value}" for name, value in query.items()]]
    signature = hmac.new(base64.b64decode(key), "\n".join(lines).encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {account}:{base64.b64encode(signature).decode()}"
    # Without this, urllib names a type of its own for the empty body.
    headers["Content-Type"] = ""
    words = "&".join(f"{name}={value}" for name, value in query.items())
    request = urllib.request.Request(f"{endpoint}/{target}?{words}", data=b"", method="PUT", headers=headers)
    urllib.request.urlopen(request)


put(container, {"restype": "container"}, {"x-ms-blob-public-access": "container"})
for blob in blobs:
    put(f"{container}/{blob}", {}, {"x-ms-blob-type": "BlockBlob"})
