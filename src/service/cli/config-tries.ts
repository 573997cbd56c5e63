import { countProviderKeys } from '#access/tenants/provider-tokens.ts';
import type { Config, InspectedConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkHost, HOST_REMEDIES } from '#platform/http/listen.ts';
import { checkRedis } from '#platform/http/redis-budgets.ts';
import { inTime } from '#platform/lib/in-time.ts';
import { choicesOfNode, describeTlsFault, type TlsChoices } from '#platform/lib/tls-faults.ts';
import { checkMailServer } from '#platform/mail/mail.ts';
import type { SettingName } from '#platform/settings.ts';
import { type Findings, TRY_LIMIT_MS, tryDatabase, tryEmbedded } from './config-database.ts';

/** Server that `config check` tries. */
interface Server {
  what: 'host' | 'database' | 'redis' | 'jwks' | 'smtp';
  title: string;
  /** Variables that name the server. It is not tried if one of them is faulty. */
  variables: SettingName[];
  /** Tries the server, and changes nothing there. Returns null if the first of `variables` is not set. */
  attempt: (config: Config) => Promise<Findings | null>;
}

export interface Try extends Findings, Pick<Server, 'what' | 'title'> {
  /** False if no server was tried, because a variable is missing or invalid. `details` then names the variable. */
  isTried: boolean;
}

const SERVERS: Server[] = [
  { what: 'host', title: 'Address', variables: ['HOST'], attempt: tryHost },
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
  {
    what: 'smtp',
    title: 'Mail server',
    variables: ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'],
    attempt: tryMailServer,
  },
];

/** Tries the address to listen on and all servers of the configuration at the same time, each with its own time limit. */
export async function tryServers({ config, readings }: InspectedConfig): Promise<Try[]> {
  const tryServer = async ({ what, title, variables, attempt }: Server): Promise<Try> => {
    const notTried = (reason: string) => ({ what, title, isTried: false, details: [reason], faults: [] });
    const faulty = variables.filter((name) => readings.get(name)?.fault);
    if (faulty.length > 0) {
      return notTried(`${faulty.join(' and ')} must be correct first.`);
    }
    try {
      const findings = await attempt(config);
      return findings === null ? notTried(`${variables[0]} is not set.`) : { what, title, isTried: true, ...findings };
    } catch (error) {
      return { what, title, isTried: true, details: [], faults: [(error as Error).message] };
    }
  };
  return await Promise.all(SERVERS.map(tryServer));
}

async function tryHost({ host }: Config): Promise<Findings> {
  await checkHost(host).catch((error: NodeJS.ErrnoException) => {
    const remedy = HOST_REMEDIES[error.code ?? ''] ?? 'Set another HOST';
    throw new OperatorError(`The service cannot listen on ${host} (${reasonOf(error)}): ${remedy}.`);
  });
  return { details: [`This machine can listen on ${host}.`], faults: [] };
}

async function tryRedis({ redisUrl }: Config): Promise<Findings | null> {
  if (redisUrl === null) {
    return null;
  }
  await checkRedis(redisUrl, TRY_LIMIT_MS).catch((error: unknown) => {
    const remedy = 'Check REDIS_URL, and check that Redis runs.';
    throw unusable('Redis cannot be used', error, remedy, choicesOfNode('REDIS_URL', 'redis'));
  });
  return { details: ['It responds.'], faults: [] };
}

async function tryKeySet({ identityProvider }: Config): Promise<Findings | null> {
  if (identityProvider === null) {
    return null;
  }
  const { origin } = identityProvider.jwksUrl;
  const count = await inTime(TRY_LIMIT_MS, () => countProviderKeys(identityProvider)).catch((error: unknown) => {
    const what = `The keys of the identity provider cannot be fetched from ${origin}`;
    throw unusable(what, error, 'Check AUTH_JWKS_URL.', choicesOfNode('AUTH_JWKS_URL', null));
  });
  return count === 0
    ? {
        details: [],
        faults: [`The response from ${origin} contains no key that can verify a token. Check AUTH_JWKS_URL.`],
      }
    : { details: [`${origin} has ${count} ${count === 1 ? 'key' : 'keys'} that can verify a token.`], faults: [] };
}

async function tryMailServer({ mail }: Config): Promise<Findings | null> {
  if (mail === null) {
    return null;
  }
  const { host, port, login } = mail.server;
  await checkMailServer(mail, TRY_LIMIT_MS).catch((error: Error) => {
    const what = `The mail server ${host}:${port} cannot be used`;
    // The codes of the mail library say less than its messages.
    throw unusable(what, error, 'Check SMTP_URL.', choicesOfNode('SMTP_URL', 'smtp'), error.message);
  });
  return { details: [`${host}:${port} ${login === null ? 'responds' : 'accepts the login'}.`], faults: [] };
}

/**
 * Matches the code of a system error, such as ECONNREFUSED. Does not match the codes of libraries, such as ERR_INVALID_URL, because the
 * message of such an error says more than its code.
 */
const SYSTEM_CODE = /^E(?!RR_)[A-Z_]+$/;

/**
 * Creates the error for a server that cannot be used, with the reason and the remedy.
 * @param remedy used if TLS has not caused the failure
 * @param reason default: the code or the message of the innermost error
 */
function unusable(what: string, error: unknown, remedy: string, choices: TlsChoices, reason?: string): OperatorError {
  const inner = innermost(error);
  const tls = describeTlsFault(inner, choices);
  return new OperatorError(
    tls === null
      ? `${what} (${reason ?? reasonOf(inner)}). ${remedy}`
      : `${what}, because ${tls.problem}. ${tls.remedy}`,
  );
}

/** Returns the innermost error of a failed connection. */
function innermost(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return innermost(error.errors[0]);
  }
  return error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error;
}

/** Returns the reason of a failed connection. For a system error and for an error without a message, the reason is the code. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code !== undefined && (message === '' || SYSTEM_CODE.test(code)) ? code : message;
}
