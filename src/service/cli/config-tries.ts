import { countProviderKeys } from '#access/tenants/provider-tokens.ts';
import type { Config, InspectedConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkHost, HOST_REMEDIES } from '#platform/http/listen.ts';
import { checkRedis } from '#platform/http/redis-budgets.ts';
import { inTime } from '#platform/lib/in-time.ts';
import { checkMailServer } from '#platform/mail/mail.ts';
import { choicesOfNode, describeTlsFault, type TlsChoices } from '#platform/lib/tls-faults.ts';
import type { SettingName } from '#platform/settings.ts';
import { tryDatabase, tryEmbedded } from './config-database.ts';
import { type Findings, TRY_LIMIT_MS } from './config-findings.ts';

export interface Try extends Findings {
  what: 'host' | 'database' | 'redis' | 'jwks' | 'smtp';
  /** False if no server was tried, because a variable is missing or invalid. `details` then names the variable. */
  isTried: boolean;
}

/** Tries the address to listen on, the database, Redis, the key set of the identity provider and the mail server at the same time. Changes nothing on them. */
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
  return await Promise.all([
    attempt('host', ['HOST'], true, () => tryHost(config.host)),
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

async function tryHost(host: string): Promise<Findings> {
  await checkHost(host).catch((error: NodeJS.ErrnoException) => {
    const remedy = HOST_REMEDIES[error.code ?? ''] ?? 'Set another HOST';
    throw new OperatorError(`The service cannot listen on ${host} (${reasonOf(error)}): ${remedy}.`);
  });
  return { details: [`This machine can listen on ${host}.`], faults: [] };
}

async function tryRedis(url: string): Promise<Findings> {
  try {
    await checkRedis(url, TRY_LIMIT_MS);
    return { details: ['It responds.'], faults: [] };
  } catch (error) {
    const remedy = 'Check REDIS_URL, and check that Redis runs.';
    throw unusable('Redis cannot be used', { error, remedy, choices: choicesOfNode('REDIS_URL', 'redis') });
  }
}

async function tryKeySet(provider: NonNullable<Config['identityProvider']>): Promise<Findings> {
  const { origin } = provider.jwksUrl;
  const count = await inTime(TRY_LIMIT_MS, () => countProviderKeys(provider)).catch((error: unknown) => {
    const choices = choicesOfNode('AUTH_JWKS_URL', null);
    const what = `The keys of the identity provider cannot be fetched from ${origin}`;
    throw unusable(what, { error, remedy: 'Check AUTH_JWKS_URL.', choices });
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
    // The codes of the mail library say less than its messages.
    const reason = (error as Error).message;
    const choices = choicesOfNode('SMTP_URL', 'smtp');
    throw unusable(`The mail server ${host}:${port} cannot be used`, {
      error,
      reason,
      remedy: 'Check SMTP_URL.',
      choices,
    });
  });
  return { details: [`${host}:${port} ${login === null ? 'responds' : 'accepts the login'}.`], faults: [] };
}

/**
 * Matches the code of a system error, such as ECONNREFUSED. Does not match the codes of libraries, such as ERR_INVALID_URL, because the
 * message of such an error says more than its code.
 */
const SYSTEM_CODE = /^E(?!RR_)[A-Z_]+$/;

interface Failure {
  error: unknown;
  /** Reason of the failure. Default: the code or the message of the innermost error. */
  reason?: string;
  /** Remedy if TLS has not caused the failure. */
  remedy: string;
  choices: TlsChoices;
}

/** Creates the error for a server that cannot be used, with the reason and the remedy. */
function unusable(what: string, { error, reason, remedy, choices }: Failure): OperatorError {
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
