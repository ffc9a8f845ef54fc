import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';

/** A value of a node that two operators contradict. */
export interface Disagreement {
  readonly nodeId: string;
  /** What was read: a method of RPC, or what a session keeps live. */
  readonly what: string;
  /** The address or signature, as JSON that may be cut off. */
  readonly subject?: string;
  readonly slot: Slot | undefined;
  /** The digest of what the node gave, and of what the others gave. */
  readonly digest?: string;
  readonly expected?: string;
}

/** Values that differ at one slot, of which none has a majority. */
export interface UndecidedDifference {
  readonly what: string;
  readonly subject: string;
  readonly votes: readonly { readonly nodeId: string; readonly digest: string; readonly slot: Slot | undefined }[];
}

export interface DisagreementsOptions {
  readonly clock: Clock;
  /** Called with each disagreement. `isRepeated`: the node had another one within {@link MEMORY_MS}. */
  onDisagreement(disagreement: Disagreement, isRepeated: boolean): void;
  onUndecided(difference: UndecidedDifference): void;
}

/** The milliseconds within which a second disagreement shows that a node lies. */
const MEMORY_MS = 3_600_000;

/** Counts the values in which a node differs from two operators at one slot. */
export class Disagreements {
  /** The number of differences without a majority. */
  undecided = 0;
  readonly #options: DisagreementsOptions;
  readonly #counts = new Map<string, number>();
  readonly #last = new Map<string, Disagreement & { readonly atMs: number; readonly isRefused: boolean }>();
  #lastUndecidedMs = Number.NEGATIVE_INFINITY;

  constructor(options: DisagreementsOptions) {
    this.#options = options;
  }

  countOf(nodeId: string): number {
    return this.#counts.get(nodeId) ?? 0;
  }

  lastOf(nodeId: string): Disagreement | undefined {
    return this.#last.get(nodeId);
  }

  /** Counts a disagreement; the reads of one slot count as one, and so do those of one transaction or block. */
  record(disagreement: Disagreement): void {
    const { nodeId, slot, subject } = disagreement;
    const last = this.#last.get(nodeId);
    const nowMs = this.#options.clock.monotonic();
    if (last !== undefined && last.slot === slot && (slot !== undefined || last.subject === subject)) return;
    this.#counts.set(nodeId, this.countOf(nodeId) + 1);
    const isRepeated = last !== undefined && nowMs - last.atMs <= MEMORY_MS;
    this.#last.set(nodeId, { ...disagreement, atMs: nowMs, isRefused: isRepeated || last?.isRefused === true });
    this.#options.onDisagreement(disagreement, isRepeated);
  }

  recordUndecided(difference: UndecidedDifference): void {
    this.undecided++;
    this.#lastUndecidedMs = this.#options.clock.monotonic();
    this.#options.onUndecided(difference);
  }

  /** Returns what `/health` shows: the disagreements of the last hour, and the nodes that are not used since. */
  problems(): readonly string[] {
    const sinceMs = this.#options.clock.monotonic() - MEMORY_MS;
    const recent = [...this.#last.values()]
      .filter(({ atMs, isRefused }) => isRefused || atMs >= sinceMs)
      .map((last) => `${describeDisagreement(last)}; ${last.isRefused ? REFUSED : COUNTED}`);
    if (this.#lastUndecidedMs >= sinceMs)
      recent.push(
        'operators gave different values of one slot, and none of them has a majority: such answers are observed',
      );
    return recent;
  }
}

const REFUSED = 'since it did so twice within an hour, slotgate does not use it until slotgate is restarted';
const COUNTED = 'if it does so again within an hour, slotgate stops using it';

/** What people call that which a method reads. */
const NOUNS: Readonly<Record<string, string>> = {
  getBlock: 'a block',
  getMultipleAccounts: 'an account',
  getTokenAccountsByOwner: 'token accounts',
  getTransaction: 'a transaction',
};

export const describeDisagreement = ({ nodeId, what, slot, digest, expected }: Disagreement): string => {
  const digests =
    digest === undefined || expected === undefined
      ? ''
      : `, with the digest ${digest.slice(0, 16)} where theirs is ${expected.slice(0, 16)}`;
  return `${nodeId} gave another value of ${NOUNS[what] ?? what}${slot === undefined ? '' : ` at slot ${slot}`} than two operators${digests}`;
};
