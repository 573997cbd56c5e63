import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

/** JSON lines on standard output, or readable ones on a terminal. Nothing that is logged holds headers or bodies. */
export function createLogger(level: string): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return process.stdout.isTTY ? pino(options, pretty({ sync: true, ignore: 'pid,hostname' })) : pino(options);
}
