import bs58 from 'bs58';
import { TARGET_SLOT_MS } from '../shared/domain/slot-time.ts';

/** Identity and slot timing of an embedded cluster. */
export interface Genesis {
  /** Base58 of 32 random bytes. */
  readonly hash: string;
  /** Unix milliseconds of slot 0. */
  readonly originMs: number;
  readonly slotMs: number;
}

/** First slot of a cluster. It is not 0: the cluster looks as if it had run for some days. */
const FIRST_SLOT = 1_000_000;

/**
 * Creates the genesis of a new cluster from 32 random bytes. An embedded cluster keeps no state, so each start needs
 * one of its own: under an old one, answers about another state would be signed for slots that are signed already.
 */
export const createGenesis = (random: Uint8Array, nowMs: number, slotMs = TARGET_SLOT_MS): Genesis => ({
  hash: bs58.encode(random),
  originMs: nowMs - FIRST_SLOT * slotMs,
  slotMs,
});
