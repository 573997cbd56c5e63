import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { OperatorError } from './errors.ts';
import { type Bounds, DEFAULT_BOUNDS } from './lib/bounds.ts';
import { nearName } from './lib/near-names.ts';
import { isPostgresUrl } from './lib/postgres-url.ts';
import { parseRedisUrl } from './lib/redis-url.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface IdentityProvider {
  issuer: string;
  audience: string;
  jwksUrl: URL;
  /**
   * True if a sign-in token is refused when its claim `email_verified` is missing. A token that says that the address is not verified is
   * always refused.
   */
  requiresVerifiedEmail: boolean;
}

/** All settings from the environment, parsed and typed. README.md has a table of them. */
export interface Config {
  port: number;
  host: string;
  /** Base URL of the links in responses, without a trailing slash. If null, a link has the protocol and host of its request. */
  publicUrl: string | null;
  dataDir: string;
  /** URL of the database. If null, the service uses the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null;
  /** Number of database connections of this process. With `auto`, a start finds the number that the server allows (`db/pool-size.ts`). */
  databasePoolSize: number | 'auto';
  /** True if statements are prepared. If null, they are prepared unless a connection pooler loses them (PgBouncer before 1.21). */
  databasePreparedStatements: boolean | null;
  /**
   * URL of the Redis, the Redis Cluster or the Sentinels (`lib/redis-url.ts`). All processes count the calls of each budget there. If null,
   * each process counts in its own memory.
   */
  redisUrl: string | null;
  /** Master key of 32 bytes. If null, the first start generates it in `dataDir`. Null is possible only with the embedded database. */
  masterKey: Buffer | null;
  masterKeyPrevious: Buffer | null;
  rateLimitPerMinute: number;
  /** Upper bounds on the cost of a request, such as the number of items in an order. */
  bounds: Bounds;
  webhookHeaderBrand: string;
  webhookAllowPrivateNetwork: boolean;
  /** Number of days for which an event is kept. A delivery that has ended, with or without success, is removed together with its event. */
  eventRetentionDays: number;
  identityProvider: IdentityProvider | null;
  trustedProxies: string[];
  logLevel: (typeof LOG_LEVELS)[number];
  metricsPort: number | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration from the environment variables. An empty variable counts as not set. A secret may come from a file. For example,
 * `MASTER_KEY_FILE` is the path of a file that contains the value of `MASTER_KEY`.
 * @throws OperatorError if a variable is missing or invalid. The message names the variable and the values that it may have.
 */
export function readConfig(environment: Environment = process.env): Config {
  const text = (name: string) => environment[name] || null;
  const secret = (name: string) => readSecret(environment, name);
  const databaseUrl = optional(secret('DATABASE_URL'), parseDatabaseUrl);
  const masterKey = optional(secret('MASTER_KEY'), (value) => parseKey('MASTER_KEY', value));
  if (databaseUrl !== null && masterKey === null) {
    throw wrong(
      'MASTER_KEY',
      'is required with DATABASE_URL. Set it to 32 random bytes in base64 (openssl rand -base64 32)',
    );
  }
  const port = optional(text('PORT'), (value) => parseInteger('PORT', value, 0, 65_535)) ?? 8080;
  return {
    port,
    host: text('HOST') ?? '127.0.0.1',
    publicUrl: optional(text('PUBLIC_URL'), (value) => parseBaseUrl('PUBLIC_URL', value)),
    dataDir: text('DATA_DIR') ?? './data',
    databaseUrl,
    databasePoolSize: optional(text('DATABASE_POOL_SIZE'), parsePoolSize) ?? 10,
    databasePreparedStatements: optional(text('DATABASE_PREPARED_STATEMENTS'), (value) =>
      parseBoolean('DATABASE_PREPARED_STATEMENTS', value),
    ),
    redisUrl: optional(secret('REDIS_URL'), checkRedisUrl),
    masterKey,
    masterKeyPrevious: optional(secret('MASTER_KEY_PREVIOUS'), (value) => parseKey('MASTER_KEY_PREVIOUS', value)),
    rateLimitPerMinute:
      optional(text('RATE_LIMIT_PER_MINUTE'), (value) =>
        parseInteger('RATE_LIMIT_PER_MINUTE', value, 1, 1_000_000_000),
      ) ?? 300,
    bounds: readBounds(text),
    webhookHeaderBrand: optional(text('WEBHOOK_HEADER_BRAND'), parseBrand) ?? 'Service',
    webhookAllowPrivateNetwork:
      optional(text('WEBHOOK_ALLOW_PRIVATE_NETWORK'), (value) =>
        parseBoolean('WEBHOOK_ALLOW_PRIVATE_NETWORK', value),
      ) ?? false,
    eventRetentionDays:
      optional(text('EVENT_RETENTION_DAYS'), (value) => parseInteger('EVENT_RETENTION_DAYS', value, 1, 3650)) ?? 30,
    identityProvider: readIdentityProvider(text),
    trustedProxies: optional(text('TRUSTED_PROXIES'), parseProxies) ?? [],
    logLevel: optional(text('LOG_LEVEL'), parseLogLevel) ?? 'info',
    metricsPort: optional(text('METRICS_PORT'), (value) => parseMetricsPort(value, port)),
  };
}

/** Prefix that an operator may put before the name of a setting by mistake, as in ROOMSERVICE_DATABASE_URL. */
const OWN_PREFIX = 'ROOMSERVICE_';
/** Maximum length of a name after `OWN_PREFIX` that causes no warning. For example, Kubernetes sets ROOMSERVICE_PORT. */
const MAX_SHORT_LENGTH = 4;

/**
 * Finds variables that `readConfig` does not read, but whose names look like misspelled settings. Ignores an empty variable. Also ignores a
 * variable if the setting with the correct name is set too.
 * @returns one warning for each variable that is found
 */
export function misspelledVariables(environment: Environment = process.env): string[] {
  const known = configNames();
  return Object.keys(environment).flatMap((name) => {
    const meant = environment[name] ? meantName(name, known) : null;
    return meant === null || environment[meant] ? [] : [`${name} is set, and has no effect. Did you mean ${meant}?`];
  });
}

function meantName(name: string, known: ReadonlySet<string>): string | null {
  const rest = name.startsWith(OWN_PREFIX) ? name.slice(OWN_PREFIX.length) : '';
  return known.has(rest) && rest.length > MAX_SHORT_LENGTH ? rest : nearName(name, known);
}

/**
 * Returns the names of all variables that `readConfig` reads. To find them, it calls `readConfig` with an empty environment that records
 * each name. This finds all names, because `readConfig` reads every variable even if all are missing.
 */
function configNames(): ReadonlySet<string> {
  const names = new Set<string>();
  const record = (_: object, name: string | symbol) => void names.add(String(name));
  readConfig(new Proxy<Environment>({}, { get: record }));
  return names;
}

/** Configuration of the commands that run on a partner's machine: the URL of the service, and a credential for it. */
export interface PartnerConfig {
  /** URL of the service without a trailing slash. */
  serviceUrl: string;
  apiKey: string;
  apiSecret: string;
  /** Folder in which a command keeps its state for the next run, according to the XDG Base Directory Specification. */
  stateDir: string;
}

/**
 * Returns the API key that the command `listen` uses: the given key from the command line, or else the key in the environment. Returns null
 * if both are missing.
 */
export function readPartnerApiKey(given: string | undefined, environment: Environment = process.env): string | null {
  return given || environment['ROOMSERVICE_API_KEY'] || environment['KEY'] || null;
}

/**
 * Reads the configuration of a command that calls the service as a partner. It also accepts the variables `BASE`, `KEY` and `SECRET`,
 * because the demo prints them.
 * @param given options of the command line. The API secret is not an option, because all users of a machine can see its command lines.
 * @throws OperatorError if a value is missing or invalid. The message names the value.
 */
export function readPartnerConfig(
  given: { url?: string; apiKey?: string },
  environment: Environment = process.env,
): PartnerConfig {
  const text = (...names: string[]) => names.map((name) => environment[name]).find(Boolean) ?? null;
  const stateHome = text('XDG_STATE_HOME');
  return {
    serviceUrl: parseBaseUrl(
      '--url or ROOMSERVICE_URL',
      given.url ?? text('ROOMSERVICE_URL', 'BASE') ?? 'http://localhost:8080',
    ),
    apiKey: parseCredential('ROOMSERVICE_API_KEY', readPartnerApiKey(given.apiKey, environment)),
    apiSecret: parseCredential(
      'ROOMSERVICE_API_SECRET',
      readSecret(environment, 'ROOMSERVICE_API_SECRET') ?? text('SECRET'),
    ),
    stateDir: join(
      stateHome !== null && isAbsolute(stateHome) ? stateHome : join(homedir(), '.local', 'state'),
      'roomservice',
    ),
  };
}

function parseCredential(name: string, value: string | null): string {
  if (value === null) {
    throw wrong(
      name,
      'is missing: set ROOMSERVICE_API_KEY and ROOMSERVICE_API_SECRET to the API key and API secret of your credential',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw wrong(name, 'must be exactly as it was issued, without spaces and line breaks');
  }
  return value;
}

function optional<T>(value: string | null, parse: (value: string) => T): T | null {
  return value === null ? null : parse(value);
}

function wrong(name: string, what: string): OperatorError {
  return new OperatorError(`${name} ${what}`);
}

function readSecret(environment: Environment, name: string): string | null {
  const direct = environment[name] || null;
  const path = environment[`${name}_FILE`] || null;
  if (path === null) {
    return direct;
  }
  if (direct !== null) {
    throw wrong(name, `and ${name}_FILE are both set: set only one of them`);
  }
  const content = readSecretFile(`${name}_FILE`, path);
  if (content === '') {
    // Refuses an empty file. Otherwise an empty file for DATABASE_URL would silently select the embedded database. An empty file for
    // REDIS_URL would silently give each process its own budgets.
    throw wrong(`${name}_FILE`, 'must be the path of a file that is not empty');
  }
  return content;
}

function readSecretFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw wrong(name, `must be the path of a readable file (${(error as NodeJS.ErrnoException).code})`);
  }
}

