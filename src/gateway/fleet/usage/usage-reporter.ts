import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../config/config-schema.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { replaceFile } from '../../../shared/runtime/files/replace-file.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { usagePath } from '../../access/usage/usage-file.ts';
import type { UsageRow } from '../../access/usage/usage-line.ts';
import { UsageTail } from '../../access/usage/usage-tail.ts';
import type { RedisConnection } from '../transport/redis/redis-connection.ts';
import { keepUsage } from './fleet-usage.ts';

export interface UsageReporterOptions {
  readonly redis: Pick<RedisConnection, 'run' | 'isReady'>;
  readonly prefix: string;
  readonly config: Pick<Config, 'dataDir'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

const REPORT_MS = 1000;
const SUMS_PER_CALL = 500;

/** Reports sums, which only grow: what is reported twice, or again after Redis has lost it, counts once. */
export class UsageReporter {
  readonly #options: UsageReporterOptions;
  readonly #tail: UsageTail;
  readonly #gateway: string;
  readonly #stop: () => void;
  /** Sums that Redis may not have, by name. */
  readonly #pending = new Map<string, UsageRow>();
  #isFailing = false;
  #reporting: Promise<void> | undefined;

  constructor(options: UsageReporterOptions) {
    const { clock } = options;
    const { dataDir } = options.config;
    this.#options = options;
    this.#tail = new UsageTail(usagePath(dataDir));
    this.#gateway = gatewayNameIn(dataDir);
    this.#stop = repeat(clock, REPORT_MS, () => this.report(), 0);
  }

  reportAll(): void {
    this.#tail.forget();
  }

  report(): Promise<void> {
    this.#reporting ??= this.#report()
      .catch(() => {}) // tried again in a second
      .finally(() => {
        this.#reporting = undefined;
      });
    return this.#reporting;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#reporting;
    await this.report();
  }

  async #report(): Promise<void> {
    const { redis, prefix, log } = this.#options;
    if (!redis.isReady) return;
    try {
      for (const row of await this.#tail.read()) this.#pending.set(`${row.day} ${row.key} ${row.route}`, row);
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, "the usage of this gateway can't be read: the fleet doesn't have it");
      this.#isFailing = true;
    }
    const pending = [...this.#pending.values()];
    for (const day of new Set(pending.map((row) => row.day))) {
      const rows = pending.filter((row) => row.day === day);
      for (let i = 0; i < rows.length; i += SUMS_PER_CALL) {
        const part = rows.slice(i, i + SUMS_PER_CALL);
        await keepUsage(redis, prefix, this.#gateway, day, part);
        for (const { key, route } of part) this.#pending.delete(`${day} ${key} ${route}`);
      }
    }
  }
}

/** A folder without usage gets another name: its sums begin at 0, and would count only beyond those of the former. */
function gatewayNameIn(dataDir: string): string {
  const path = join(dataDir, 'fleet-usage-name');
  if (existsSync(path) && existsSync(usagePath(dataDir))) return readFileSync(path, 'utf8').trim();
  const name = randomBytes(8).toString('hex');
  replaceFile(path, `${name}\n`);
  return name;
}
