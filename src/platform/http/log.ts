import { type DestinationStream, type Logger, pino } from 'pino';

/** Lines are collected, because to pass one text to the thread that writes takes several times as long as to make a line. */
const GATHER_MS = 10;
/** Small, because the collected lines are lost if the process is killed. */
const GATHER_LENGTH = 16 * 1024;

export const REQUEST = 'request';

/** No line contains headers or bodies. */
export function createLogger(level: string, output: DestinationStream): Logger {
  return pino({ level, base: null, timestamp: createTimestamp() }, output);
}

export async function openLogOutput(): Promise<DestinationStream> {
  return process.stdout.isTTY ? await readableLines() : gatherLines();
}

/** Loads `pino-pretty` only here, because a process that writes JSON lines does not need it. */
async function readableLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  const terminal = pretty({ sync: true, singleLine: true, ignore: 'pid,hostname' });
  return { write: (line) => terminal.write(shortened(line)) };
}

/** One row of a terminal. Otherwise a few requests would push away the secrets that a start prints only once. */
function shortened(line: string): string {
  const { msg, level, time, method, path, status, duration_ms: ms, cut_off } = JSON.parse(line);
  if (msg !== REQUEST) {
    return line;
  }
  // The path may contain any byte above 0x7F, and a terminal could take some of them for a command.
  const shownPath = String(path).replace(/[^!-~]/g, (character) => encodeURIComponent(character));
  const shortMessage = `${method} ${shownPath} ${status}, ${ms} ms${cut_off ? ', cut off' : ''}`;
  return `${JSON.stringify({ level, time, msg: shortMessage })}\n`;
}

/** Formats the time only once a millisecond, because that takes nearly half of the time for a line. */
function createTimestamp(): () => string {
  let atMs = 0;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== atMs) {
      atMs = nowMs;
      text = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return text;
  };
}

/** When the process exits, the main thread writes the lines that are still in memory. */
function gatherLines(): DestinationStream {
  const destination = pino.destination({ sync: false });
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const handOver = () => {
    clearTimeout(timer);
    timer = undefined;
    destination.write(lines);
    lines = '';
  };
  process.on('exit', () => {
    if (lines !== '') {
      pino.destination({ sync: true }).write(lines);
    }
  });
  return {
    write(line) {
      timer ??= setTimeout(handOver, GATHER_MS);
      lines += line;
      if (lines.length >= GATHER_LENGTH) {
        handOver();
      }
    },
  };
}
