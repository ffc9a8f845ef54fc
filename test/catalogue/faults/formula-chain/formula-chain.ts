import type { Commitment } from '../../../../src/shared/domain/commitment.ts';
import type { Slot } from '../../../../src/shared/domain/slot.ts';

/** Parameters of a formula chain. Plain data, since it is sent to the nodes' processes. */
export interface ChainParameters {
  readonly genesis: string;
  /** Start of the first slot in Unix milliseconds. */
  readonly originMs: number;
  readonly slotMs: number;
  /** Maximum number of slots between two changes of an account; each account has its own period from 1 to this. */
  readonly maxUnchangedSlots: number;
}

const FIRST_SLOT = 1_000_000;
const BEHIND: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 32 };

/**
 * A chain whose state is a formula: a balance is a function of the address and the slot. So several nodes can serve the
 * same chain without communication, and an answer at any slot can be checked.
 */
export class FormulaChain {
  readonly parameters: ChainParameters;

  constructor(plan: ChainParameters) {
    this.parameters = plan;
  }

  processedSlotAt(unixMs: number): Slot {
    return FIRST_SLOT + Math.floor((unixMs - this.parameters.originMs) / this.parameters.slotMs);
  }

  /** Returns the start of a slot in Unix milliseconds. */
  startMsOf(slot: Slot): number {
    return this.parameters.originMs + (slot - FIRST_SLOT) * this.parameters.slotMs;
  }

  /** Returns the newest slot at a commitment on a node whose newest processed slot is `processed`. */
  newestSlotAt(commitment: Commitment, processed: Slot): Slot {
    return processed - BEHIND[commitment];
  }

  /** Returns the balance at the end of a slot; 0 if there is no account. */
  lamports(address: string, slot: Slot): number {
    const seed = seedOf(address);
    const state = mixBits(seed ^ this.#version(seed, slot));
    return state % 8 === 0 ? 0 : state * 1024 + (seed % 1024); // below 2^42
  }

  /** Returns whether the balance may differ between two slots. */
  isChanged(address: string, before: Slot, slot: Slot): boolean {
    const seed = seedOf(address);
    return this.#version(seed, slot) > this.#version(seed, before);
  }

  #version(seed: number, slot: Slot): number {
    return Math.floor((slot + (seed % 1009)) / (1 + (seed % this.parameters.maxUnchangedSlots)));
  }
}

/** Seeds by address, since addresses repeat. */
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
