import { type LoggerOptions, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

/** Where the process says what happens to it: facts first, as pino has it. An error goes under `err`. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Writes to standard output: for eyes on a terminal, otherwise one JSON object a line. */
export function createLog(level: string): Log {
  const options: LoggerOptions = { level, base: null, formatters: { level: (label) => ({ level: label }) } };
  // both destinations write at once, so that the last words of a process that exits are not lost
  return process.stdout.isTTY ? pino(options, PinoPretty({ sync: true })) : pino(options);
}
