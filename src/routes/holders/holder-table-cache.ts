import { SingleFlight } from '../../cache/single-flight.ts';
import type { Clock } from '../../domain/clock.ts';
import type { HolderTable, HolderTables } from '../../routing/holder-tables.ts';

/** For so long pages are cut from one table, so that they agree with each other. */
const TTL_MS = 60_000;

/** Three tables of the largest scans. */
const MAX_BYTES = 64 << 20;

interface CachedTable {
  readonly table: HolderTable;
  readonly expiresMs: number;
}

/** The tables of holders that were read lately, within a bound on their memory. Equal readings are made once. */
export class HolderTableCache implements HolderTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #tables = new Map<string, CachedTable>();
  readonly #flights = new SingleFlight<HolderTable>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The table of a mint while it lives. */
  get(mint: string): HolderTable | undefined {
    const cached = this.#tables.get(mint);
    return cached !== undefined && this.#clock.monotonic() < cached.expiresMs ? cached.table : undefined;
  }

  /** The living table of a mint, or the one that `read` makes. */
  async getOrRead(mint: string, read: () => Promise<HolderTable>): Promise<HolderTable> {
    const readAndStore = async (): Promise<HolderTable> => {
      const table = await read();
      this.#store(mint, table);
      return table;
    };
    return this.get(mint) ?? this.#flights.run(mint, readAndStore);
  }

  /** The oldest go first: those that have ended, and those that there is no room for. */
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
