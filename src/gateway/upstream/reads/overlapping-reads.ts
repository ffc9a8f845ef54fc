import { decidingOf } from '../../../shared/domain/agreement.ts';
import type { OperatorAgreement } from '../mesh/mesh.ts';
import { contradictionOf, type Facts } from '../rpc/facts.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import { factsOfAccount } from './account-facts.ts';
import { type AccountsAtSlot, type AccountsConfig, MAX_ADDRESSES, readMultipleAccounts } from './multiple-accounts.ts';

export interface OverlappingReadsOptions extends Pick<UpstreamDeps, 'clock' | 'random'> {
  readonly agreement: Pick<OperatorAgreement, 'operators' | 'rpc' | 'areOfTwoOperators'>;
}

interface Witnessed extends Pick<AccountsAtSlot, 'slot' | 'nodeId'> {
  readonly address: string;
  readonly facts: Facts;
}

/** Milliseconds until operators that could not decide are read again. */
const UNDECIDED_MS = 10_000;

/** The longest account, as JSON, that is read once more. */
const MAX_LENGTH = 4096;

/**
 * Compares operators without calls of its own: each call for accounts names one more, which the call before has read. Where another
 * operator answers that at the same slot, both must have the account alike; else more of them decide.
 */
export class OverlappingReads {
  readonly #options: OverlappingReadsOptions;
  readonly #witnessed = new Map<string, Witnessed>();
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(options: OverlappingReadsOptions) {
    this.#options = options;
  }

  /** Returns what the next call of a kind is to name: its own accounts, and where there is room that of the call before. */
  withWitnessed(kind: string, addresses: readonly string[]): readonly string[] {
    const { address } = this.#witnessed.get(kind) ?? {};
    const hasRoom = addresses.length < MAX_ADDRESSES;
    return address === undefined || !hasRoom || addresses.includes(address) ? addresses : [...addresses, address];
  }

  /** Compares what a call of a kind gave for the account of the one before, and keeps one of its own accounts for the next. */
  observe(kind: string, addresses: readonly string[], config: AccountsConfig, read: AccountsAtSlot): void {
    const { agreement, random } = this.#options;
    const { slot, nodeId, accounts } = read;
    const before = this.#witnessed.get(kind);
    const isNamed = before !== undefined && addresses.includes(before.address); // another call may have ended since
    if (isNamed && before.slot === slot && agreement.areOfTwoOperators(before.nodeId, nodeId)) {
      const facts = factsOfAccount(accounts.get(before.address) ?? null);
      if (contradictionOf(facts, before.facts) !== undefined) void this.#decide(before.address, config);
    }
    const address = addresses[Math.floor(random() * addresses.length)] ?? '';
    const account = accounts.get(address) ?? null;
    if (account !== null && account.length > MAX_LENGTH) this.#witnessed.delete(kind);
    else this.#witnessed.set(kind, { address, slot, nodeId, facts: factsOfAccount(account) });
  }

  /** Lets operators decide about an account, which names the node that lies. */
  async #decide(address: string, { minContextSlot: _, ...config }: AccountsConfig): Promise<void> {
    const { agreement, clock } = this.#options;
    if (clock.monotonic() < this.#nextMs) return;
    this.#nextMs = Number.POSITIVE_INFINITY;
    const agree = decidingOf(agreement.operators);
    const read = await readMultipleAccounts(agreement.rpc, [address], config, { agree }).catch(() => undefined);
    const isDecided = read?.agreement !== undefined && read.agreement.agreed > 1;
    this.#nextMs = clock.monotonic() + (isDecided ? 0 : UNDECIDED_MS);
  }
}
