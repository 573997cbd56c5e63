import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PartnerConfig } from '#platform/config.ts';
import { newSecret } from '#access/credentials/credentials.ts';
import { OperatorError } from '#platform/errors.ts';

/**
 * The secret that events of this credential are signed with on this machine: made at the first call, the same at every later
 * one. It is of the form of a `webhook_secret`, and is none: the service does not know it.
 * @throws OperatorError where it cannot be kept
 */
export async function readOrMakeSecret({ stateDir, serviceUrl, apiKey }: PartnerConfig): Promise<string> {
  const folder = join(stateDir, 'listen');
  const name = createHash('sha256').update(`${serviceUrl}\n${apiKey}`).digest('hex').slice(0, 32);
  const path = join(folder, `${name}.secret`);
  try {
    return await readSecret(path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') {
        throw error;
      }
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await makeSecret(path);
      return await readSecret(path);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) {
      throw error;
    }
    throw new OperatorError(
      `The signing secret cannot be kept in ${path} (${code}). Set XDG_STATE_HOME to a folder of yours.`,
      { cause: error },
    );
  }
}

async function readSecret(path: string): Promise<string> {
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret === '') {
    throw new OperatorError(`${path} holds no signing secret. Remove it, and a new one is made.`);
  }
  return secret;
}

/** Whole or not at all, and never over one that another call has just made: that one stays. */
async function makeSecret(path: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${newSecret()}\n`, { mode: 0o600, flag: 'wx' });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  } finally {
    await rm(draft);
  }
}
