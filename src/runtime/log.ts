import { type LoggerOptions, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

/** The log of the process: fields first, as in pino. An error belongs under `err`. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The lowest level that is written. */
export type LogLevel = 'info' | 'warn' | 'error' | 'silent';

/** Creates a log on standard output: readable lines on a terminal, otherwise one JSON object a line. */
export function createLog(level: LogLevel): Log {
  const options: LoggerOptions = { level, base: null, formatters: { level: (label) => ({ level: label }) } };
  // both destinations write synchronously, so that the last lines before an exit are not lost
  return process.stdout.isTTY ? pino(options, PinoPretty({ sync: true })) : pino(options);
}
