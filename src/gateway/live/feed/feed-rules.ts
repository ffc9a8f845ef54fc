import type { Slot } from '../../../shared/domain/slot.ts';
import { SYSTEM_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import type { FeedMode } from '../../upstream/geyser/encode-request.ts';
import type { AccountValue, AccountWrite, BlockLink } from '../../upstream/geyser/feed-update.ts';
import type { FeedHistory, FeedVersion } from './kept-account.ts';

/** The newest block up to which a stream has delivered all. */
export interface AppliedBlock {
  readonly slot: Slot;
  readonly blockhash: string;
}

export type BlockRelation = 'next' | 'duplicate' | 'gap' | 'conflict';

interface FeedEvidence {
  /** Why its version can't be used; undefined if it can. */
  readonly versionProblem: string | undefined;
  /** Whether the paired node has the first block under the same hash. */
  readonly isKnownToNode: boolean;
  /** The blocks in a row of which each names the one before. */
  readonly linkedBlocks: number;
  readonly hasClock: boolean;
  /** Accounts that the node shows written in a delivered block, by the program that owns them. */
  readonly written: readonly { readonly owner: string; readonly isDelivered: boolean }[];
}

export const MIN_LINKED_BLOCKS = 3;

/** The time without a block after which a feed is suspect, in slots, and without any message, in milliseconds. */
const [SILENT_SLOTS, SILENT_MS] = [10, 15_000];

/** The slots behind the cluster from which on a suspect stream is closed, and one that stays so is given up. */
export const MAX_LAG_SLOTS = 20;

export interface FeedActivity {
  readonly msSinceBlock: number;
  readonly msSinceMessage: number;
  readonly slotTimeMs: number;
  /** Slots by which the applied block is behind the confirmed tip that nodes report. */
  readonly lagSlots: number;
}

/**
 * The rules by which a feed dates accounts. Each is a pure function, so that the simulator can run a stream without one of
 * them and show what it prevents. There is no rule for processed: a feed is never used for it.
 */
export const FEED_RULES = {
  /** G0: returns why a feed can't be used, undefined if it can. A feed without wallets rejects the System program. */
  admissionProblem({
    versionProblem,
    isKnownToNode,
    linkedBlocks,
    hasClock,
    written,
  }: FeedEvidence): string | undefined {
    if (versionProblem !== undefined) return versionProblem;
    if (linkedBlocks === 0) return 'it sends no blocks';
    if (!isKnownToNode) return 'its blocks are unknown to the node: it follows another cluster, or lags';
    if (linkedBlocks < MIN_LINKED_BLOCKS) return 'it has not delivered blocks in a row';
    if (!hasClock) return 'it does not deliver the Clock';
    const missing = written.find(({ isDelivered }) => !isDelivered);
    if (missing !== undefined) return `it drops accounts of owner ${missing.owner} (owner_reject)`;
    const hasWallet = written.some(({ owner }) => owner === SYSTEM_PROGRAM);
    return hasWallet ? undefined : 'no wallet was seen written in a block';
  },

  /** G1: a slot status is never a barrier, as some servers send it before the accounts. */
  isBarrier: (kind: 'block' | 'block-meta' | 'slot', mode: FeedMode): boolean =>
    kind === (mode === 'blocks' ? 'block' : 'block-meta'),

  /** G2: `hashOf` returns the hash of an applied block that is remembered, `oldest` the first slot that is. */
  relationOf(
    { slot, blockhash, parentSlot, parentBlockhash }: BlockLink,
    applied: AppliedBlock,
    hashOf: (slot: Slot) => string | undefined,
    oldest: Slot,
  ): BlockRelation {
    if (slot > applied.slot) {
      if (parentSlot !== applied.slot) return parentSlot > applied.slot ? 'gap' : 'conflict';
      return parentBlockhash === applied.blockhash ? 'next' : 'conflict';
    }
    return slot < oldest || hashOf(slot) === blockhash ? 'duplicate' : 'conflict';
  },

  /** G3: the claim of all armed accounts is the applied block itself. */
  claimOf: ({ slot }: AppliedBlock): Slot => slot,

  /** G4: the slot from which a stream is complete for an account whose filter a block is tagged with first. */
  sinceOf: (slot: Slot, mode: FeedMode): Slot => (mode === 'blocks' ? slot : slot + 1),

  /** G4: whether a read at confirmed and the updates since then are together all that the account was. */
  mayArm: (readSlot: Slot, since: Slot): boolean => readSlot >= since,

  /** G5: within one block of one stream the higher write version supersedes. */
  supersedes: (write: AccountWrite, known: AccountWrite): boolean => write.writeVersion > known.writeVersion,

  /** G6: whether accounts that a missing block may have written must be read again. */
  mustRepair: (): boolean => true,

  /** G7: the slot from which on a new stream sends again: the applied one, since the one after may not exist yet. */
  resumeSlotOf: ({ slot }: AppliedBlock): Slot | undefined => slot,

  /** G9: what an account was at the newest finalized slot. */
  finalizedOf: (history: FeedHistory, finalizedSlot: Slot): FeedVersion | undefined =>
    history.newestUpTo(finalizedSlot),

  /** G10: returns why a stream is to be closed; undefined if it isn't. The silence of an account means nothing. */
  silenceOf({ msSinceBlock, msSinceMessage, slotTimeMs, lagSlots }: FeedActivity): string | undefined {
    if (msSinceMessage > SILENT_MS) return `sent nothing for ${SILENT_MS / 1000} s`;
    const isSuspect = msSinceBlock > SILENT_SLOTS * slotTimeMs;
    return isSuspect && lagSlots > MAX_LAG_SLOTS ? `is ${lagSlots} slots behind` : undefined;
  },

  /** G11: whether a read at a slot shows that the version which is kept for that slot is false. */
  isRefuted: (kept: FeedVersion, read: AccountValue | null): boolean => !isSameValue(kept.value, read),
};

export type FeedRules = typeof FEED_RULES;

/** Returns true if two values are the same account. The rent epoch is no part: nodes have shown it in two ways. */
export function isSameValue(one: AccountValue | null, other: AccountValue | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.lamports === other.lamports &&
    one.owner === other.owner &&
    one.executable === other.executable &&
    Buffer.compare(one.data, other.data) === 0
  );
}
