import { type FastifyRequest, LogController } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Time for which lines are gathered before they are written together. To hand lines to the writing thread costs several times as much
 * as to make one. Under load, about a hundred lines are handed over together, so the cost of each is small.
 */
const GATHER_MS = 10;
/** Length of gathered lines at which they are written immediately. It bounds what is lost if the process is killed during a write. */
const GATHER_LENGTH = 16 * 1024;

/** Creates a logger that writes to standard output: JSON lines, or readable lines on a terminal. No line contains headers or bodies. */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, base: null, timestamp: createTimestamp() };
  return pino(options, process.stdout.isTTY ? await readableLines() : gatherLines());
}

/** Returns a destination with readable lines. Its package is loaded only for a terminal. */
async function readableLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ sync: true, ignore: 'pid,hostname' });
}

/**
 * Returns a function that makes the time field of a line. It formats the time once a millisecond, because the formatting is nearly
 * half the cost of a line.
 */
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

/** Returns a destination that another thread writes to standard output. Lines that still wait are written when the process exits. */
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

/** Suppresses Fastify's log lines about requests, except the line about a failed stream, which the error handler cannot see. */
export class QuietLogController extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  }

  /**
   * Logs a response that failed after it had begun. It is not a failure if the client closed the connection. The log line of the request
   * reports that.
   */
  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      request.log.error({ err: error }, 'response cut off');
    }
  }
}
