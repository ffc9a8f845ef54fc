import type { Clock } from '../domain/clock.ts';
import type { Log } from './log.ts';

/** A warning or an error of the log, without its fields but the node that it is about. */
export interface Warning {
  /** UTC time in ISO 8601. */
  readonly time: string;
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly node: string | undefined;
}

const MAX_WARNINGS = 20;

/** Keeps the last warnings and errors that went to a log. */
export class RecentWarnings {
  readonly log: Log;
  #warnings: readonly Warning[] = [];

  constructor(log: Log, clock: Clock) {
    const kept =
      (level: Warning['level']) =>
      (fields: object, message: string): void => {
        const node = 'node' in fields && typeof fields.node === 'string' ? fields.node : undefined;
        const warning = { time: new Date(clock.now()).toISOString(), level, message, node };
        this.#warnings = [...this.#warnings.slice(1 - MAX_WARNINGS), warning];
        log[level](fields, message);
      };
    this.log = { info: (fields, message) => log.info(fields, message), warn: kept('warn'), error: kept('error') };
  }

  get all(): readonly Warning[] {
    return this.#warnings;
  }
}
