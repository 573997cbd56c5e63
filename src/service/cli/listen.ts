import type { PartnerConfig } from '#platform/config.ts';
import { type ListenOptions, listen } from '#developer/listen/listen.ts';
import { notify, print } from './terminal.ts';

/** `roomservice listen`. A client of the service, on any machine: it opens no database. */
export async function listenToEvents(config: PartnerConfig, options: ListenOptions): Promise<void> {
  endWhenAsked();
  await listen(config, options, { print, say: notify });
}

/** At once and without a fault: nothing is under way that would be lost. */
function endWhenAsked(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(0));
  }
  // Whoever read along has seen enough: `roomservice listen | head -1`.
  process.stdout.on('error', () => process.exit(0));
}
