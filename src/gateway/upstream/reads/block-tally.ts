import { SIGNATURE_LAMPORTS } from '../../../shared/domain/priority-fee.ts';
import { CLOCK_SYSVAR, SLOT_HASHES_SYSVAR, VOTE_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { JITO_TIP_ACCOUNTS } from '../../../transactions/index.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  elements,
  forEachElement,
  isNull,
  type Members,
  member,
  members,
  parseString,
  parseU64,
  parseU64OrNull,
  shortText,
} from '../json/raw-json.ts';

export interface BlockTally {
  readonly count: number;
  readonly voteCount: number;
  readonly nonVoteCount: number;
  readonly successCount: number;
  readonly failedCount: number;
  readonly feesLamports: bigint;
  /** Fees beyond those for the signatures of the transactions. */
  readonly priorityFeesLamports: bigint;
  /** Lamports that tip accounts of block builders received. */
  readonly tipsLamports: bigint;
  /** Null when one transaction's record lacks it. */
  readonly computeUnitsConsumed: bigint | null;
  readonly signatures: readonly string[];
}

export interface TransactionOutcome {
  readonly isVote: boolean;
  readonly fee: bigint;
  readonly signatureCount: number;
  readonly tips: bigint;
  /** Null where the node kept no status. */
  readonly succeeded: boolean | null;
  readonly computeUnits: bigint | null;
  readonly signature: () => string;
}

const MAX_SIGNATURES = 50;

/** Bytes of transactions that are counted in one turn of the event loop: about a millisecond's work. */
const TALLIED_BYTES_PER_TURN = 32 * 1024;

export class BlockCounter {
  readonly tally = {
    count: 0,
    voteCount: 0,
    nonVoteCount: 0,
    successCount: 0,
    failedCount: 0,
    feesLamports: 0n,
    priorityFeesLamports: 0n,
    tipsLamports: 0n,
    computeUnitsConsumed: null as bigint | null, // without a record there is none
    signatures: [] as string[],
  };

  add({ isVote, fee, signatureCount, tips, succeeded, computeUnits, signature }: TransactionOutcome): void {
    const { tally } = this;
    const unitsBefore = tally.count === 0 ? 0n : tally.computeUnitsConsumed;
    tally.computeUnitsConsumed = unitsBefore === null || computeUnits === null ? null : unitsBefore + computeUnits;
    tally.count++;
    tally[isVote ? 'voteCount' : 'nonVoteCount']++;
    if (!isVote && tally.signatures.length < MAX_SIGNATURES) tally.signatures.push(signature());
    if (succeeded !== null) tally[succeeded ? 'successCount' : 'failedCount']++;
    tally.feesLamports += fee;
    const priorityFee = fee - SIGNATURE_LAMPORTS * BigInt(signatureCount);
    if (priorityFee > 0n) tally.priorityFeesLamports += priorityFee; // some clusters charge less
    tally.tipsLamports += tips;
  }
}

/**
 * Counts the transactions of a block, each in the form of `transactionDetails: "accounts"`. A block has megabytes of
 * them, so it yields to the event loop in between. Throws `upstream_error` for anything else.
 */
export async function tallyTransactions(transactions: Buffer): Promise<BlockTally> {
  const counter = new BlockCounter();
  await forEachElement(transactions, TALLIED_BYTES_PER_TURN, (bytes) => counter.add(parseOutcome(bytes)));
  return counter.tally;
}

function parseOutcome(bytes: Buffer): TransactionOutcome {
  const whole = members(bytes);
  const [transaction, meta] = [whole.get('transaction'), whole.get('meta')];
  if (transaction === undefined) throw malformed();
  const signed = members(transaction);
  const [signatures, keys] = [signed.get('signatures'), signed.get('accountKeys')];
  if (signatures === undefined || keys === undefined) throw malformed();
  const effects = meta === undefined || isNull(meta) ? undefined : members(meta);
  const votes = isVote(whole.get('version'), keys);
  const maybeTips = !votes && effects !== undefined && TIP_ACCOUNTS_AS_BYTES.some((address) => keys.includes(address));
  return {
    isVote: votes,
    ...parseEffects(effects, elements(signatures)),
    tips: maybeTips
      ? tipsIn(
          elements(keys).map((key) => parseString(member(key, 'pubkey'))),
          effects,
        )
      : 0n,
  };
}

const TIP_ACCOUNTS_AS_BYTES = [...JITO_TIP_ACCOUNTS].map((address) => Buffer.from(address));

/** Parses what a transaction's record says of its outcome; `effects` are the members of its `meta`, if there is one. */
export const parseEffects = (effects: Members | undefined, signatures: readonly Buffer[]) => ({
  fee: effects === undefined ? 0n : parseU64(effects.get('fee')),
  signatureCount: signatures.length,
  succeeded: effects === undefined ? null : isNull(effects.get('err')),
  computeUnits: parseU64OrNull(effects?.get('computeUnitsConsumed')),
  signature: () => parseString(signatures[0]),
});

/** Sums up what Jito's tip accounts received. What goes out of them is their owner's matter. */
export function tipsIn(addresses: readonly string[], effects: Members | undefined): bigint {
  const tipped = addresses.flatMap((address, i) => (JITO_TIP_ACCOUNTS.has(address) ? [i] : []));
  if (tipped.length === 0 || effects === undefined) return 0n;
  const [before, after] = [effects.get('preBalances'), effects.get('postBalances')];
  if (before === undefined || after === undefined) throw malformed();
  const [pre, post] = [elements(before), elements(after)];
  const received = tipped.map((i) => parseU64(post[i]) - parseU64(pre[i]));
  return received.reduce((sum, change) => (change > 0n ? sum + change : sum), 0n);
}

const ACCOUNTS_READ_BY_VOTES: ReadonlySet<string> = new Set([VOTE_PROGRAM, CLOCK_SYSVAR, SLOT_HASHES_SYSVAR]);
const VERSION_LEGACY = '"legacy"';

/** The most signers of a transaction that the cluster counts as a vote. */
export const MAX_VOTE_SIGNERS = 2;

/** Whether a transaction is of the first form, which has no version. */
export const isLegacy = (version: Buffer | undefined): boolean =>
  isNull(version) || shortText(version) === VERSION_LEGACY;

/**
 * Returns true if the cluster counts a transaction as a vote: a legacy transaction with at most two signers whose only
 * instruction is the Vote program's. By the accounts, which are all that is read: those that are neither written nor sign are
 * that program and the sysvars that it reads. Several instructions of that program look the same; no validator sends them.
 */
function isVote(version: Buffer | undefined, keys: Buffer): boolean {
  if (!isLegacy(version) || !keys.includes(VOTE_PROGRAM)) return false;
  const accounts = elements(keys).map((key) => {
    const { pubkey, signer, writable } = Object.fromEntries(members(key));
    return { address: parseString(pubkey), signs: isTrue(signer), isWritten: isTrue(writable) };
  });
  const signers = accounts.filter(({ signs }) => signs).length;
  const read = accounts.filter(({ signs, isWritten }) => !signs && !isWritten);
  return signers <= MAX_VOTE_SIGNERS && read.every(({ address }) => ACCOUNTS_READ_BY_VOTES.has(address));
}

const isTrue = (bytes: Buffer | undefined): boolean => shortText(bytes) === 'true';
