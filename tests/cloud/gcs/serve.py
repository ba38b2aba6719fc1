"""A stand-in for Google Cloud Storage: serve.py PROGRAM starts fake-gcs-server (PROGRAM) and translates requests for it.

sitemill's client library uses Google's XML API. fake-gcs-server has the JSON API and a part of the XML API: GET, HEAD and DELETE of
objects, and listings. They are forwarded as they are. This program adds the rest:

- PUT of an object, with its headers and its condition, becomes an upload of the JSON API. PUT of a bucket creates it.
- Failures get the status and the code of the XML API, such as 404 NoSuchBucket, which sitemill shows and decides on.
- Credentials, which fake-gcs-server does not check. This is also the metadata server, which gives a machine the token of its role:
  GCE_METADATA_HOST=127.0.0.1:PORT/publisher is the role `publisher`. The tokens of other roles are denied. Requests without a
  token are accepted, because crawlers may read the bucket.

Conditions and generations are those of fake-gcs-server. Unlike in Google's store, there are no multipart uploads, a listing is a
single page, GET ignores If-Match, and the rate of writes is not limited.
"""

import http.client
import http.server
import ipaddress
import json
import os
import socket
import subprocess
import sys
import time
import urllib.parse
import uuid

# Asked for port 0, fake-gcs-server does not print the port that it gets. On a loopback address of its own, any port is free.
BACKEND = (str(ipaddress.ip_address(0x7F000000 + os.getpid())), 4443)
PUBLISHER = "Bearer publisher"
# The headers of an upload that are fields of an object in the JSON API.
FIELDS = {
    "Cache-Control": "cacheControl",
    "Content-Disposition": "contentDisposition",
    "Content-Language": "contentLanguage",
    "Content-Type": "contentType",
    "x-goog-storage-class": "storageClass",
}
METADATA = "x-goog-meta-"


def call(method, target, body=b"", headers={}):
    """Sends a request to fake-gcs-server, and returns the status, the headers and the body of the response."""
    connection = http.client.HTTPConnection(*BACKEND)
    connection.request(method, target, body, headers)
    response = connection.getresponse()
    headers, content = dict(response.getheaders()), response.read()
    connection.close()
    headers.pop("Transfer-Encoding", None)
    return response.status, headers, content


def error(status, code):
    return status, {"Content-Type": "application/xml"}, f"<Error><Code>{code}</Code></Error>".encode()


def not_found(bucket):
    exists = call("GET", f"/storage/v1/b/{bucket}")[0] == 200
    return error(404, "NoSuchKey" if exists else "NoSuchBucket")


def create(bucket):
    body = json.dumps({"name": bucket}).encode()
    return call("POST", "/storage/v1/b", body, {"Content-Type": "application/json"})


def upload(bucket, key, headers, body):
    fields = {field: headers[name] for name, field in FIELDS.items() if name in headers}
    named = [(name.lower(), value) for name, value in headers.items()]
    metadata = {name.removeprefix(METADATA): value for name, value in named if name.startswith(METADATA)}
    resource = json.dumps({"name": key, "metadata": metadata, **fields})
    boundary = uuid.uuid4().hex
    head = (
        f"--{boundary}\r\nContent-Type: application/json\r\n\r\n{resource}\r\n"
        f"--{boundary}\r\nContent-Type: {fields.get('contentType', 'application/octet-stream')}\r\n\r\n"
    )
    content = head.encode() + body + f"\r\n--{boundary}--".encode()
    query = "uploadType=multipart"
    if condition := headers.get("x-goog-if-generation-match"):
        query += f"&ifGenerationMatch={condition}"
    related = {"Content-Type": f"multipart/related; boundary={boundary}"}
    status, _, response = call("POST", f"/upload/storage/v1/b/{bucket}/o?{query}", content, related)
    if status == 412:
        return error(412, "PreconditionFailed")
    if status != 200:
        return not_found(bucket)
    written = json.loads(response)
    return 200, {"ETag": f'"{written["etag"]}"', "x-goog-generation": written["generation"]}, b""


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, body = self.translated(content)
        if self.command == "HEAD":
            body = b""
        else:
            headers["Content-Length"] = len(body)
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_DELETE = answer

    def translated(self, content):
        path = urllib.parse.urlsplit(self.path).path
        if "/computeMetadata/" in path:
            role = path.split("/")[1]
            return 200, {}, json.dumps({"access_token": role, "expires_in": 3600}).encode()
        if self.headers.get("Authorization", PUBLISHER) != PUBLISHER:
            return error(403, "AccessDenied")
        bucket, _, key = path[1:].partition("/")
        if self.command == "PUT":
            return upload(bucket, urllib.parse.unquote(key), self.headers, content) if key else create(bucket)
        headers = {"Range": self.headers["Range"]} if "Range" in self.headers else {}
        response = call(self.command, self.path, headers=headers)
        # The status of a listing of a bucket that does not exist is 500.
        return not_found(bucket) if response[0] in (404, 500) else response

    def log_message(self, *_):
        pass


def start(program):
    """Starts fake-gcs-server, which ends with this process, and waits until it listens."""
    host, port = BACKEND
    options = ["-backend", "memory", "-scheme", "http", "-host", host, "-port", str(port), "-public-host", host]
    backend = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", program, *options, "-log-level", "error"])
    while backend.poll() is None:
        try:
            return socket.create_connection(BACKEND).close()
        except ConnectionRefusedError:
            time.sleep(0.01)
    sys.exit(f"{program}: ended with {backend.returncode}")


start(sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
