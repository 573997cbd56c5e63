import { resolve } from 'node:path';
import { countProviderKeys } from '#access/tenants/provider-tokens.ts';
import {
  type Config,
  type Environment,
  type InspectedConfig,
  inspectConfig,
  misspelledVariables,
  type Reading,
} from '#platform/config.ts';
import { type Database, openDatabase } from '#platform/db/database.ts';
import { inspectEmbedded } from '#platform/db/embedded/embedded.ts';
import { explainFault } from '#platform/db/fault-messages.ts';
import { compareMigrations } from '#platform/db/migrate.ts';
import { refuseUnfit } from '#platform/db/requirements.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkRedis } from '#platform/http/redis-budgets.ts';
import { checkMasterKey, findMasterKey, masterKeyPath, readWrappedPepper } from '#platform/keys/keys.ts';
import { inTime } from '#platform/lib/in-time.ts';
import { choicesOfNode, describeTlsFault } from '#platform/lib/tls-faults.ts';
import { checkMailServer } from '#platform/mail/mail.ts';
import { type Setting, type SettingName, SETTINGS } from '#platform/settings.ts';
import { databaseOf, describeNewer } from './runtime.ts';
import { type OutputOptions, printable, type Terminal } from './terminal.ts';

const TRY_LIMIT_MS = 5_000;

/** Runs `roomservice config check`. It creates and changes nothing, and shows no secret. */
export async function checkConfig(environment: Environment, terminal: Terminal, options: OutputOptions) {
  const inspected = inspectConfig(environment);
  const variables = SETTINGS.map((setting) => describe(setting, inspected.readings.get(setting.name) as Reading));
  const warnings = misspelledVariables(environment).map(printable);
  const tries = await tryServers(inspected);
  const faults = [
    ...variables.flatMap(({ fault }) => fault ?? []),
    ...tries.flatMap((each) => each.faults.map((fault) => `${each.what}: ${fault}`)),
  ];
  const isOk = faults.length === 0;
  if (options.json) {
    const asJson = tries.map(({ title: _, ...each }) => each);
    terminal.printResult(options, { ok: isOk, variables, warnings, tries: asJson }, '');
    return isOk;
  }
  terminal.print([...variables.flatMap(linesOf), '', ...warnings, ...tries.map(lineOfTry)].join('\n'));
  if (isOk) {
    terminal.print('\nNo fault was found.');
  } else {
    terminal.notify(`roomservice: The configuration has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`);
    faults.forEach((fault) => terminal.notify(`  ${printable(fault)}`));
  }
  return isOk;
}

function describe({ name, default: value, isSecret, meaning }: Setting, { text, source, file, fault }: Reading) {
  const effective = source === 'default' ? value : text;
  return {
    name,
    // The value, without the parts of a URL that may be secret: user name, password and query.
    value:
      isSecret || fault !== null
        ? null
        : (effective?.replace(/:\/\/.*@/, '://…@').replace(/(:\/\/.*?)\?.*/s, '$1?…') ?? null),
    is_secret: isSecret === true,
    source: source === 'default' && value === null ? 'not set' : source,
    file,
    meaning,
    fault,
  };
}

function linesOf({ name, value, is_secret, source, file, meaning, fault }: ReturnType<typeof describe>): string[] {
  const shown = value ?? (is_secret && source !== 'not set' ? '(secret)' : '');
  const assignment = shown === '' ? name : `${name} = ${printable(shown)}`;
  return [
    `${assignment} (${file === null ? source : `file ${printable(file)}`})`,
    `  ${meaning.replaceAll('`', '')}`,
    ...(fault === null ? [] : [`  Fault: ${printable(fault)}`]),
  ];
}

function lineOfTry({ title, tried, details, faults }: Try): string {
  const outcome = tried ? (faults.length === 0 ? 'usable' : 'fault') : 'not tried';
  return [`${title}: ${outcome}.`, ...details, ...faults].map((part) => printable(part)).join(' ');
}

interface Server {
  what: 'database' | 'redis' | 'jwks' | 'smtp';
  title: string;
  /** Variables that name the server. It is not tried if one of them is faulty. */
  variables: SettingName[];
  /**
   * Tries the server, and changes nothing there. Returns sentences about it, or null if the first of `variables` is not set.
   * @throws Error if the service cannot use the server
   */
  attempt: (config: Config) => Promise<string[] | null>;
}

export interface Try extends Pick<Server, 'what' | 'title'> {
  /** False if no server was tried, because a variable is missing or invalid. `details` then names the variable. */
  tried: boolean;
  details: string[];
  faults: string[];
}

