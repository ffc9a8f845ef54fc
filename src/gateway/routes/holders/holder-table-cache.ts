import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { expiresAfter } from '../../../shared/runtime/expires-after.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import { runReaching } from '../../serving/min-slot.ts';
import { isRefusal } from '../../upstream/rpc/error-normalizer.ts';
import type { HoldersQuery, HolderTable, HolderTabler, HolderTables, ReadHolders } from '../routing/holder-tables.ts';
import type { ScanGate } from '../scans/scan-gate.ts';
import { createScanRefusals, type ScanRefusals } from '../scans/scan-refusals.ts';

/** Life of a table. All pages read within it come from one table, so they agree with each other. */
const TTL_MS = 60_000;

/** Maximum memory of all tables: about three of the largest scans. */
const MAX_BYTES = 64 << 20;

export class HolderTableCache implements HolderTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #tables: LRUCache<string, HolderTable>;
  #refusals: ScanRefusals;
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
    this.#refusals = createScanRefusals(this.#clock);
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
    return runReaching(this.#flights, mint, minSlot, () =>
      this.#gate.run(caller, async () => this.get(mint, minSlot) ?? this.#readAndStore(mint, read, caller)),
    );
  }

  async #readAndStore(mint: string, read: ReadHolders, caller: string | undefined): Promise<HolderTable> {
    const tables = this.#tables;
    const refusals = this.#refusals;
    try {
      const table = await read(this.#tabler, caller);
      tables.purgeStale(); // a table is large: an expired one leaves its memory
      tables.set(mint, table);
      return table;
    } catch (thrown) {
      if (thrown instanceof GatewayError && isRefusal(thrown)) refusals.set(mint, thrown);
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
