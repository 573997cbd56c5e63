import { readFileSync } from 'node:fs';
import { OperatorError } from './errors.ts';
import { nearName } from './lib/near-names.ts';
import { POOLERS, withPooler } from './lib/postgres-url.ts';
import { type ProxyVariables, proxyVariables } from './lib/proxy-variables.ts';
import {
  checkRedisUrl,
  integerFrom,
  InvalidValueError,
  MAX_PORT,
  metricsPortBeside,
  type MailSender,
  oneOf,
  type Parse,
  parseBaseUrl,
  parseBoolean,
  parseBrand,
  parseDatabaseUrl,
  parseKey,
  parseKeySetUrl,
  parseMailSender,
  parseMailServer,
  parseProxies,
} from './lib/setting-values.ts';
import type { SmtpAddress } from './lib/smtp-url.ts';
import { findStateDir } from './lib/state-dir.ts';
import { decodeText } from './lib/text-file.ts';
import { type SettingName, SETTING_NAMES, settingOf } from './settings.ts';

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

/** Mail server to which the service sends its mails, and the sender that these mails name. */
export interface MailSettings {
  server: SmtpAddress;
  sender: MailSender;
}

/** All settings from the environment, parsed and typed. `settings.ts` says what each variable means. */
export interface Config {
  port: number;
  host: string;
  /** Time in seconds for which an idle connection to the API stays open. */
  keepAliveSeconds: number;
  /** Null: 5, or 0 in a terminal. */
  stopGraceSeconds: number | null;
  /** Base URL of the links in responses, without a trailing slash. If null, a link has the protocol and host of its request. */
  publicUrl: string | null;
  dataDir: string;
  /**
   * URL of the database, with the connection pooler as a parameter (`withPooler`). If null, the service uses the embedded PostgreSQL in
   * `dataDir`.
   */
  databaseUrl: string | null;
  /** Number of database connections of this process. */
  databasePoolSize: number;
  /**
   * URL of the Redis server, Redis Cluster or Sentinels (`lib/redis-url.ts`). There, all processes together count the calls for the rate
   * limits. If null, each process counts in its own memory.
   */
  redisUrl: string | null;
  /** Master key of 32 bytes. If null, the first start generates it in `dataDir`. Null is possible only with the embedded database. */
  masterKey: Buffer | null;
  masterKeyPrevious: Buffer | null;
  rateLimitPerMinute: number;
  webhookHeaderBrand: string;
  webhookAllowPrivateNetwork: boolean;
  /**
   * Number of days for which an event and its webhook delivery are kept. If the webhook delivery is still pending, both are kept longer.
   */
  eventRetentionDays: number;
  identityProvider: IdentityProvider | null;
  /** Settings for sending mail. Null if the service sends no mail. */
  mail: MailSettings | null;
  trustedProxies: string[];
  logLevel: (typeof LOG_LEVELS)[number];
  metricsPort: number | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Value of an environment variable, with its source and its fault. */
export interface Reading {
  /** Value without any parsing, which may be a secret. Null if the variable is not set or cannot be read. */
  text: string | null;
  source: 'environment' | 'file' | 'default';
  /** Path of the file that contains the value. Null unless the source is a file. */
  file: string | null;
  /** Message that names the variable and the values that it may have. Null if the value is valid. It never shows a secret. */
  fault: string | null;
}

export interface InspectedConfig {
  /** Configuration in which each faulty variable counts as not set. */
  config: Config;
  /** Value, source and fault of each variable in `SETTINGS`, also of a variable that is not set. */
  readings: ReadonlyMap<SettingName, Reading>;
}

/**
 * Reads the configuration from the environment variables. An empty variable counts as not set. A secret may come from a file. For example,
 * `MASTER_KEY_FILE` is the path of a file that contains the value of `MASTER_KEY`.
 * @throws OperatorError if a variable is missing or invalid. The message names the variable and the values that it may have.
 */
export function readConfig(environment: Environment = process.env): Config {
  const { config, readings } = inspectConfig(environment);
  for (const { fault } of readings.values()) {
    if (fault !== null) {
      throw new OperatorError(fault);
    }
  }
  return config;
}

/** Reads the configuration like `readConfig`, but returns the source and the fault of each variable, and does not throw. */
export function inspectConfig(environment: Environment = process.env): InspectedConfig {
  const reader = new Reader(environment);
  const databaseUrl = reader.optional('DATABASE_URL', parseDatabaseUrl);
  const pooler = reader.withDefault('DATABASE_POOLER', oneOf(POOLERS));
  const masterKey = reader.optional('MASTER_KEY', parseKey);
  if (reader.isSet('DATABASE_URL') && !reader.isSet('MASTER_KEY')) {
    reader.addFault(
      'MASTER_KEY',
      'is required with DATABASE_URL. Set it to 32 random bytes in base64 (openssl rand -base64 32)',
    );
  }
  const port = reader.withDefault('PORT', integerFrom(0, MAX_PORT));
  const config: Config = {
    port,
    host: reader.withDefault('HOST', String),
    keepAliveSeconds: reader.withDefault('KEEP_ALIVE_SECONDS', integerFrom(1, 86_400)),
    stopGraceSeconds: reader.optional('STOP_GRACE', integerFrom(0, 300)),
    publicUrl: reader.optional('PUBLIC_URL', parseBaseUrl),
    dataDir: reader.withDefault('DATA_DIR', String),
    databaseUrl: databaseUrl === null ? null : withPooler(databaseUrl, pooler),
    databasePoolSize: reader.withDefault('DATABASE_POOL_SIZE', integerFrom(2, 1_000)),
    redisUrl: reader.optional('REDIS_URL', checkRedisUrl),
    masterKey,
    masterKeyPrevious: reader.optional('MASTER_KEY_PREVIOUS', parseKey),
    rateLimitPerMinute: reader.withDefault('RATE_LIMIT_PER_MINUTE', integerFrom(1, 1_000_000_000)),
    webhookHeaderBrand: reader.withDefault('WEBHOOK_HEADER_BRAND', parseBrand),
    webhookAllowPrivateNetwork: reader.withDefault('WEBHOOK_ALLOW_PRIVATE_NETWORK', parseBoolean),
    eventRetentionDays: reader.withDefault('EVENT_RETENTION_DAYS', integerFrom(1, 3_650)),
    identityProvider: readIdentityProvider(reader),
    mail: readMail(reader),
    trustedProxies: reader.optional('TRUSTED_PROXIES', parseProxies) ?? [],
    logLevel: reader.withDefault('LOG_LEVEL', oneOf(LOG_LEVELS)),
    metricsPort: reader.optional('METRICS_PORT', metricsPortBeside(port)),
  };
  return { config, readings: reader.readings };
}

/** Reads variables, and collects their faults. */
class Reader {
  readonly readings = new Map<SettingName, Reading>();
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Returns the parsed value. Returns null if the variable is not set or is faulty. */
  optional<T>(name: SettingName, parse: Parse<T>): T | null {
    const reading = lookUp(this.#environment, name, settingOf(name).isSecret === true);
    this.readings.set(name, reading);
    try {
      return reading.text === null ? null : parse(reading.text);
    } catch (error) {
      if (!(error instanceof InvalidValueError)) {
        throw error;
      }
      this.addFault(name, error.message);
      return null;
    }
  }

  /** Returns the parsed value. Returns the default of `SETTINGS` if the variable is not set or is faulty. */
  withDefault<T>(name: SettingName, parse: Parse<T>): T {
    return this.optional(name, parse) ?? parse(settingOf(name).default as string);
  }

  /** Returns true if the variable is set, even if its value is faulty. The variable must have been read before this call. */
  isSet(name: SettingName): boolean {
    return this.readings.get(name)?.source !== 'default';
  }

  addFault(name: SettingName, what: string): void {
    this.readings.set(name, { ...(this.readings.get(name) as Reading), fault: `${name} ${what}` });
  }
}

/** Prefix that an operator may put before the name of a setting by mistake, as in ROOMSERVICE_DATABASE_URL. */
const OWN_PREFIX = 'ROOMSERVICE_';
/**
 * Maximum length of a short setting name, for example PORT. A variable with `OWN_PREFIX` before a short name causes no warning, because
 * another program may have set the variable. For example, Kubernetes may set ROOMSERVICE_PORT.
 */
const MAX_SHORT_LENGTH = 4;

/**
 * Finds variables that have no effect, but whose names look like misspelled settings. Ignores an empty variable. Also ignores a variable if
 * the setting with the correct name is set too.
 * @returns one warning for each variable that is found
 */
export function misspelledVariables(environment: Environment = process.env): string[] {
  return Object.keys(environment).flatMap((name) => {
    const meant = environment[name] ? meantName(name) : null;
    return meant === null || environment[meant] ? [] : [`${name} is set, and has no effect. Did you mean ${meant}?`];
  });
}

function meantName(name: string): string | null {
  const rest = name.startsWith(OWN_PREFIX) ? name.slice(OWN_PREFIX.length) : '';
  return SETTING_NAMES.has(rest) && rest.length > MAX_SHORT_LENGTH ? rest : nearName(name, SETTING_NAMES);
}

/** Configuration of the commands that run on a partner's machine: the URL of the service, and a credential for it. */
export interface PartnerConfig {
  /** URL of the service without a trailing slash. */
  serviceUrl: string;
  apiKey: string;
  apiSecret: string;
  /**
   * Folder in which a command keeps its state for the next run, according to the XDG Base Directory Specification. Null if the user has no
   * home folder.
   */
  stateDir: string | null;
  /** Variables that name a proxy for the calls to the service. */
  proxyVariables: ProxyVariables;
}

/**
 * Returns the API key that the command `listen` uses. It is the key from the command line (`given`), or else the key in the environment.
 * Returns null if both are missing.
 */
export function readPartnerApiKey(given: string | undefined, environment: Environment = process.env): string | null {
  return given || environment['ROOMSERVICE_API_KEY'] || environment['KEY'] || null;
}

/**
 * Reads the configuration of a command that calls the service as a partner. The variables `BASE`, `KEY` and `SECRET` may give the URL and
 * the credential too, because the demo prints these variables.
 * @param given options of the command line. The API secret is not an option, because all users of a machine can see its command lines.
 * @throws OperatorError if a value is missing or invalid. The message names the value.
 */
export function readPartnerConfig(
  given: { url?: string; apiKey?: string },
  environment: Environment = process.env,
): PartnerConfig {
  const text = (...names: string[]) => names.map((name) => environment[name]).find(Boolean) ?? null;
  const secret = lookUp(environment, 'ROOMSERVICE_API_SECRET', true);
  const serviceUrl = orOperatorError('--url or ROOMSERVICE_URL ', () =>
    parseBaseUrl(given.url ?? text('ROOMSERVICE_URL', 'BASE') ?? 'http://localhost:8080'),
  );
  const apiKey = parseCredential('ROOMSERVICE_API_KEY', readPartnerApiKey(given.apiKey, environment));
  if (secret.fault !== null) {
    throw new OperatorError(secret.fault);
  }
  return {
    serviceUrl,
    proxyVariables: orOperatorError('', () => proxyVariables(serviceUrl, environment)),
    apiKey,
    apiSecret: parseCredential('ROOMSERVICE_API_SECRET', secret.text ?? text('SECRET')),
    stateDir: findStateDir(environment['XDG_STATE_HOME']),
  };
}

/** Calls a parser. Turns its InvalidValueError into an OperatorError, whose message begins with `prefix`. */
function orOperatorError<T>(prefix: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof InvalidValueError ? new OperatorError(`${prefix}${error.message}`) : error;
  }
}

function parseCredential(name: string, value: string | null): string {
  if (value === null) {
    throw new OperatorError(
      `${name} is missing: set ROOMSERVICE_API_KEY and ROOMSERVICE_API_SECRET to the API key and API secret of your credential`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new OperatorError(`${name} must be exactly as it was issued, without spaces and line breaks`);
  }
  return value;
}

/**
 * Looks up a variable.
 * @param mayBeInFile true if the variable with the suffix `_FILE` may give the path of a file that contains the value
 */
function lookUp(environment: Environment, name: string, mayBeInFile: boolean): Reading {
  const direct = environment[name] || null;
  const file = (mayBeInFile && environment[`${name}_FILE`]) || null;
  if (file === null) {
    return { text: direct, source: direct === null ? 'default' : 'environment', file, fault: null };
  }
  const refuse = (fault: string): Reading => ({ text: null, source: 'file', file, fault });
  if (direct !== null) {
    return refuse(`${name} and ${name}_FILE are both set: set only one of them`);
  }
  try {
    const text = decodeText(readFileSync(file))?.trim() ?? '';
    // Refuses an empty file. Otherwise an empty file for DATABASE_URL would silently select the embedded database. With an empty file for
    // REDIS_URL, each process would silently count the calls for the rate limits in its own memory.
    return text === ''
      ? refuse(`${name}_FILE must be the path of a file of UTF-8 text that is not empty`)
      : { text, source: 'file', file, fault: null };
  } catch (error) {
    return refuse(`${name}_FILE must be the path of a readable file (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Names of the variables that mail needs. PUBLIC_URL may also be set if the service sends no mail. */
const MAIL_NAMES = ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const;

/**
 * Reads the settings of mail. Also checks with `isSet` that PUBLIC_URL is set. So call this function after PUBLIC_URL was read, because
 * `isSet` knows only variables that were read.
 */
function readMail(reader: Reader): MailSettings | null {
  const server = reader.optional('SMTP_URL', parseMailServer);
  const sender = reader.optional('MAIL_FROM', parseMailSender);
  if (reader.isSet('SMTP_URL') || reader.isSet('MAIL_FROM')) {
    for (const name of MAIL_NAMES.filter((each) => !reader.isSet(each))) {
      reader.addFault(
        name,
        'is missing: mail needs all of SMTP_URL, MAIL_FROM and PUBLIC_URL, because the links in mails begin with PUBLIC_URL',
      );
    }
  }
  return server === null || sender === null ? null : { server, sender };
}

/** Names of the variables of the identity provider. They must be set all together or not at all. */
const PROVIDER_NAMES = ['AUTH_ISSUER', 'AUTH_AUDIENCE', 'AUTH_JWKS_URL'] as const;

function readIdentityProvider(reader: Reader): IdentityProvider | null {
  const issuer = reader.optional('AUTH_ISSUER', String);
  const audience = reader.optional('AUTH_AUDIENCE', String);
  const jwksUrl = reader.optional('AUTH_JWKS_URL', parseKeySetUrl);
  const requiresVerifiedEmail = reader.withDefault('AUTH_EMAIL_VERIFIED_REQUIRED', parseBoolean);
  const missing = PROVIDER_NAMES.filter((name) => !reader.isSet(name));
  if (missing.length < PROVIDER_NAMES.length) {
    for (const name of missing) {
      reader.addFault(name, 'is missing: set all of AUTH_ISSUER, AUTH_AUDIENCE and AUTH_JWKS_URL, or set none of them');
    }
  }
  return issuer === null || audience === null || jwksUrl === null
    ? null
    : { issuer, audience, jwksUrl, requiresVerifiedEmail };
}
