const MAX_CODE_POINTS = 2_048;

/** The parsed address, or why it was refused: a short text to follow `webhook_url: `. */
export type WebhookUrlCheck = { ok: true; url: URL } | { ok: false; reason: string };

/**
 * Checks a webhook address by decision 31. Where its host leads is not looked at: that is vetted at every connection,
 * since a name may lead elsewhere by then.
 */
export function checkWebhookUrl(
  text: string,
  { allowPrivateNetwork }: { allowPrivateNetwork: boolean },
): WebhookUrlCheck {
  // UTF-16 units are at most twice the code points, so a huge text is refused without being spread out.
  if (text.length > 2 * MAX_CODE_POINTS || Array.from(text).length > MAX_CODE_POINTS) {
    return refused(`must be at most ${MAX_CODE_POINTS} characters`);
  }
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (authority === undefined || url === null || hasRewrittenCharacters(text)) {
    return refused('must be an HTTPS URL');
  }
  // The parsed URL no longer tells an empty user name or fragment from none.
  if (authority.includes('@')) {
    return refused('must not contain a user name or password');
  }
  if (text.includes('#')) {
    return refused('must not contain a fragment');
  }
  if (!allowPrivateNetwork && !isOpenPort(url.port)) {
    return refused('must use port 443, or 1024 and above');
  }
  return { ok: true, url };
}

/** Characters that the URL parser drops or turns into others: such a text is not the address that it appears to be. */
function hasRewrittenCharacters(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u0020\u007f\\]/.test(text);
}

/** The parser leaves the port empty where it is the scheme's own, 443. */
function isOpenPort(port: string): boolean {
  return port === '' || Number(port) >= 1_024;
}

function refused(reason: string): WebhookUrlCheck {
  return { ok: false, reason };
}
