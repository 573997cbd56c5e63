import { type FastifyRequest, LogController } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * How long lines wait for others to be written with. Handing them to the thread that writes costs several times as much as
 * making one; under load a hundred go together, and it is no longer seen.
 */
const GATHER_MS = 10;
/** No more than this is gathered: what is being written when a process is ended at once may be lost. */
const GATHER_LENGTH = 16 * 1024;

/** JSON lines on standard output, or readable ones on a terminal. Nothing that is logged holds headers or bodies. */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, base: null, timestamp: createTimestamp() };
  return pino(options, process.stdout.isTTY ? await readableLines() : gatherLines());
}

/** Loaded for a terminal alone. */
async function readableLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ sync: true, ignore: 'pid,hostname' });
}

/** The time as a part of a line, made once a millisecond: it is nearly half of what a line costs. */
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

/** Standard output, written to by another thread. What still waits when the process ends is written then. */
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

/** Fastify's own lines about requests are left out, but for the one failure that the error handler cannot see. */
export class QuietLogController extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  }

  /** An answer that failed after it had begun. A client that left is no failure: its request's line says so. */
  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      request.log.error({ err: error }, 'answer cut off');
    }
  }
}
