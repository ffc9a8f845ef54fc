import { WALLETS } from '../../../src/localnet/traffic/demo-accounts.ts';
import { waitFor } from '../../support/harness.ts';
import { expect, expectNone, type Finding, info } from '../findings.ts';
import type { FleetGateway } from './fleet-testbed.ts';

const TARGET = `/balance/${WALLETS[0]?.address}?commitment=finalized`;

const NO_ANSWER = { status: 0, json: { error: 'no answer', slot: 0, receipt: { claim: '' } } };

/** Reads a finalized balance from all gateways and remembers which has signed it `exact` at which slot. */
export class ExactReaders {
  readonly #gateways: readonly FleetGateway[];
  readonly #signers = new Map<number, Set<FleetGateway>>();
  readonly #failed = new Map<string, number>();
  #signedByTwo = 0;
  #wentBack = 0;
  readonly #newestSlots = new Map<FleetGateway, number>();
  #newestExact = 0;

  /** Reads from those that `gateways` has at the time. */
  constructor(gateways: readonly FleetGateway[]) {
    this.#gateways = gateways;
  }

  /** The newest slot that was signed `exact`. */
  get newestExact(): number {
    return this.#newestExact;
  }

  /** Reads from each gateway once; returns how many answers were signed `exact`. */
  async readAll(): Promise<number> {
    let exact = 0;
    for (const gateway of this.#gateways) {
      const { status, json } = await gateway.get(TARGET).catch(() => NO_ANSWER);
      if (status !== 200) {
        const failure = json.error;
        this.#failed.set(failure, (this.#failed.get(failure) ?? 0) + 1);
        continue;
      }
      const { slot } = json;
      if (slot < (this.#newestSlots.get(gateway) ?? 0)) this.#wentBack++;
      this.#newestSlots.set(gateway, slot);
      if (!json.receipt.claim.startsWith('exact')) continue;
      exact++;
      this.#newestExact = Math.max(this.#newestExact, slot);
      const known = this.#signers.get(slot) ?? new Set();
      this.#signers.set(slot, known.add(gateway));
      if (known.size === 2) this.#signedByTwo++;
    }
    return exact;
  }

  /** Reads until one answer is signed `exact`. */
  readUntilExact(): Promise<void> {
    return waitFor(async () => (await this.readAll()) > 0, 'an exact receipt');
  }

  /** Reads for `ms`; returns the longest time without a newer slot that was signed `exact`. */
  async readFor(ms: number): Promise<number> {
    const endMs = performance.now() + ms;
    let [newest, newerAtMs, longestMs] = [this.#newestExact, performance.now(), 0];
    while (performance.now() < endMs) {
      await this.readAll();
      const nowMs = performance.now();
      longestMs = Math.max(longestMs, nowMs - newerAtMs);
      if (this.#newestExact > newest) [newest, newerAtMs] = [this.#newestExact, nowMs];
    }
    return longestMs;
  }

  findings(): Finding[] {
    return [
      info('slots signed exact', this.#signers.size),
      expectNone('slots signed exact by two', this.#signedByTwo),
      expectNone('slots back', this.#wentBack),
      expect(`no read failed ${[...this.#failed].join(' ')}`.trim(), this.#failed.size === 0),
    ];
  }
}
