import type { Config } from '#platform/config.ts';
import { raiseFeedEra } from '#webhooks/events/feed.ts';
import { openRuntime } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

/**
 * Runs `roomservice feed expire-cursors`. Afterwards, all processes refuse every cursor of the event feed that was issued before. A cursor
 * is the position up to which a partner has read. An operator runs the command after a recovery of the database that lost the last events.
 * After such a recovery, a new event may get the position of a lost event. With an old cursor, a partner that has read the lost event would
 * miss the new event.
 */
export async function expireCursors(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const era = await raiseFeedEra(runtime.db);
    if (options.json) {
      printJson({ era });
    } else {
      print(
        'The service now refuses every earlier cursor of the event feed with 400. The error message tells the partner how to continue.',
      );
    }
  } finally {
    await runtime.close();
  }
}