function parseInteger(name: string, value: string, min: number, max: number): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) {
    throw wrong(name, `must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`);
  }
  return number;
}

function parsePoolSize(value: string): number | 'auto' {
  if (value !== 'auto' && !/^\d+$/.test(value)) {
    throw wrong('DATABASE_POOL_SIZE', `must be auto or a whole number from 2 to 1000, not ${JSON.stringify(value)}`);
  }
  return value === 'auto' ? value : parseInteger('DATABASE_POOL_SIZE', value, 2, 1000);
}

function parseMetricsPort(value: string, port: number): number {
  const metricsPort = parseInteger('METRICS_PORT', value, 0, 65_535);
  if (metricsPort === port && port !== 0) {
    throw wrong('METRICS_PORT', `must differ from PORT, which is ${port}`);
  }
  return metricsPort;
}

function parseBoolean(name: string, value: string): boolean {
  if (value !== 'true' && value !== 'false') {
    throw wrong(name, `must be true or false, not ${JSON.stringify(value)}`);
  }
  return value === 'true';
}

function parseKey(name: string, value: string): Buffer {
  const key = Buffer.from(value, 'base64');
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(value) || key.length !== 32) {
    throw wrong(name, 'must be 32 bytes in base64 (openssl rand -base64 32)');
  }
  return key;
}

