import base64
import sys

from verify import verify


def text(field):
    return None if field == "-" else base64.b64decode(field).decode()


for line in sys.stdin:
    secrets, timestamp, signature, body, now = line.rstrip("\n").split("\t")
    given = [text(secret) for secret in secrets.split(",")[:-1]]
    print(str(verify(given, text(timestamp), text(signature), base64.b64decode(body), int(now))).lower())
