import { countProviderKeys } from '#access/tenants/tokens.ts';
import type { Config, InspectedConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkRedis } from '#platform/http/redis-check.ts';
import { loadRedisLibrary } from '#platform/http/redis-servers.ts';
import { inTime } from '#platform/lib/in-time.ts';
import { checkMailServer } from '#platform/mail/mail.ts';
import type { SettingName } from '#platform/settings.ts';
import { tryDatabase, tryEmbedded } from './config-database.ts';
import { type Findings, TRY_LIMIT_MS } from './config-findings.ts';

export interface Try extends Findings {
  what: 'database' | 'redis' | 'jwks' | 'smtp';
  /** False if no server was tried, because a variable is missing or invalid. `details` then names the variable. */
  isTried: boolean;
}

/** Tries the database, Redis, the key set of the identity provider and the mail server at the same time. Changes nothing on them. */
export async function tryServers({ config, readings }: InspectedConfig): Promise<Try[]> {
  /**
   * Tries one server. Does not try it if one of `variables` is faulty.
   * @param isWanted false if the configuration has no server to try, because the first of `variables` is not set. The result then names
   *   this variable.
   */
  const attempt = async (
    what: Try['what'],
    variables: SettingName[],
    isWanted: boolean,
    work: () => Promise<Findings>,
  ): Promise<Try> => {
    const faulty = variables.filter((name) => readings.get(name)?.fault);
    if (faulty.length > 0 || !isWanted) {
      const details = [
        faulty.length > 0 ? `${faulty.join(' and ')} must be correct first.` : `${variables[0]} is not set.`,
      ];
      return { what, isTried: false, details, faults: [] };
    }
    try {
      return { what, isTried: true, ...(await work()) };
    } catch (error) {
      return { what, isTried: true, details: [], faults: [(error as Error).message] };
    }
  };
  const { databaseUrl, redisUrl, identityProvider, mail } = config;
  if (redisUrl !== null) {
    // On a busy machine, loading the library can block this process for seconds. So the time limits of the tries begin after that.
    await loadRedisLibrary();
  }
  return await Promise.all([
    attempt('database', ['DATABASE_URL'], true, () =>
      databaseUrl === null ? tryEmbedded(config) : tryDatabase(config, databaseUrl),
    ),
    attempt('redis', ['REDIS_URL'], redisUrl !== null, () => tryRedis(redisUrl as string)),
    attempt('jwks', ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'], identityProvider !== null, () =>
      tryKeySet(identityProvider as NonNullable<Config['identityProvider']>),
    ),
    attempt('smtp', ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'], mail !== null, () =>
      tryMailServer(mail as NonNullable<Config['mail']>),
    ),
  ]);
}

async function tryRedis(url: string): Promise<Findings> {
  try {
    const count = await checkRedis(url, TRY_LIMIT_MS);
    return {
      details: [`${count} ${count === 1 ? 'server responds' : 'primaries of the cluster respond'}.`],
      faults: [],
    };
  } catch (error) {
    throw new OperatorError(`Redis cannot be used (${reasonOf(error)}). Check REDIS_URL, and check that Redis runs.`);
  }
}

async function tryKeySet(provider: NonNullable<Config['identityProvider']>): Promise<Findings> {
  const { origin } = provider.jwksUrl;
  const count = await inTime(TRY_LIMIT_MS, () => countProviderKeys(provider)).catch((error: unknown) => {
    throw new OperatorError(
      `The keys of the identity provider cannot be fetched from ${origin} (${reasonOf(error)}). Check AUTH_JWKS_URL.`,
    );
  });
  if (count === 0) {
    throw new OperatorError(
      `The response from ${origin} contains no key that can verify a token. Check AUTH_JWKS_URL.`,
    );
  }
  return { details: [`${origin} has ${count} ${count === 1 ? 'key' : 'keys'} that can verify a token.`], faults: [] };
}

async function tryMailServer(mail: NonNullable<Config['mail']>): Promise<Findings> {
  const { host, port, login } = mail.server;
  await checkMailServer(mail, TRY_LIMIT_MS).catch((error: unknown) => {
    const reason = (error as Error).message;
    throw new OperatorError(`The mail server ${host}:${port} cannot be used (${reason}). Check SMTP_URL.`);
  });
  return { details: [`${host}:${port} ${login === null ? 'responds' : 'accepts the login'}.`], faults: [] };
}

/**
 * Matches the code of a system error, such as ECONNREFUSED. Does not match the codes of libraries, such as ERR_INVALID_URL, because the
 * message of such an error says more than its code.
 */
const SYSTEM_CODE = /^E(?!RR_)[A-Z_]+$/;

/**
 * Returns the reason of a failed connection, from the innermost error. If this error is a system error or has no message, the reason is its
 * code. Otherwise the reason is its message.
 */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return reasonOf(error.errors[0]);
  }
  if (error instanceof Error && error.cause instanceof Error) {
    return reasonOf(error.cause);
  }
  const { code, message } = error as NodeJS.ErrnoException;
  return code !== undefined && (message === '' || SYSTEM_CODE.test(code)) ? code : message;
}
