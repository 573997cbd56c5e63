import { type FastifyRequest, LogController } from 'fastify';
import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

/** JSON lines on standard output, or readable ones on a terminal. Nothing that is logged holds headers or bodies. */
export function createLogger(level: string): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return process.stdout.isTTY ? pino(options, pretty({ sync: true, ignore: 'pid,hostname' })) : pino(options);
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
