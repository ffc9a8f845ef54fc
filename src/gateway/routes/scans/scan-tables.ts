import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../../shared/runtime/expires-after.ts';
import { SharedReads } from '../../serving/shared-reads.ts';
import type { ScanGate } from './scan-gate.ts';

/** Life of a refusal: a mint doesn't lose most of its holders in minutes, nor does a node gain an index. */
export const REFUSAL_SEC = 300;

/** Maximum refusals that are remembered: a few MB. */
const MAX_REFUSALS = 10_000;

export interface ScanTablesKind<T> {
  /** The most that all tables may have together of what `sizeOf` returns. */
  readonly maxSize: number;
  readonly sizeOf: (table: T) => number;
  /** Life of a table in milliseconds; 0: it is kept as long as there is room. */
  readonly ttlMs: number;
  /** Whether a failed scan would fail again: to find that out is as dear as a scan, so it is remembered. */
  readonly isRefused: (error: GatewayError) => boolean;
}

interface ScanTablesOptions<T> extends ScanTablesKind<T> {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly gate: Pick<ScanGate, 'run'>;
}

/** The tables that scans make, by what was scanned for. Concurrent reads of one share a scan. */
export class ScanTables<T extends { readonly slot: Slot }> {
  readonly #options: ScanTablesOptions<T>;
  readonly #tables: SharedReads<T>;
  /** The newest slot of the tables that are no longer kept. */
  #newestGone: Slot = 0;
  #refusals: LRUCache<string, GatewayError>;

  constructor(options: ScanTablesOptions<T>) {
    const { maxSize, sizeOf: sizeCalculation, ttlMs, clock } = options;
    const dispose = ({ slot }: T): void => {
      this.#newestGone = Math.max(this.#newestGone, slot);
    };
    this.#options = options;
    this.#tables = new SharedReads(
      () => new LRUCache({ maxSize, sizeCalculation, dispose, ...expiresAfter(ttlMs, clock) }),
    );
    this.#refusals = this.#createRefusals();
  }

  /** Forgets all tables, those too that are being read. No later scan is older. */
  clear(): void {
    this.#tables.clear();
    this.#refusals = this.#createRefusals();
  }

  get(key: string, minSlot?: Slot): T | undefined {
    return this.#tables.get(key, minSlot);
  }

  /**
   * Returns the cached table if it is at `minSlot` or later, else caches the one that `scan` returns, which counts for the
   * request of `cost`; rejects with a remembered refusal. `scan` is called with the slot of the newest table that there was:
   * one that reads at it or later makes no table that is older than one before.
   */
  async getOrScan(
    key: string,
    minSlot: Slot,
    scan: (newestSlot: Slot | undefined) => Promise<T>,
    cost?: RequestCost,
  ): Promise<T> {
    const cached = this.get(key, minSlot);
    if (cached !== undefined) return cached;
    const refusal = this.#refusals.get(key);
    if (refusal !== undefined) throw refusal;
    return this.#tables.getOrRead(key, { minSlot }, () =>
      this.#options.gate.run(cost?.caller, async () => this.get(key, minSlot) ?? this.#scan(key, scan)),
    );
  }

  async #scan(key: string, scan: (newestSlot: Slot | undefined) => Promise<T>): Promise<T> {
    const refusals = this.#refusals;
    try {
      return await scan(Math.max(this.get(key)?.slot ?? 0, this.#newestGone) || undefined);
    } catch (thrown) {
      if (thrown instanceof GatewayError && this.#options.isRefused(thrown)) refusals.set(key, thrown);
      throw thrown; // the caller may retry
    }
  }

  #createRefusals(): LRUCache<string, GatewayError> {
    return new LRUCache({ ...atMost(MAX_REFUSALS), ...expiresAfter(REFUSAL_SEC * 1000, this.#options.clock) });
  }
}