function parseUrl(value: string, protocols: string[]): URL | null {
  const url = URL.parse(value);
  return url !== null && protocols.includes(url.protocol) ? url : null;
}

function parseDatabaseUrl(value: string): string {
  if (!isPostgresUrl(value)) {
    throw wrong('DATABASE_URL', 'must be a URL such as postgres://user:password@host:5432/database');
  }
  return value;
}

function checkRedisUrl(value: string): string {
  if (parseRedisUrl(value) === null) {
    throw wrong(
      'REDIS_URL',
      'must be a URL such as redis://user:password@host:6379/0, redis+cluster://user:password@host:6379,host:6379 or redis+sentinel://user:password@host:26379,host:26379/primary-name (rediss for TLS). Write special characters of a password in percent-encoding',
    );
  }
  return value;
}

function parseBaseUrl(name: string, value: string): string {
  const url = parseUrl(value, ['http:', 'https:']);
  if (url === null || /[?#]/.test(value)) {
    throw wrong(name, `must be an http or https URL without query and fragment, not ${JSON.stringify(value)}`);
  }
  return url.href.replace(/\/+$/, '');
}

function parseBrand(value: string): string {
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}[A-Za-z0-9])?$/.test(value)) {
    throw wrong(
      'WEBHOOK_HEADER_BRAND',
      `must be 1 to 40 letters, digits or hyphens, without a hyphen at either end, not ${JSON.stringify(value)}`,
    );
  }
  return value;
}

