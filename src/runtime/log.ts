import { destination, type LoggerOptions, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

/** The log of the process: fields first, as in pino. An error belongs under `err`. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The lowest level that is written. */
export type LogLevel = 'info' | 'warn' | 'error' | 'silent';

/** The most bytes that wait for a reader of the log who is slow: lines beyond them are dropped. */
const MAX_WAITING_BYTES = 1 << 20;

/** Creates a log on standard output: readable lines on a terminal, otherwise one JSON object a line. */
export function createLog(level: LogLevel): Log {
  const options: LoggerOptions = { level, base: null, formatters: { level: (label) => ({ level: label }) } };
  // Both destinations write synchronously: the last lines before an exit are not lost, and an exit has nothing to write,
  // which pino would try for ever where nobody reads any more.
  const lines = process.stdout.isTTY
    ? PinoPretty({ sync: true })
    : destination({ sync: true, maxLength: MAX_WAITING_BYTES });
  return pino(options, lines);
}
