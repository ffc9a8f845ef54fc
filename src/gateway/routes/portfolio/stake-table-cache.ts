import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import { runReaching } from '../../serving/min-slot.ts';
import { isRefusal } from '../../upstream/rpc/error-normalizer.ts';
import { hadNoTurn } from '../../upstream/rpc/rpc-client.ts';
import type { ScanStakes, StakeQuery, StakeTable, StakeTables } from '../routing/stake-accounts.ts';
import type { ScanGate } from '../scans/scan-gate.ts';
import { createScanRefusals, type ScanRefusals } from '../scans/scan-refusals.ts';

/** The most stake accounts in all tables: some 20 MB. A table without any counts as one. */
const MAX_ACCOUNTS = 50_000;

/** Returns whether no node lists the accounts: one without an index of them may also run into the timeout. */
const isRefused = (error: GatewayError): boolean =>
  isRefusal(error) || (error.code === 'upstream_timeout' && !hadNoTurn(error));

/** Caches stake tables up to a total size, and refusals. Concurrent reads of one withdrawer share one scan. */
export class StakeTableCache implements StakeTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #gate: Pick<ScanGate, 'run'>;
  #tables = this.#create();
  /** The newest slot of the tables that are no longer kept. */
  #newestGone: Slot = 0;
  #refusals: ScanRefusals;
  #flights = new SingleFlight<StakeTable | null>();

  constructor(clock: Pick<Clock, 'monotonic'>, gate: Pick<ScanGate, 'run'>) {
    this.#clock = clock;
    this.#refusals = createScanRefusals(clock);
    this.#gate = gate;
  }

  /** Forgets all tables, those too that are being read. */
  clear(): void {
    this.#tables.clear(); // no later scan is older
    this.#tables = this.#create();
    this.#refusals = createScanRefusals(this.#clock);
    this.#flights = new SingleFlight();
  }

  async getOrScan(query: StakeQuery, scan: ScanStakes, cost?: RequestCost): Promise<StakeTable | null> {
    const { withdrawer, oldestSlot } = query;
    const cached = this.#cached(query);
    if (cached !== undefined) return cached;
    if (this.#refusals.get(withdrawer) !== undefined) return null;
    return runReaching(this.#flights, withdrawer, oldestSlot, () =>
      this.#gate.run(cost?.caller, async () => this.#cached(query) ?? this.#scanAndStore(withdrawer, scan)),
    );
  }

  #cached({ withdrawer, oldestSlot }: StakeQuery): StakeTable | undefined {
    const cached = this.#tables.get(withdrawer);
    return cached !== undefined && cached.slot >= oldestSlot ? cached : undefined;
  }

  async #scanAndStore(withdrawer: string, scan: ScanStakes): Promise<StakeTable | null> {
    const tables = this.#tables;
    const refusals = this.#refusals;
    try {
      const minSlot = Math.max(tables.peek(withdrawer)?.slot ?? 0, this.#newestGone);
      const table = await scan(minSlot || undefined);
      tables.set(withdrawer, table);
      return table;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || !isRefused(thrown)) throw thrown; // the caller may retry
      refusals.set(withdrawer, thrown);
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
