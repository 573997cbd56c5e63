import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#platform/config.ts';
import { createScratchDatabase } from '#platform/copy/scratch-database.ts';
import { databaseName } from '#platform/db/database-name.ts';
import type { NamedDatabase } from '#platform/db/fault-messages.ts';
import { OperatorError } from '#platform/errors.ts';
import { databaseOf } from './faults.ts';
import { whenInterrupted } from './interruption.ts';
import { type DatabaseServer, openServer } from './runtime.ts';
import { notify, showProgress } from './terminal.ts';

/** Empty database, with its name in messages. */
export interface ScratchDatabase extends DatabaseServer {
  named: NamedDatabase;
}

/**
 * Makes an empty database that exists until `close` is called, or until SIGINT or SIGTERM ends the command. With DATABASE_URL, it is a new
 * database on the same server. Otherwise it is an embedded database in a temporary folder.
 * @throws OperatorError if the role may not create databases, and an error of pg if the server is out of reach
 */
export async function openScratchDatabase(config: Config): Promise<ScratchDatabase> {
  const scratch =
    config.databaseUrl === null ? await openEmbedded(config) : await createOnServer(config, config.databaseUrl);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= scratch.close());
  whenInterrupted(close);
  return { ...scratch, close };
}

async function openEmbedded(config: Config): Promise<ScratchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-verify-'));
  await chmod(folder, 0o711); // PostgreSQL may run as another user of the system, who must be able to enter the folder.
  const remove = () => rm(folder, { recursive: true, force: true });
  const options = { role: 'serve', mayCreate: true, closesOnSignal: false, progress: showProgress } as const;
  try {
    const server = await openServer({ ...config, dataDir: join(folder, 'data') }, options);
    const close = async () => {
      await server.close().catch(() => {});
      await remove();
    };
    notify(`Database: a temporary one in ${folder}`);
    return { url: server.url, close, named: { subject: `The temporary database in ${folder}`, setting: 'TMPDIR' } };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Creates the scratch database on the server of DATABASE_URL.
 * @throws OperatorError if the role may not create databases, and an error of pg if the server is out of reach
 */
async function createOnServer(config: Config, databaseUrl: string): Promise<ScratchDatabase> {
  try {
    const scratch = await createScratchDatabase(databaseUrl);
    notify(`Database: a temporary one, ${databaseName(scratch.url)} (DATABASE_URL)`);
    return { ...scratch, named: databaseOf(config) };
  } catch (error) {
    throw isForbidden(error)
      ? new OperatorError(
          'The role in DATABASE_URL has no permission to create a temporary database. Use a role with the privilege CREATEDB. ' +
            'Without DATABASE_URL, the command uses a temporary embedded database.',
        )
      : error;
  }
}

/** Returns true if PostgreSQL refused a statement because the role lacks a privilege. */
function isForbidden(error: unknown): boolean {
  return (error as { code?: unknown }).code === '42501';
}
