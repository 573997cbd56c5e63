import hashlib
import hmac
import re
import time

TOLERANCE_SECONDS = 300


def verify(secrets, timestamp, signature, body, now=None):
    """Returns true if a delivery was signed with one of our webhook secrets, and its timestamp is within the tolerance.

    secrets    list of str: each webhook_secret in use, usually one
    timestamp  the header X-Service-Timestamp, or None if it is missing
    signature  the header X-Service-Signature, or None if it is missing
    body       bytes as they arrived, before any parsing
    """
    if not re.fullmatch("[0-9]{1,12}", timestamp or ""):
        return False
    now = time.time() if now is None else now
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = (signature or "").encode("utf-8", "replace")
    message = timestamp.encode() + b"." + body
    return any(
        secret != "" and hmac.compare_digest(_sign(secret, message), given)
        for secret in secrets
    )


def _sign(secret, message):
    mac = hmac.new(secret.encode(), message, hashlib.sha256)
    return b"sha256=" + mac.hexdigest().encode()
