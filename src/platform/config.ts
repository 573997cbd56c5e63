/** Reads the environment. No other file does. */
import { readFileSync } from 'node:fs';
import { OperatorError } from './errors.ts';
import { proxyVariables } from './lib/proxy-variables.ts';
import { nearName } from './lib/near-names.ts';
import { withPooler } from './lib/postgres-url.ts';
import { InvalidValueError, parseBaseUrl } from './lib/setting-values.ts';
import { findStateDir } from './lib/state-dir.ts';
import { decodeText } from './lib/text-file.ts';
import { keyOf, type Setting, type SettingName, SETTING_NAMES, SETTINGS, type Values } from './settings.ts';

export type Config = ReturnType<typeof configOf>;
export type IdentityProvider = NonNullable<Config['identityProvider']>;
export type MailSettings = NonNullable<Config['mail']>;

function configOf(values: Values) {
  const {
    databasePooler,
    authIssuer: issuer,
    authAudience: audience,
    authJwksUrl: jwksUrl,
    authEmailVerifiedRequired: requiresVerifiedEmail,
    smtpUrl: server,
    mailFrom: sender,
    ...others
  } = values;
  return {
    ...others,
    databaseUrl: others.databaseUrl !== null && databasePooler ? withPooler(others.databaseUrl) : others.databaseUrl,
    trustedProxies: others.trustedProxies ?? [],
    identityProvider:
      issuer === null || audience === null || jwksUrl === null
        ? null
        : { issuer, audience, jwksUrl, requiresVerifiedEmail },
    mail: server === null || sender === null ? null : { server, sender },
  };
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Reading {
  /** Value without any parsing, which may be a secret. Null if the variable is not set or cannot be read. */
  text: string | null;
  source: 'environment' | 'file' | 'default';
  file: string | null;
  /** Message that names the variable and the values that it may have. Null if the value is valid. It never shows a secret. */
  fault: string | null;
}

/** Configuration in which an invalid variable counts as not set, and the reading of each variable. */
export type InspectedConfig = ReturnType<typeof inspectConfig>;

/** Reads the settings. An empty variable counts as not set, and a secret may be in a file. @throws OperatorError that names each fault */
export function readConfig(environment: Environment): Config {
  const { config, readings } = inspectConfig(environment);
  const faults = [...readings.values()].flatMap(({ fault }) => fault ?? []);
  if (faults.length > 0) {
    throw new OperatorError(faults.length === 1 ? faults.join() : ['Settings are wrong:', ...faults].join('\n  '));
  }
  return config;
}

/** Reads the configuration like `readConfig`, but returns the source and the fault of each variable, and does not throw. */
export function inspectConfig(environment: Environment) {
  const readings = new Map<SettingName, Reading>();
  const values: Record<string, unknown> = {};
  for (const setting of SETTINGS) {
    const reading = lookUp(environment, setting.name, setting.isSecret === true);
    const { value = null, fault = reading.fault } = parsed(setting, reading.text);
    readings.set(setting.name, { ...reading, fault });
    values[keyOf(setting.name)] = value ?? parsed(setting, setting.default).value ?? null;
  }
  const isSet = (name: SettingName) => readings.get(name)?.source !== 'default';
  for (const [name, fault] of faultsTogether(values as Values, isSet)) {
    readings.set(name, { ...(readings.get(name) as Reading), fault: `${name} ${fault}` });
  }
  return { config: configOf(values as Values), readings };
}

function parsed(setting: Setting, text: string | null): { value?: unknown; fault?: string } {
  try {
    return text === null ? {} : { value: setting.parse(text) };
  } catch (error) {
    if (error instanceof InvalidValueError) {
      return { fault: `${setting.name} ${error.message}` };
    }
    throw error;
  }
}

const PROVIDER: SettingName[] = ['AUTH_ISSUER', 'AUTH_AUDIENCE', 'AUTH_JWKS_URL'];
const MAIL: SettingName[] = ['SMTP_URL', 'MAIL_FROM'];

function faultsTogether({ port, metricsPort }: Values, isSet: (name: SettingName) => boolean): [SettingName, string][] {
  const missingOf = (names: SettingName[], why: string) =>
    names.filter((name) => !isSet(name)).map((name): [SettingName, string] => [name, `is missing: ${why}`]);
  const faults: [SettingName, string][] = [];
  if (isSet('DATABASE_URL') && !isSet('MASTER_KEY')) {
    const how = 'Set it to 32 random bytes in base64 (openssl rand -base64 32)';
    faults.push(['MASTER_KEY', `is required with DATABASE_URL. ${how}`]);
  }
  if (metricsPort === port && port !== 0) {
    faults.push(['METRICS_PORT', `must differ from PORT, which is ${port}`]);
  }
  if (PROVIDER.some(isSet)) {
    faults.push(...missingOf(PROVIDER, 'set all of AUTH_ISSUER, AUTH_AUDIENCE and AUTH_JWKS_URL, or set none of them'));
  }
  if (MAIL.some(isSet)) {
    const why =
      'mail needs all of SMTP_URL, MAIL_FROM and PUBLIC_URL, because the links in mails begin with PUBLIC_URL';
    faults.push(...missingOf([...MAIL, 'PUBLIC_URL'], why));
  }
  return faults;
}

export function misspelledVariables(environment: Environment): string[] {
  return Object.keys(environment).flatMap((name) => {
    const meant = environment[name] ? nearName(name, SETTING_NAMES) : null;
    return meant === null || environment[meant] ? [] : [`${name} is set, and has no effect. Did you mean ${meant}?`];
  });
}

/** Configuration of the commands that run on a partner's machine: the URL of the service, and a credential for it. */
export type PartnerConfig = ReturnType<typeof readPartnerConfig>;

export function readPartnerApiKey(given: string | undefined, environment: Environment): string | null {
  return given || environment['ROOMSERVICE_API_KEY'] || environment['KEY'] || null;
}

/** Reads a partner's configuration. The API secret is no option, because all users of a machine can see its command lines. */
export function readPartnerConfig(given: { url?: string; apiKey?: string }, environment: Environment) {
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
    // Refuses an empty file. Otherwise an empty file for DATABASE_URL would silently select the embedded database.
    return text === ''
      ? refuse(`${name}_FILE must be the path of a file of UTF-8 text that is not empty`)
      : { text, source: 'file', file, fault: null };
  } catch (error) {
    return refuse(`${name}_FILE must be the path of a readable file (${(error as NodeJS.ErrnoException).code})`);
  }
}
