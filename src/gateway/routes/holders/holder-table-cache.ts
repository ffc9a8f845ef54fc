import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { expiresAfter } from '../../../shared/runtime/expires-after.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import type { HoldersQuery, HolderTable, HolderTabler, HolderTables, ReadHolders } from '../routing/holder-tables.ts';
import type { ScanGate } from '../scans/scan-gate.ts';
import { createScanRefusals, isScanRefused, type ScanRefusals } from '../scans/scan-refusals.ts';

/** Life of a table. All pages read within it come from one table, so they agree with each other. */
const TTL_MS = 60_000;

/** Maximum memory of all tables: about three of the largest scans. */
const MAX_BYTES = 64 << 20;

export class HolderTableCache implements HolderTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #tables: LRUCache<string, HolderTable>;
  readonly #refusals: ScanRefusals;
  #flights = new SingleFlight<HolderTable>();
  readonly #gate: Pick<ScanGate, 'run'>;
  readonly #tabler: HolderTabler;

  constructor(clock: Pick<Clock, 'monotonic'>, gate: Pick<ScanGate, 'run'>, tabler: HolderTabler) {
    this.#clock = clock;
    this.#tables = this.#create();
    this.#refusals = createScanRefusals(clock);
    this.#gate = gate;
    this.#tabler = tabler;
  }

  /** Forgets all tables, those too that are being read. */
  clear(): void {
    this.#tables = this.#create();
    this.#refusals.clear();
    this.#flights = new SingleFlight();
  }

  get(mint: string, minSlot: Slot = 0): HolderTable | undefined {
    const cached = this.#tables.get(mint);
    return cached !== undefined && cached.slot >= minSlot ? cached : undefined;
  }

  async getOrRead({ mint, minSlot }: HoldersQuery, read: ReadHolders, cost?: RequestCost): Promise<HolderTable> {
    const cached = this.get(mint, minSlot);
    if (cached !== undefined) return cached;
    const refusal = this.#refusals.get(mint);
    if (refusal !== undefined) throw refusal;
    const caller = cost?.caller;
    return this.#flights.run(mint, () => this.#gate.run(caller, () => this.#readAndStore(mint, read, caller)));
  }

  async #readAndStore(mint: string, read: ReadHolders, caller: string | undefined): Promise<HolderTable> {
    const tables = this.#tables;
    try {
      const table = await read(this.#tabler, caller);
      tables.purgeStale(); // a table is large: an expired one leaves its memory
      tables.set(mint, table);
      return table;
    } catch (thrown) {
      if (thrown instanceof GatewayError && isScanRefused(thrown)) this.#refusals.set(mint, thrown);
      throw thrown;
    }
  }

  #create(): LRUCache<string, HolderTable> {
    return new LRUCache({
      maxSize: MAX_BYTES,
      sizeCalculation: ({ bytes }) => Math.max(bytes, 1),
      ...expiresAfter(TTL_MS, this.#clock),
    });
  }
}
