import type { Config } from '#platform/config.ts';
import { openRuntime } from './runtime.ts';
import { print, showProgress } from './terminal.ts';

/** Runs `roomservice migrate`. `openRuntime` opens the database and applies all missing migrations. */
export async function migrate(config: Config): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', mayCreate: true, progress: showProgress });
  await runtime.close();
  print(runtime.migrated.length === 0 ? 'The database is up to date.' : `Applied: ${runtime.migrated.join(', ')}`);
}
