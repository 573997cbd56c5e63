/** The table of all environment variables: parser, default and meaning. */
import { parseDatabaseUrl } from './lib/postgres-url.ts';
import {
  integerFrom,
  oneOf,
  type Parse,
  parseBaseUrl,
  parseBoolean,
  parseBrand,
  parseKey,
  parseKeySetUrl,
  parseMailSender,
  parseMailServer,
  parseProxies,
  parseRedisUrl,
} from './lib/setting-values.ts';

export interface Setting<Name extends string = string> {
  name: Name;
  parse: Parse<unknown>;
  default: string | null;
  /** Words that docs/operating/settings.md shows in place of a missing default value. It shows `none` if this field is missing too. */
  otherwise?: string;
  meaning: string;
  page?: string;
  /** True if the value is a secret, or a URL that may contain a password. The variable with the suffix `_FILE` may then name a file with it. */
  isSecret?: true;
}

const MAX_PORT = 65_535;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const TABLE = [
  {
    name: 'PORT',
    parse: integerFrom(0, MAX_PORT),
    default: '8080',
    meaning: 'Port of the API, or 0 for any free port.',
  },
  { name: 'HOST', parse: String, default: '127.0.0.1', meaning: 'IP address or host name on which the API listens.' },
  {
    name: 'KEEP_ALIVE_SECONDS',
    parse: integerFrom(1, 86_400),
    default: '72',
    meaning:
      'Seconds for which an idle connection to the API stays open, from 1 to 86400. The value must be greater than the idle time of the ' +
      'proxy or load balancer in front of the service.',
    page: 'docs/operating/proxies.md',
  },
  {
    name: 'STOP_GRACE',
    parse: integerFrom(0, 300),
    otherwise: '5, or 0 in a terminal',
    meaning:
      'Seconds from 0 to 300 for which a stopping process still serves calls, while `/readyz` returns 503. The value must be greater than ' +
      'the time in which the load balancer notices this.',
    page: 'docs/operating/proxies.md',
  },
  {
    name: 'PUBLIC_URL',
    parse: parseBaseUrl,
    otherwise: 'from the request',
    meaning:
      'URL under which people and partners reach the service. It is the base of the `next` and `previous` links, and of the links that ' +
      'invite people. If it begins with `https:`, session cookies are set only for HTTPS. Without this variable, the links that invite ' +
      'people begin with the address on which the process listens.',
  },
  {
    name: 'DATA_DIR',
    parse: String,
    default: './data',
    meaning: 'Folder of the embedded database and of the generated keys.',
  },
  {
    name: 'DATABASE_URL',
    parse: parseDatabaseUrl,
    meaning:
      'URL of a PostgreSQL, version 15 or later, which replaces the embedded database. For TLS, add `sslmode=verify-full` to it.',
    page: 'docs/operating/connections.md',
    isSecret: true,
  },
  {
    name: 'DATABASE_POOL_SIZE',
    parse: integerFrom(2, 1_000),
    default: '20',
    meaning:
      'Database connections of each process. A process with an API and at least 5 connections reserves some of them for background ' +
      'work. With `--only api`, it reserves 1 connection, for example to read the list of recent changes. Without `--only`, it reserves ' +
      '2, also for the deliveries. A process with deliveries opens one more connection, for notifications.',
    page: 'docs/operating/connections.md',
  },
  {
    name: 'DATABASE_POOLER',
    parse: parseBoolean,
    default: 'false',
    meaning:
      '`true` if a connection pooler such as PgBouncer is in front of the database. The service then prepares no statements, and sends its ' +
      'settings with each transaction.',
    page: 'docs/operating/connections.md',
  },
  {
    name: 'REDIS_URL',
    parse: parseRedisUrl,
    meaning:
      'URL of one Redis or Valkey, so that several processes share the budgets. Without this variable each process counts calls on its ' +
      'own. While Redis cannot be reached, each process lets in its share of each budget.',
    page: 'docs/operating/redis.md',
    isSecret: true,
  },
  {
    name: 'MASTER_KEY',
    parse: parseKey,
    otherwise: 'made in `DATA_DIR`',
    meaning:
      'Master key, 32 bytes in base64, that wraps the keys of the service. This variable is required with `DATABASE_URL`.',
    page: 'docs/operating/keys.md',
    isSecret: true,
  },
  {
    name: 'MASTER_KEY_PREVIOUS',
    parse: parseKey,
    meaning:
      'Old master key, while you replace the master key. Only the commands `keys rewrap` and `serve` wrap the stored keys with the ' +
      'new master key.',
    page: 'docs/operating/keys.md',
    isSecret: true,
  },
  {
    name: 'RATE_LIMIT_PER_MINUTE',
    parse: integerFrom(1, 1_000_000_000),
    default: '300',
    meaning: 'Requests a minute for each credential.',
  },
  {
    name: 'WEBHOOK_HEADER_BRAND',
    parse: parseBrand,
    default: 'Service',
    meaning: 'Brand in `X-<brand>-Signature`, `X-<brand>-Timestamp` and `X-<brand>-Event-Id`.',
  },
  {
    name: 'WEBHOOK_ALLOW_PRIVATE_NETWORK',
    parse: parseBoolean,
    default: 'false',
    meaning: 'For development: `true` allows deliveries to private addresses and to any port.',
  },
  {
    name: 'EVENT_RETENTION_DAYS',
    parse: integerFrom(1, 3_650),
    default: '30',
    meaning:
      'Days for which the service keeps events and ended deliveries, from 1 to 3650. The service keeps pending deliveries in any case.',
  },
  {
    name: 'AUTH_ISSUER',
    parse: String,
    meaning:
      'Issuer of the tokens of an outside identity provider for owner and staff. Set all three of `AUTH_ISSUER`, `AUTH_AUDIENCE` and ' +
      '`AUTH_JWKS_URL`, or none of them.',
  },
  { name: 'AUTH_AUDIENCE', parse: String, meaning: 'Audience of the tokens of the identity provider.' },
  {
    name: 'AUTH_JWKS_URL',
    parse: parseKeySetUrl,
    meaning: 'URL of the keys (JWKS) of the identity provider.',
  },
  {
    name: 'AUTH_EMAIL_VERIFIED_REQUIRED',
    parse: parseBoolean,
    default: 'true',
    meaning:
      'With `true`, a token of the identity provider must say `email_verified: true`. With `false`, a token without `email_verified` is ' +
      'accepted too. Use `false` only if the provider verifies every e-mail. A token that says `email_verified: false` is always refused.',
  },
  {
    name: 'SMTP_URL',
    parse: parseMailServer,
    meaning:
      'URL of the server that sends mails: `smtps://user:password@host:465`, or `smtp://user:password@host:587` for STARTTLS. Set all ' +
      'three of `SMTP_URL`, `MAIL_FROM` and `PUBLIC_URL`. Without them, the owner hands invitations to people in another way.',
    page: 'docs/operating/mail.md',
    isSecret: true,
  },
  {
    name: 'MAIL_FROM',
    parse: parseMailSender,
    meaning: 'Sender of the mails, for example `Roomservice <noreply@example.com>`.',
    page: 'docs/operating/mail.md',
  },
  {
    name: 'TRUSTED_PROXIES',
    parse: parseProxies,
    meaning:
      'Addresses or ranges of proxies whose `X-Forwarded-*` headers the service believes, separated by commas. A port after a client ' +
      'address is ignored. If a proxy forwards a text that is no address, the address of the proxy counts instead.',
  },
  {
    name: 'LOG_LEVEL',
    parse: oneOf(LOG_LEVELS),
    default: 'info',
    meaning: 'Level of the log lines: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  },
  {
    name: 'METRICS_PORT',
    parse: integerFrom(0, MAX_PORT),
    meaning:
      'Port for Prometheus metrics. `/livez` and `/readyz` answer on this port too, and a burst of new connections to the API does not ' +
      'delay a probe there.',
  },
] as const satisfies readonly (Omit<Setting, 'default'> & { default?: string })[];

type Row = (typeof TABLE)[number];
export type SettingName = Row['name'];

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Others}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Others>>}`
  : Lowercase<Name>;
type Value<Each extends Row> = ReturnType<Each['parse']> | (Each extends { default: string } ? never : null);
export type Values = { [Each in Row as CamelCase<Each['name']>]: Value<Each> };

export function keyOf(name: SettingName): keyof Values {
  return name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof Values;
}

export const SETTINGS: readonly Setting<SettingName>[] = TABLE.map((row) => ({ default: null, ...row }));

/** Names of all variables, also those that give the path of a file with a secret. */
export const SETTING_NAMES: ReadonlySet<string> = new Set(
  SETTINGS.flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name])),
);