function parseProxies(value: string): string[] {
  const proxies = value.split(',').map((part) => part.trim());
  for (const proxy of proxies) {
    if (!isAddressOrRange(proxy)) {
      throw wrong(
        'TRUSTED_PROXIES',
        `must be a comma-separated list of IP addresses or ranges such as 10.0.0.0/8, not ${JSON.stringify(proxy)}`,
      );
    }
  }
  return proxies;
}

/**
 * Returns true if the text is an IP address or a CIDR range other than /0. The range /0 has all addresses. With it, every caller would be a
 * trusted proxy and could claim any client address.
 */
function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= bits);
  return isIP(address) !== 0 && isPrefix && more.length === 0;
}

function parseLogLevel(value: string): Config['logLevel'] {
  const level = LOG_LEVELS.find((name) => name === value);
  if (level === undefined) {
    throw wrong('LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}, not ${JSON.stringify(value)}`);
  }
  return level;
}

/** Size of the largest request body in MiB (decision 6). It is the minimum of every setting in MiB, so that one body always fits. */
const LARGEST_BODY_MIB = 1;
const MIB = 1024 * 1024;

function readBounds(text: (name: string) => string | null): Bounds {
  const count = (name: string, standard: number) =>
    optional(text(name), (value) => parseInteger(name, value, 1, 1_000_000)) ?? standard;
  const bytes = (name: string, standard: number) =>
    (optional(text(name), (value) => parseInteger(name, value, LARGEST_BODY_MIB, 65_536)) ?? standard / MIB) * MIB;
  const { bodyBytes } = DEFAULT_BOUNDS;
  return {
    orderItems: count('ORDER_MAX_ITEMS', DEFAULT_BOUNDS.orderItems),
    itemAddons: count('ORDER_ITEM_MAX_ADDONS', DEFAULT_BOUNDS.itemAddons),
    dishes: count('MENU_MAX_DISHES', DEFAULT_BOUNDS.dishes),
    dishEntries: count('DISH_MAX_ENTRIES', DEFAULT_BOUNDS.dishEntries),
    renderedMenuBytes: bytes('MENU_MAX_RENDERED_MIB', DEFAULT_BOUNDS.renderedMenuBytes),
    waitingStreams: count('STREAMS_PER_CREDENTIAL', DEFAULT_BOUNDS.waitingStreams),
    bodyBytes: {
      ofCaller: bytes('BODY_MIB_PER_CREDENTIAL', bodyBytes.ofCaller),
      ofTenant: bytes('BODY_MIB_PER_TENANT', bodyBytes.ofTenant),
      ofProcess: bytes('BODY_MIB_PER_PROCESS', bodyBytes.ofProcess),
      ofStrangers: bytes('BODY_MIB_OF_STRANGERS', bodyBytes.ofStrangers),
    },
  };
}

function readIdentityProvider(text: (name: string) => string | null): IdentityProvider | null {
  const issuer = text('AUTH_ISSUER');
  const audience = text('AUTH_AUDIENCE');
  const address = text('AUTH_JWKS_URL');
  const requiresVerifiedEmail =
    optional(text('AUTH_EMAIL_VERIFIED_REQUIRED'), (value) => parseBoolean('AUTH_EMAIL_VERIFIED_REQUIRED', value)) ??
    true;
  if (issuer === null && audience === null && address === null) {
    return null;
  }
  for (const [name, value] of Object.entries({
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    AUTH_JWKS_URL: address,
  })) {
    if (value === null) {
      throw wrong(name, 'is missing: set all of AUTH_ISSUER, AUTH_AUDIENCE and AUTH_JWKS_URL, or set none of them');
    }
  }
  const jwksUrl = parseUrl(address as string, ['https:', 'http:']);
  const isLocal = jwksUrl !== null && ['localhost', '127.0.0.1', '[::1]'].includes(jwksUrl.hostname);
  const hasCredentials = jwksUrl !== null && (jwksUrl.username !== '' || jwksUrl.password !== '');
  if (jwksUrl === null || hasCredentials || (jwksUrl.protocol === 'http:' && !isLocal)) {
    throw wrong('AUTH_JWKS_URL', 'must be an https URL without user name and password (http only for localhost)');
  }
  return { issuer: issuer as string, audience: audience as string, jwksUrl, requiresVerifiedEmail };
}
