import { SingleFlight } from '../../cache/single-flight.ts';
import type { Clock } from '../../domain/clock.ts';
import type { HolderTable } from './holder-table.ts';

/** For so long pages are cut from one table, so that they agree with each other. */
const LIFE_MS = 60_000;

/** Three tables of the largest scans. */
const MAX_BYTES = 64 << 20;

interface Kept {
  readonly table: HolderTable;
  readonly untilMs: number;
}

/** The tables of holders that were read lately, within a bound on their memory. Equal readings are made once. */
export class HolderTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new SingleFlight<HolderTable>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The table of a mint while it lives. */
  get(mint: string): HolderTable | undefined {
    const kept = this.#kept.get(mint);
    return kept !== undefined && this.#clock.monotonic() < kept.untilMs ? kept.table : undefined;
  }

  /** The living table of a mint, or the one that `read` makes. */
  async getOrRead(mint: string, read: () => Promise<HolderTable>): Promise<HolderTable> {
    const readAndKeep = async (): Promise<HolderTable> => {
      const table = await read();
      this.#keep(mint, table);
      return table;
    };
    return this.get(mint) ?? this.#reading.run(mint, readAndKeep);
  }

  /** The oldest go first: those that have ended, and those that there is no room for. */
  #keep(mint: string, table: HolderTable): void {
    const nowMs = this.#clock.monotonic();
    this.#kept.delete(mint);
    this.#kept.set(mint, { table, untilMs: nowMs + LIFE_MS });
    let bytes = 0;
    for (const { table } of this.#kept.values()) bytes += table.bytes;
    for (const [name, { table, untilMs }] of this.#kept) {
      if (untilMs > nowMs && bytes <= MAX_BYTES) break;
      bytes -= table.bytes;
      this.#kept.delete(name);
    }
  }
}
