import { type FastifyRequest, LogController } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Time in milliseconds for which log lines are gathered, so that they are written together. Another thread writes them. Handing a text to
 * that thread costs several times as much as making one line. Under load, about a hundred lines are handed over together, so the cost of
 * each line is small.
 */
const GATHER_MS = 10;
/** Number of gathered characters at which the lines are written immediately. This limits how much is lost if the process is killed. */
const GATHER_LENGTH = 16 * 1024;

/**
 * Creates a logger that writes to standard output. It writes readable lines if standard output is a terminal, and JSON lines if it is not.
 * No line contains headers or bodies.
 */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, base: null, timestamp: createTimestamp() };
  return pino(options, process.stdout.isTTY ? await readableLines() : gatherLines());
}

/** Returns a log destination that writes readable lines. Its package is loaded only for a terminal. */
async function readableLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ sync: true, ignore: 'pid,hostname' });
}

/**
 * Returns a function that makes the time field of a log line. It formats a time only once in each millisecond, because the formatting is
 * nearly half of the cost of a line.
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

/**
 * Returns a log destination that collects lines in memory. Another thread writes them to standard output. When the process exits, the main
 * thread writes the lines that are still in memory.
 */
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

/**
 * Suppresses Fastify's own log lines about requests. Only the line about a response that failed while it was streamed is kept, because the
 * error handler is not called for such a failure.
 */
export class QuietLogController extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  }

  /**
   * Logs a response that failed after it had begun. If the client has closed the connection, this function logs nothing, because the log
   * line of the request already reports it.
   */
  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      request.log.error({ err: error }, 'response cut off, because an error occurred after the response had begun');
    }
  }
}
