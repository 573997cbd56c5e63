import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { lowerPoolPriority } from '#platform/lib/pool-priority.ts';
import { type Host, Terminal } from './terminal.ts';

export function openTerminal(): Terminal {
  // A command ends its work although nobody reads its output any more, for example in `roomservice --help | head -3`.
  process.stdout.on('error', () => {});
  return new Terminal({
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    openLog: async () => (await import('#platform/http/log.ts')).openLogOutput(),
    isInteractive: process.stdin.isTTY,
    showsProgress: process.stderr.isTTY,
    columns: process.stdout.columns,
    onSignal,
    settle,
    exit: (code) => process.exit(code),
  });
}

const onSignal: Host['onSignal'] = (signals, listener) => {
  for (const signal of signals) {
    // Node ignores SIGPIPE, and reports a failed write.
    if (signal === 'SIGPIPE') {
      process.stdout.on('error', () => listener(signal));
    } else {
      process.on(signal, listener);
    }
  }
};

/** The reasons for each flag are in docs/decisions/0021-runtime.md. */
function settle(): void {
  for (const flag of ['--heap-growing-percent=50', '--no-allocation-site-pretenuring', '--expose-gc']) {
    setFlagsFromString(flag);
  }
  // After the flag is set, only new contexts have the function `gc`.
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
  lowerPoolPriority();
}
