import { SingleFlight } from '../../cache/single-flight.ts';
import type { Clock } from '../../domain/clock.ts';
import type { HolderTable, HolderTables } from '../../routing/holder-tables.ts';

/** Life of a table. All pages read within it come from one table, so they agree with each other. */
const TTL_MS = 60_000;

/** Maximum memory of all tables: about three of the largest scans. */
const MAX_BYTES = 64 << 20;

interface CachedTable {
  readonly table: HolderTable;
  readonly expiresMs: number;
}

/** Caches holder tables up to a total size. Concurrent reads of one mint share one scan. */
export class HolderTableCache implements HolderTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #tables = new Map<string, CachedTable>();
  readonly #flights = new SingleFlight<HolderTable>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get(mint: string): HolderTable | undefined {
    const cached = this.#tables.get(mint);
    return cached !== undefined && this.#clock.monotonic() < cached.expiresMs ? cached.table : undefined;
  }

  async getOrRead(mint: string, read: () => Promise<HolderTable>): Promise<HolderTable> {
    const readAndStore = async (): Promise<HolderTable> => {
      const table = await read();
      this.#store(mint, table);
      return table;
    };
    return this.get(mint) ?? this.#flights.run(mint, readAndStore);
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
