import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PartnerConfig } from '#platform/config.ts';
import { newSecret } from '#access/credentials/credentials.ts';
import { ifAbsent } from '#platform/db/failures.ts';
import { OperatorError } from '#platform/errors.ts';
import { writeNewFile } from '#platform/lib/new-file.ts';

/** The first call makes and stores the secret, and later calls return the same secret. */
export async function readOrMakeSecret({ stateDir, serviceUrl, apiKey }: PartnerConfig): Promise<string> {
  if (stateDir === null) {
    throw new OperatorError(
      'The signing secret cannot be stored, because this user has no home folder. Set XDG_STATE_HOME to a folder that you can write to.',
    );
  }
  const folder = join(stateDir, 'listen');
  const name = createHash('sha256').update(`${serviceUrl}\n${apiKey}`).digest('hex').slice(0, 32);
  const path = join(folder, `${name}.secret`);
  try {
    const stored = await readSecret(path).catch(ifAbsent);
    if (stored === undefined) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeNewFile(path, `${newSecret()}\n`);
    }
    return stored ?? (await readSecret(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) {
      throw error;
    }
    throw new OperatorError(
      `The signing secret cannot be stored in ${path} (${code}). Set XDG_STATE_HOME to a folder that you can write to.`,
      { cause: error },
    );
  }
}

async function readSecret(path: string): Promise<string> {
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret === '') {
    throw new OperatorError(`${path} is empty. Remove the file; the next start makes a new signing secret.`);
  }
  return secret;
}
