import { isIP } from 'node:net';

/** Error of a value. Its message has no subject, because the code that catches it puts the name of the setting before it. */
export class InvalidValueError extends Error {}

/** Parses the value of a setting. @throws InvalidValueError, whose message never shows a secret */
export type Parse<T> = (value: string) => T;

export function integerFrom(min: number, max: number): Parse<number> {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new InvalidValueError(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`);
    }
    return number;
  };
}

export function parseBoolean(value: string): boolean {
  if (value !== 'true' && value !== 'false') {
    throw new InvalidValueError(`must be true or false, not ${JSON.stringify(value)}`);
  }
  return value === 'true';
}

export function oneOf<T extends string>(values: readonly T[]): Parse<T> {
  return (value) => {
    const known = values.find((each) => each === value);
    if (known === undefined) {
      throw new InvalidValueError(`must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`);
    }
    return known;
  };
}

const KEY_BYTES = 32;

export function parseKey(value: string): Buffer {
  const key = Buffer.from(value, 'base64');
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(value) || key.length !== KEY_BYTES) {
    throw new InvalidValueError('must be 32 bytes in base64, for example the output of "openssl rand -base64 32"');
  }
  return key;
}

function parseUrl(value: string, protocols: string[]): URL | null {
  const url = URL.parse(value);
  return url !== null && protocols.includes(url.protocol) ? url : null;
}

export function parseRedisUrl(value: string): string {
  const url = parseUrl(value, ['redis:', 'rediss:']);
  if (
    url === null ||
    !/^[^,]+$/.test(url.hostname) ||
    !/^\/?\d*$/.test(url.pathname) ||
    decoded(url.username) === null ||
    decoded(url.password) === null
  ) {
    throw new InvalidValueError(
      'must be a URL of one server such as redis://user:password@host:6379/0 (rediss for TLS). Write special characters of a password in percent-encoding',
    );
  }
  return value;
}

/** Parses `smtp://[user:password@]host[:port]`, or `smtps` for TLS from the start. The default ports are those of RFC 6409 and RFC 8314. */
export function parseMailServer(value: string) {
  const url = parseUrl(value, ['smtp:', 'smtps:']);
  const [username, password] = [decoded(url?.username ?? ''), decoded(url?.password ?? '')];
  const isServerOnly =
    url !== null &&
    url.hostname !== '' &&
    ['', '/'].includes(url.pathname) &&
    url.port !== '0' &&
    !/[?#\s]/.test(value);
  if (!isServerOnly || username === null || password === null || (username === '') !== (password === '')) {
    throw new InvalidValueError(
      'must be a URL such as smtps://user:password@host:465, or smtp://host:587 for STARTTLS. Write special characters of the user name and the password in percent-encoding',
    );
  }
  const isEncrypted = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (isEncrypted ? 465 : 587),
    isEncrypted,
    login: username === '' ? null : { username, password },
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const MAIL_SENDER = /^(?:(?<name>[^<>"@\p{Cc}]*)<(?<address>[^<>]+)>|(?<alone>[^<>]+))$/u;
const MAIL_ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u;

export function parseMailSender(value: string) {
  const { name = '', address, alone } = MAIL_SENDER.exec(value.trim())?.groups ?? {};
  const sender = { name: name.trim(), address: address ?? alone ?? '' };
  if (!MAIL_ADDRESS.test(sender.address)) {
    throw new InvalidValueError(
      `must be a mail address such as Roomservice <noreply@example.com>, not ${JSON.stringify(value)}`,
    );
  }
  return sender;
}

/** Parses the base URL of a service, such as PUBLIC_URL. Returns it without a trailing slash. */
export function parseBaseUrl(value: string): string {
  const url = parseUrl(value, ['http:', 'https:']);
  if (url === null || /[?#]/.test(value)) {
    // A value with an @ may contain a password, so the message does not show it.
    const given = value.includes('@') ? '' : `, not ${JSON.stringify(value)}`;
    throw new InvalidValueError(`must be an http or https URL without query and fragment${given}`);
  }
  return url.href.replace(/\/+$/, '');
}

export function parseKeySetUrl(value: string): URL {
  const url = parseUrl(value, ['https:', 'http:']);
  const isLocal = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const hasCredentials = url !== null && (url.username !== '' || url.password !== '');
  if (url === null || hasCredentials || (url.protocol === 'http:' && !isLocal)) {
    throw new InvalidValueError('must be an https URL without user name and password (http only for localhost)');
  }
  return url;
}

export function parseBrand(value: string): string {
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}[A-Za-z0-9])?$/.test(value)) {
    throw new InvalidValueError(
      `must be 1 to 40 letters, digits or hyphens that begin and end with a letter or a digit, not ${JSON.stringify(value)}`,
    );
  }
  return value;
}

export function parseProxies(value: string): string[] {
  const proxies = value.split(',').map((part) => part.trim());
  const wrong = proxies.find((proxy) => !isAddressOrRange(proxy));
  if (wrong !== undefined) {
    throw new InvalidValueError(
      `must be a comma-separated list of IP addresses or ranges such as 10.0.0.0/8, not ${JSON.stringify(wrong)}`,
    );
  }
  return proxies;
}

/** Refuses the range /0. With it, every caller would be a trusted proxy and could claim any client address. */
function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= bits);
  return isIP(address) !== 0 && isPrefix && more.length === 0;
}
