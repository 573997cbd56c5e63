import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/**
 * Connection pooler between this process and PostgreSQL (`DATABASE_POOLER`), for example PgBouncer in transaction mode. It may run each
 * transaction of a client on another connection to the server. `transaction-prepared` is a pooler that keeps prepared statements.
 */
export type Pooler = (typeof POOLERS)[number];
export const POOLERS = ['none', 'transaction', 'transaction-prepared'] as const;

/** Values that a parameter of a PostgreSQL URL may have. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['verify-full', 'verify-ca', 'require', 'prefer', 'no-verify', 'disable'],
  ssl: ['true', '1', '0'],
  sslnegotiation: ['postgres', 'direct'],
};
/** Parameters of a PostgreSQL URL that name a file, with the option of `createSecureContext` that takes its text. */
const FILES: Readonly<Record<string, 'ca' | 'cert' | 'key'>> = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' };
/**
 * Matches the values of `sslmode` that the library pg treats like `verify-full`. It prints a warning for them, because its next major
 * version will check less.
 */
const LIKE_VERIFY_FULL = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g;

/** Matches a percent sign that begins no encoded character. The library pg takes such a sign as it is. */
const STRAY_PERCENT = /%(?![a-f0-9]{2})/i;

/**
 * Returns the reason why a text is not the URL of a PostgreSQL database, or why its TLS parameters cannot work. The reason has no subject,
 * and never shows a password. Returns null if the URL is correct. Reads the files that the URL names.
 */
export function faultOfPostgresUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol) || hasStrayLogin(url)) {
    return 'must be a URL such as postgres://user:password@host:5432/database. Write special characters of the user name and the password in percent-encoding';
  }
  const parameters = new Map(url.searchParams);
  return faultOfChoices(parameters) ?? faultOfPairs(parameters) ?? faultOfFiles(parameters);
}

/**
 * Returns true if the user name or the password has a character that must be in percent-encoding. Then a part of the password may count as
 * the host or as the name of the database, which messages show.
 */
function hasStrayLogin({ username, password, pathname, search, hash }: URL): boolean {
  try {
    decodeURIComponent(`${username} ${password} ${pathname}`);
  } catch {
    return !STRAY_PERCENT.test(`${username} ${password} ${pathname}`);
  }
  return `${pathname}${hash}`.includes('@') || (username === '' && search.includes('@'));
}

function faultOfChoices(parameters: ReadonlyMap<string, string>): string | null {
  for (const [name, value] of parameters) {
    const choices = name === 'pooler' ? POOLERS : CHOICES[name];
    if (choices !== undefined && !choices.includes(value)) {
      return `must have one of ${choices.join(', ')} as ${name}, not ${JSON.stringify(value)}`;
    }
    if (choices === undefined && FILES[name] === undefined && /^ssl/i.test(name)) {
      const known = [...Object.keys(CHOICES), ...Object.keys(FILES)].join(', ');
      return `must not have the parameter ${JSON.stringify(name)}, which is unknown. The parameters for TLS are ${known}`;
    }
  }
  return null;
}

/** Returns the reason why parameters contradict each other, or null. The library pg throws an error without a code for some of them. */
function faultOfPairs(parameters: ReadonlyMap<string, string>): string | null {
  if (parameters.has('sslcert') !== parameters.has('sslkey')) {
    return 'must have both sslcert and sslkey for a client certificate, or neither of them';
  }
  if (parameters.get('sslmode') === 'disable' && parameters.get('sslnegotiation') === 'direct') {
    return 'must not have both sslnegotiation=direct, which needs TLS, and sslmode=disable';
  }
  const isCompatible = parameters.get('uselibpqcompat') === 'true';
  if (isCompatible && parameters.get('sslmode') === 'verify-ca' && !parameters.has('sslrootcert')) {
    return 'must have sslrootcert, which sslmode=verify-ca needs with uselibpqcompat=true';
  }
  return null;
}

function faultOfFiles(parameters: ReadonlyMap<string, string>): string | null {
  const texts: { ca?: string; cert?: string; key?: string } = {};
  for (const [name, option] of Object.entries(FILES)) {
    const path = parameters.get(name);
    if (path !== undefined) {
      try {
        texts[option] = readPem(path);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        return `must have the path of a readable PEM file as ${name}, not ${JSON.stringify(path)} (${code ?? message})`;
      }
    }
  }
  try {
    if (Object.keys(texts).length > 0) {
      createSecureContext(texts);
    }
    return null;
  } catch (error) {
    return `must name TLS files that can be used together (${(error as Error).message}). Check ${Object.keys(FILES).join(', ')}`;
  }
}

function readPem(path: string): string {
  const text = readFileSync(path, 'utf8');
  if (!text.includes('-----BEGIN ')) {
    throw new Error('it has no PEM block');
  }
  return text;
}

/**
 * Returns the URL for the library pg. The modes `prefer`, `require` and `verify-ca` become `verify-full`, unless the URL asks for the rules
 * of libpq with `uselibpqcompat=true`.
 */
export function toPgUrl(url: string): string {
  return /[?&]uselibpqcompat=true(?:&|#|$)/.test(url) ? url : url.replace(LIKE_VERIFY_FULL, '$1verify-full');
}

/** Returns the URL with the pooler as a parameter, so that each part of the service that gets the URL knows of the pooler. */
export function withPooler(url: string, pooler: Pooler): string {
  if (pooler === 'none') {
    return url;
  }
  const marked = new URL(url);
  marked.searchParams.set('pooler', pooler);
  return marked.href;
}

export function poolerOf(url: string): Pooler {
  const named = URL.parse(url)?.searchParams.get('pooler');
  return POOLERS.find((pooler) => pooler === named) ?? 'none';
}
