import { LRUCache } from 'lru-cache';
import { SingleFlight } from '../../cache/single-flight.ts';
import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RequestCost } from '../../domain/request-cost.ts';
import type { Slot } from '../../domain/slot.ts';
import type { HoldersQuery, HolderTable, HolderTables } from '../../routing/holder-tables.ts';
import type { ScanGate } from './scan-gate.ts';

/** Life of a table. All pages read within it come from one table, so they agree with each other. */
const TTL_MS = 60_000;

/** Maximum memory of all tables: about three of the largest scans. */
const MAX_BYTES = 64 << 20;

/** Life of a refusal: a mint doesn't lose most of its holders in minutes, nor a node gain an index. */
const REFUSAL_TTL_MS = 5 * 60_000;

/** Maximum mints whose refusal is remembered: a few MB. */
const MAX_REFUSALS = 10_000;

interface CachedTable {
  readonly table: HolderTable;
  readonly expiresMs: number;
}

interface CachedRefusal {
  readonly refusal: GatewayError;
  readonly expiresMs: number;
}

/** Caches holder tables up to a total size, and refusals. Concurrent reads of one mint share one scan. */
export class HolderTableCache implements HolderTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #tables = new Map<string, CachedTable>();
  readonly #refusals = new LRUCache<string, CachedRefusal>({ max: MAX_REFUSALS });
  readonly #flights = new SingleFlight<HolderTable>();
  readonly #gate: Pick<ScanGate, 'run'>;

  constructor(clock: Pick<Clock, 'monotonic'>, gate: Pick<ScanGate, 'run'>) {
    this.#clock = clock;
    this.#gate = gate;
  }

  get(mint: string, minSlot: Slot = 0): HolderTable | undefined {
    const cached = this.#tables.get(mint);
    const isCurrent = cached !== undefined && this.#clock.monotonic() < cached.expiresMs;
    return isCurrent && cached.table.slot >= minSlot ? cached.table : undefined;
  }

  async getOrRead(
    { mint, minSlot }: HoldersQuery,
    read: () => Promise<HolderTable>,
    cost?: RequestCost,
  ): Promise<HolderTable> {
    const cached = this.get(mint, minSlot);
    if (cached !== undefined) return cached;
    const refused = this.#refusals.get(mint);
    if (refused !== undefined && this.#clock.monotonic() < refused.expiresMs) throw refused.refusal;
    return this.#flights.run(mint, () => this.#gate.run(cost?.caller, () => this.#readAndStore(mint, read)));
  }

  async #readAndStore(mint: string, read: () => Promise<HolderTable>): Promise<HolderTable> {
    try {
      const table = await read();
      this.#store(mint, table);
      return table;
    } catch (thrown) {
      if (thrown instanceof GatewayError && isScanRefused(thrown))
        this.#refusals.set(mint, { refusal: thrown, expiresMs: this.#clock.monotonic() + REFUSAL_TTL_MS });
      throw thrown;
    }
  }

  /** Stores a table, then removes the oldest ones: the expired, and as many as the memory bound requires. */
  #store(mint: string, table: HolderTable): void {
    const nowMs = this.#clock.monotonic();
    this.#tables.delete(mint);
    this.#tables.set(mint, { table, expiresMs: nowMs + TTL_MS });
    let bytes = 0;
    for (const { table } of this.#tables.values()) bytes += table.bytes;
    for (const [name, { table, expiresMs }] of this.#tables) {
      if (expiresMs > nowMs && bytes <= MAX_BYTES) break;
      bytes -= table.bytes;
      this.#tables.delete(name);
    }
  }
}

/** Tells that no node answers a scan, for good: it finds too many accounts, or the nodes have no index of them. */
export const isScanRefused = ({ code, status }: GatewayError): boolean =>
  code === 'result_too_large' || (code === 'rpc_error' && status !== 503);
