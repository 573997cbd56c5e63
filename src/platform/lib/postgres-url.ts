import { readFileSync } from 'node:fs';
import { InvalidValueError } from './setting-values.ts';

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['verify-full', 'verify-ca', 'require', 'prefer', 'no-verify', 'disable'],
  ssl: ['true', '1', '0'],
  sslnegotiation: ['postgres', 'direct'],
  pooler: ['true', 'false'],
};
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** Matches a percent sign that begins no encoded character. The library pg takes such a sign as it is. */
const STRAY_PERCENT = /%(?![a-f0-9]{2})/i;

const FORM = 'must be a URL such as postgres://user:password@host:5432/database';
const ENCODING = 'Write special characters of the user name and the password in percent-encoding';

/** Parses the URL of a database for pg. The modes `prefer`, `require` and `verify-ca` become `verify-full`, because pg warns of these. */
export function parseDatabaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol) || hasStrayLogin(url)) {
    throw new InvalidValueError(`${FORM}. ${ENCODING}`);
  }
  url.searchParams.forEach(checkParameter);
  return text.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}

/** Then a part of the password may count as the host or as the name of the database, which messages show. */
function hasStrayLogin({ username, password, pathname, search, hash }: URL): boolean {
  try {
    decodeURIComponent(`${username} ${password} ${pathname}`);
  } catch {
    return !STRAY_PERCENT.test(`${username} ${password} ${pathname}`);
  }
  return `${pathname}${hash}`.includes('@') || (username === '' && search.includes('@'));
}

/** The library pg ignores an unknown parameter. Then the connection would have no TLS, although the operator asked for it. */
function checkParameter(value: string, name: string): void {
  const choices = CHOICES[name];
  if (choices?.includes(value) === false) {
    throw new InvalidValueError(`must have one of ${choices.join(', ')} as ${name}, not ${JSON.stringify(value)}`);
  }
  if (FILES.includes(name)) {
    checkFile(value, name);
  } else if (choices === undefined && /^ssl/i.test(name)) {
    throw new InvalidValueError(`must not have the parameter ${JSON.stringify(name)}, which is unknown`);
  }
}

function checkFile(path: string, name: string): void {
  try {
    readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InvalidValueError(
      `must have the path of a readable file as ${name}, not ${JSON.stringify(path)} (${code})`,
    );
  }
}

/** Returns the URL with a mark that a connection pooler is in front of the database, so that each part that gets the URL knows of it. */
export function withPooler(url: string): string {
  const marked = new URL(url);
  marked.searchParams.set('pooler', 'true');
  return marked.href;
}

/** Returns true if the URL leads to a connection pooler, which may run each transaction on another connection. */
export function hasPooler(url: string): boolean {
  return URL.parse(url)?.searchParams.get('pooler') === 'true';
}