const SERVERS: Server[] = [
  {
    what: 'database',
    title: 'Database',
    variables: ['DATABASE_URL'],
    attempt: (config) => (config.databaseUrl === null ? tryEmbedded(config) : tryDatabase(config, config.databaseUrl)),
  },
  { what: 'redis', title: 'Redis', variables: ['REDIS_URL'], attempt: tryRedis },
  {
    what: 'jwks',
    title: 'Keys of the identity provider (JWKS)',
    variables: ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'],
    attempt: tryKeySet,
  },
  { what: 'smtp', title: 'Mail server', variables: ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'], attempt: tryMailServer },
];

export async function tryServers({ config, readings }: InspectedConfig): Promise<Try[]> {
  const tryServer = async ({ what, title, variables, attempt }: Server): Promise<Try> => {
    const result = (outcome: Partial<Try>) => ({ what, title, tried: true, details: [], faults: [], ...outcome });
    const faulty = variables.filter((name) => readings.get(name)?.fault);
    if (faulty.length > 0) {
      return result({ tried: false, details: [`${faulty.join(' and ')} must be correct first.`] });
    }
    try {
      const details = await attempt(config);
      return result(details === null ? { tried: false, details: [`${variables[0]} is not set.`] } : { details });
    } catch (error) {
      return result({ faults: [(error as Error).message] });
    }
  };
  return await Promise.all(SERVERS.map(tryServer));
}

async function tryRedis({ redisUrl }: Config): Promise<string[] | null> {
  if (redisUrl === null) {
    return null;
  }
  await orUnusable('Redis cannot be used', 'REDIS_URL', 'redis', checkRedis(redisUrl, TRY_LIMIT_MS));
  return ['It responds.'];
}

async function tryKeySet({ identityProvider }: Config): Promise<string[] | null> {
  if (identityProvider === null) {
    return null;
  }
  const { origin } = identityProvider.jwksUrl;
  const counting = inTime(TRY_LIMIT_MS, () => countProviderKeys(identityProvider));
  const what = `The keys of the identity provider cannot be fetched from ${origin}`;
  const count = await orUnusable(what, 'AUTH_JWKS_URL', null, counting);
  if (count === 0) {
    throw new OperatorError(
      `The response from ${origin} contains no key that can verify a token. Check AUTH_JWKS_URL.`,
    );
  }
  return [`${origin} has ${count} ${count === 1 ? 'key' : 'keys'} that can verify a token.`];
}

async function tryMailServer({ mail }: Config): Promise<string[] | null> {
  if (mail === null) {
    return null;
  }
  const { host, port, login } = mail.server;
  const what = `The mail server ${host}:${port} cannot be used`;
  await orUnusable(what, 'SMTP_URL', 'smtp', checkMailServer(mail, TRY_LIMIT_MS));
  return [`${host}:${port} ${login === null ? 'responds' : 'accepts the login'}.`];
}

async function orUnusable<T>(what: string, setting: SettingName, plain: string | null, work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    const inner = innermost(error) as NodeJS.ErrnoException;
    const tls = describeTlsFault(inner, choicesOfNode(setting, plain));
    throw new OperatorError(
      tls === null
        ? `${what} (${inner.message || inner.code}). Check ${setting}, and check that the server runs.`
        : `${what}, because ${tls.problem}. ${tls.remedy}`,
    );
  });
}

function innermost(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return innermost(error.errors[0]);
  }
  return error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error;
}

async function tryDatabase(config: Config, url: string): Promise<string[]> {
  const db = openDatabase({ url, poolSize: 1, hasNoTimeLimit: false });
  return await inTime(TRY_LIMIT_MS, () => describeDatabase(config, db))
    .catch((error: unknown) => {
      throw explainFault(error, databaseOf(config));
    })
    .finally(() => void db.destroy().catch(() => {}));
}

async function describeDatabase(config: Config, db: Database): Promise<string[]> {
  const { version } = await refuseUnfit(db);
  const { missing, newer } = await compareMigrations(db);
  const details = [
    `It is PostgreSQL ${version}.`,
    missing.length === 0
      ? 'It has all migrations.'
      : `It lacks migrations (${missing.join(', ')}). "roomservice migrate" and "serve" apply them.`,
    ...(newer.length === 0 ? [] : [describeNewer(newer)]),
  ];
  if (config.masterKey === null && config.databaseUrl !== null) {
    return details; // MASTER_KEY is missing or faulty. The list of variables reports this already.
  }
  await checkMasterKey(db, config);
  const hasKeys = (await readWrappedPepper(db)) !== null;
  return [...details, hasKeys ? 'The master key unwraps its keys.' : 'It has no keys yet. The first start makes them.'];
}

/** Finds out what DATA_DIR contains, and reads the embedded database only if it runs. */
async function tryEmbedded(config: Config): Promise<string[]> {
  const folder = resolve(config.dataDir);
  const state = await inTime(TRY_LIMIT_MS, () => inspectEmbedded(config.dataDir));
  if (state === null) {
    return [`${folder} contains no database yet. The first start creates it.`];
  }
  const found = `${folder} contains a database of PostgreSQL ${state.major}.`;
  if (state.url !== null) {
    return [found, 'It runs.', ...(await tryDatabase(config, state.url))];
  }
  if ((await findMasterKey(config)) === null) {
    throw new OperatorError(
      `${masterKeyPath(config.dataDir)} is missing, and MASTER_KEY is not set. Restore the file from your copy.`,
    );
  }
  return [found, 'It does not run now, so its migrations and its keys were not checked.'];
}
