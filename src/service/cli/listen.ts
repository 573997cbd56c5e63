import type { PartnerConfig } from '#platform/config.ts';
import { type ListenOptions, listen } from '#developer/listen/listen.ts';
import { notify, print } from './terminal.ts';

/** Runs `roomservice listen`. The command is a client of the service: it runs on any machine and opens no database. */
export async function listenToEvents(config: PartnerConfig, options: ListenOptions): Promise<void> {
  exitOnSignal();
  await listen(config, options, { print, say: notify });
}

/** Exits immediately with 0 on a signal, because no data can be lost. */
function exitOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(0));
  }
  // The reader of the output has ended, for example in `roomservice listen | head -1`.
  process.stdout.on('error', () => process.exit(0));
}
