import type { PartnerConfig } from '#platform/config.ts';
import { type ListenOptions, listen } from '#developer/listen/listen.ts';
import { notify, print } from './terminal.ts';

/** Runs `roomservice listen`. The command is a client of the service. It needs no database, so a partner can run it on any machine. */
export async function listenToEvents(config: PartnerConfig, options: ListenOptions): Promise<void> {
  exitOnSignal();
  await listen(config, options, { print, say: notify });
}

/** Makes the command exit immediately with 0 on a signal, because it holds no data that could be lost. */
function exitOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(0));
  }
  // A write fails if the program that reads the output has ended, for example in `roomservice listen | head -1`. Then the command ends
  // too.
  process.stdout.on('error', () => process.exit(0));
}
