/** Parts of an SMTP_URL. */
export interface SmtpAddress {
  host: string;
  port: number;
  /** True if the connection uses TLS from the start. If false, the connection changes to TLS if the server offers STARTTLS. */
  isEncrypted: boolean;
  /** Null if the mail server needs no login. */
  login: { username: string; password: string } | null;
}

/** Default ports of a mail server by the protocol of the URL (RFC 6409 §3.1 for `smtp`, RFC 8314 §3.3 for `smtps`). */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

/**
 * Parses an SMTP_URL: `smtp://[user:password@]host[:port]`, or `smtps` for TLS from the start. User name and password are percent-encoded.
 * @returns the parts of the URL, or null if the text has another form
 */
export function parseSmtpUrl(value: string): SmtpAddress | null {
  const url = URL.parse(value);
  const defaultPort = url === null ? undefined : DEFAULT_PORTS[url.protocol];
  if (url === null || defaultPort === undefined || url.hostname === '' || /[?#\s]/.test(value)) {
    return null;
  }
  const isServerOnly = ['', '/'].includes(url.pathname) && url.port !== '0';
  const isWholeLogin = (url.username === '') === (url.password === '');
  const [username, password] = [decoded(url.username), decoded(url.password)];
  if (!isServerOnly || !isWholeLogin || username === null || password === null) {
    return null;
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    isEncrypted: url.protocol === 'smtps:',
    login: username === '' ? null : { username, password },
  };
}

/** Decodes a part of a URL. Returns null if a percent sign does not begin an encoded character. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
