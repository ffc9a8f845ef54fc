import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../config/config-schema.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { DurableWrites } from '../../../shared/runtime/durable-writes.ts';
import { readRegularFile } from '../../../shared/runtime/files/read-regular-file.ts';
import { replaceFile } from '../../../shared/runtime/files/replace-file.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { usagePath } from '../../access/usage/usage-file.ts';
import { UsageTail } from '../../access/usage/usage-tail.ts';
import { type RedisConnection, refusalIn } from '../transport/redis/redis-connection.ts';
import { keepUsage } from './fleet-usage.ts';

export interface UsageReporterOptions {
  readonly redis: Pick<RedisConnection, 'run' | 'isReady'>;
  readonly prefix: string;
  readonly config: Pick<Config, 'dataDir'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly writes: Pick<DurableWrites, 'keep'>;
}

const REPORT_MS = 1000;
const SUMS_PER_CALL = 500;
/** More than a name needs. */
const MAX_NAME_BYTES = 1024;

/** Reports sums, which only grow: what is reported twice, or again after Redis has lost it, counts once. */
export class UsageReporter {
  readonly #options: UsageReporterOptions;
  readonly #tail: UsageTail;
  /** The name of this gateway; undefined as long as the state folder has no room for it. */
  #gateway: string | undefined;
  readonly #stop: () => void;
  #isFailing = false;
  #reporting = Promise.resolve();
  /** Why Redis does not keep the usage of this gateway; undefined if it does, or does not answer. */
  problem: string | undefined;

  constructor(options: UsageReporterOptions) {
    const { clock, writes, config } = options;
    const { dataDir } = config;
    this.#options = options;
    this.#tail = new UsageTail(usagePath(dataDir));
    writes.keep('the name under which the fleet counts the usage of this gateway', () => {
      this.#gateway = gatewayNameIn(dataDir);
    });
    this.#stop = repeat(clock, REPORT_MS, () => this.report(), 0);
  }

  reportAll(): void {
    this.#tail.forget();
  }

  /** Reports what the sums have grown by, after the report that is under way. */
  report(): Promise<void> {
    const onFailed = (thrown: unknown): void => {
      this.problem = refusalIn(thrown); // it is tried again in a second
    };
    this.#reporting = this.#reporting.then(() => this.#report()).catch(onFailed);
    return this.#reporting;
  }

  close(): Promise<void> {
    this.#stop();
    return this.report();
  }

  async #report(): Promise<void> {
    const { redis, prefix, log } = this.#options;
    const gateway = this.#gateway;
    if (!redis.isReady || gateway === undefined) return;
    try {
      await this.#tail.read();
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, "the usage of this gateway can't be read: the fleet doesn't have it");
      this.#isFailing = true;
    }
    await this.#tail.send(SUMS_PER_CALL, (day, rows) => keepUsage(redis, prefix, gateway, day, rows));
    this.problem = undefined;
  }
}

/** A folder without usage gets another name: its sums begin at 0, and would count only beyond those of the former. */
function gatewayNameIn(dataDir: string): string {
  const path = join(dataDir, 'fleet-usage-name');
  if (existsSync(path) && existsSync(usagePath(dataDir))) return readRegularFile(path, MAX_NAME_BYTES).trim();
  const name = randomBytes(8).toString('hex');
  replaceFile(path, `${name}\n`);
  return name;
}
