"""Creates a container that everybody may read: container.py ENDPOINT ACCOUNT KEY CONTAINER"""

import base64
import email.utils
import hashlib
import hmac
import sys
import urllib.request

endpoint, account, key, container = sys.argv[1:]
headers = {
    "x-ms-blob-public-access": "container",
    "x-ms-date": email.utils.formatdate(usegmt=True),
    "x-ms-version": "2021-08-06",
}
# Of the standard headers that are signed, the request has none.
lines = ["PUT", *[""] * 11, *[f"{name}:{value}" for name, value in sorted(headers.items())]]
lines += [f"/{account}/{account}/{container}", "restype:container"]
signature = hmac.new(base64.b64decode(key), "\n".join(lines).encode(), hashlib.sha256).digest()
headers["Authorization"] = f"SharedKey {account}:{base64.b64encode(signature).decode()}"
# Without this, urllib names a type of its own for the empty body.
headers["Content-Type"] = ""
request = urllib.request.Request(f"{endpoint}/{container}?restype=container", data=b"", method="PUT", headers=headers)
urllib.request.urlopen(request)
