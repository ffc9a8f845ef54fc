import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import type { ScanStakes, StakeQuery, StakeTable, StakeTables } from '../routing/stake-accounts.ts';
import type { ScanGate } from '../scans/scan-gate.ts';
import { createScanRefusals, isScanRefused, type ScanRefusals } from '../scans/scan-refusals.ts';

/** The most stake accounts in all tables: some 20 MB. A table without any counts as one. */
const MAX_ACCOUNTS = 50_000;

/** Returns whether no node lists the accounts: one without an index of them may also run into the timeout. */
const isRefused = (error: GatewayError): boolean => isScanRefused(error) || error.code === 'upstream_timeout';

/** Caches stake tables up to a total size, and refusals. Concurrent reads of one withdrawer share one scan. */
export class StakeTableCache implements StakeTables {
  readonly #gate: Pick<ScanGate, 'run'>;
  #tables = this.#create();
  /** The newest slot of the tables that are no longer kept. */
  #newestGone: Slot = 0;
  readonly #refusals: ScanRefusals;
  #flights = new SingleFlight<StakeTable | null>();

  constructor(clock: Pick<Clock, 'monotonic'>, gate: Pick<ScanGate, 'run'>) {
    this.#refusals = createScanRefusals(clock);
    this.#gate = gate;
  }

  /** Forgets all tables, those too that are being read. */
  clear(): void {
    this.#tables.clear(); // no later scan is older
    this.#tables = this.#create();
    this.#refusals.clear();
    this.#flights = new SingleFlight();
  }

  async getOrScan(query: StakeQuery, scan: ScanStakes, cost?: RequestCost): Promise<StakeTable | null> {
    const { withdrawer, oldestSlot } = query;
    const cached = this.#tables.get(withdrawer);
    if (cached !== undefined && cached.slot >= oldestSlot) return cached;
    if (this.#refusals.get(withdrawer) !== undefined) return null;
    return this.#flights.run(withdrawer, () =>
      this.#gate.run(cost?.caller, () => this.#scanAndStore(withdrawer, scan)),
    );
  }

  async #scanAndStore(withdrawer: string, scan: ScanStakes): Promise<StakeTable | null> {
    const tables = this.#tables;
    try {
      const minSlot = Math.max(tables.peek(withdrawer)?.slot ?? 0, this.#newestGone);
      const table = await scan(minSlot || undefined);
      tables.set(withdrawer, table);
      return table;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || !isRefused(thrown)) throw thrown; // the caller may retry
      this.#refusals.set(withdrawer, thrown);
      return null;
    }
  }

  #create(): LRUCache<string, StakeTable> {
    return new LRUCache({
      maxSize: MAX_ACCOUNTS,
      sizeCalculation: ({ accounts }) => accounts.length + 1,
      dispose: ({ slot }) => {
        this.#newestGone = Math.max(this.#newestGone, slot);
      },
    });
  }
}
