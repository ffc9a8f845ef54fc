import type { Commitment } from '../../../../src/domain/commitment.ts';
import type { Slot } from '../../../../src/domain/slot.ts';

/** What makes one chain of the many that follow the formula. Plain data: it goes to the processes of the nodes. */
export interface ChainParameters {
  readonly genesis: string;
  /** Unix milliseconds of the first slot. */
  readonly originMs: number;
  readonly slotMs: number;
  /** The most slots that an account goes without a change; each has its own number from 1 to this. */
  readonly maxUnchangedSlots: number;
  /** Whether the chain now and then processes slots that it then abandons. */
  readonly forks: boolean;
}

const FIRST_SLOT = 1_000_000;
const CONFIRMED_BEHIND = 1;
const FINALIZED_BEHIND = 32;
/** Of so many slots in a row, the two before the last are processed on a branch that is then abandoned. */
const FORK_EVERY = 10;

/**
 * A chain of which each state can be told by who has not seen it: a balance is a function of the address and the slot.
 * So several nodes can hold the same chain without knowing each other, and an answer at any slot can be checked.
 */
export class FormulaChain {
  readonly parameters: ChainParameters;

  constructor(plan: ChainParameters) {
    this.parameters = plan;
  }

  /** The slot that is processed last at this time. */
  processedSlotAt(unixMs: number): Slot {
    return FIRST_SLOT + Math.floor((unixMs - this.parameters.originMs) / this.parameters.slotMs);
  }

  /** When a slot is processed. */
  startMsOf(slot: Slot): number {
    return this.parameters.originMs + (slot - FIRST_SLOT) * this.parameters.slotMs;
  }

  /** How far a node has come at a commitment whose newest processed slot is `processed`. */
  newestSlotAt(commitment: Commitment, processed: Slot): Slot {
    if (commitment === 'processed') return processed;
    let slot = processed - (commitment === 'confirmed' ? CONFIRMED_BEHIND : FINALIZED_BEHIND);
    while (this.isAbandoned(slot)) slot--;
    return slot;
  }

  /** True of a slot that is processed and then taken back. It is never confirmed. */
  isAbandoned(slot: Slot): boolean {
    return this.parameters.forks && [FORK_EVERY - 3, FORK_EVERY - 2].includes(slot % FORK_EVERY);
  }

  /** The slot that a slot builds on. */
  parentOf(slot: Slot): Slot {
    let parent = slot - 1;
    while (!this.isAbandoned(slot) && this.isAbandoned(parent)) parent--;
    return parent;
  }

  /** The balance at the end of a slot; 0 when there is no account. */
  lamports(address: string, slot: Slot): number {
    const seed = seedOf(address);
    const state = mixBits(seed ^ this.#version(seed, slot) ^ (this.isAbandoned(slot) ? 0x5bd1e995 : 0));
    return state % 8 === 0 ? 0 : state * 1024 + (seed % 1024); // below 2^42
  }

  /** Whether the balance after `slot` need not be the one after `before`. */
  isChanged(address: string, before: Slot, slot: Slot): boolean {
    const seed = seedOf(address);
    return (
      this.isAbandoned(before) || this.isAbandoned(slot) || this.#version(seed, slot) > this.#version(seed, before)
    );
  }

  #version(seed: number, slot: Slot): number {
    return Math.floor((slot + (seed % 1009)) / (1 + (seed % this.parameters.maxUnchangedSlots)));
  }
}

/** Addresses are asked for again and again, each with the same seed. */
const seeds = new Map<string, number>();

function seedOf(address: string): number {
  const known = seeds.get(address);
  if (known !== undefined) return known;
  let hash = 0x811c9dc5;
  for (let at = 0; at < address.length; at++) hash = Math.imul(hash ^ address.charCodeAt(at), 0x01000193);
  const seed = mixBits(hash);
  if (seeds.size < 100_000) seeds.set(address, seed);
  return seed;
}

function mixBits(number: number): number {
  let state = Math.imul(number ^ (number >>> 16), 0x21f0aaad);
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97);
  return (state ^ (state >>> 15)) >>> 0;
}
