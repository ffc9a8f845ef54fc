import { CLOCK_SYSVAR, SLOT_HASHES_SYSVAR, VOTE_PROGRAM } from '../../domain/programs.ts';
import { malformed } from '../json/json-scanner.ts';
import { elements, integerOrNull, isNull, members, text, u64 } from '../json/raw-json.ts';
import { STRIDE } from '../json/turns.ts';

/** What the transactions of a block come to. */
export interface BlockTally {
  readonly count: number;
  readonly voteCount: number;
  readonly nonVoteCount: number;
  readonly successCount: number;
  readonly failedCount: number;
  readonly feesLamports: bigint;
  /** Null when the record of one transaction does not tell it. */
  readonly computeUnitsConsumed: number | null;
  /** Of the first transactions that are no votes. */
  readonly signatures: readonly string[];
}

const MAX_SIGNATURES = 50;

/**
 * Counts the transactions of a block, given as `transactionDetails: "accounts"` shows each. A block has megabytes of
 * them, so now and then it waits for `nextTurn`. Throws `upstream_error` for what is no transaction.
 */
export async function tally(transactions: Iterable<Buffer>, nextTurn: () => Promise<void>): Promise<BlockTally> {
  const signatures: string[] = [];
  let [count, voteCount, successCount, failedCount] = [0, 0, 0, 0];
  let feesLamports = 0n;
  let computeUnitsConsumed: number | null = 0;
  let readBytes = 0;
  for (const bytes of transactions) {
    const { isVote, fee, succeeded, computeUnits, signature } = outcome(bytes);
    count++;
    if (isVote) voteCount++;
    else if (signatures.length < MAX_SIGNATURES) signatures.push(signature());
    if (succeeded === true) successCount++;
    if (succeeded === false) failedCount++;
    feesLamports += fee;
    if (computeUnitsConsumed !== null)
      computeUnitsConsumed = computeUnits === null ? null : computeUnitsConsumed + computeUnits;
    readBytes += bytes.length;
    if (readBytes < STRIDE) continue;
    await nextTurn();
    readBytes = 0;
  }
  const nonVoteCount = count - voteCount;
  if (count === 0) computeUnitsConsumed = null; // no record told it
  return { count, voteCount, nonVoteCount, successCount, failedCount, feesLamports, computeUnitsConsumed, signatures };
}

interface Outcome {
  readonly isVote: boolean;
  readonly fee: bigint;
  /** Null where the node kept no record of it. */
  readonly succeeded: boolean | null;
  readonly computeUnits: number | null;
  readonly signature: () => string;
}

function outcome(bytes: Buffer): Outcome {
  const whole = members(bytes);
  const [transaction, meta] = [whole.get('transaction'), whole.get('meta')];
  if (transaction === undefined) throw malformed();
  const signed = members(transaction);
  const [signatures, keys] = [signed.get('signatures'), signed.get('accountKeys')];
  if (signatures === undefined || keys === undefined) throw malformed();
  const effects = meta === undefined || isNull(meta) ? undefined : members(meta);
  return {
    isVote: isVote(whole.get('version'), keys),
    fee: effects === undefined ? 0n : u64(effects.get('fee')),
    succeeded: effects === undefined ? null : isNull(effects.get('err')),
    computeUnits: integerOrNull(effects?.get('computeUnitsConsumed')),
    signature: () => text(elements(signatures)[0]),
  };
}

const READ_BY_VOTES: ReadonlySet<string> = new Set([VOTE_PROGRAM, CLOCK_SYSVAR, SLOT_HASHES_SYSVAR]);
const VERSION_LEGACY = '"legacy"';
const MAX_VOTE_SIGNERS = 2;

/**
 * Whether the cluster counts it as a vote: a legacy transaction, signed by two at most, whose one instruction is the
 * Vote program's. The accounts tell it: those that are neither written nor sign are that program and what it reads.
 */
function isVote(version: Buffer | undefined, keys: Buffer): boolean {
  const isLegacy = isNull(version) || version?.toString('latin1') === VERSION_LEGACY;
  if (!isLegacy || !keys.includes(VOTE_PROGRAM)) return false;
  const accounts = elements(keys).map((key) => {
    const { pubkey, signer, writable } = Object.fromEntries(members(key));
    return { address: text(pubkey), signs: isTrue(signer), isWritten: isTrue(writable) };
  });
  const signers = accounts.filter(({ signs }) => signs).length;
  const read = accounts.filter(({ signs, isWritten }) => !signs && !isWritten);
  return signers <= MAX_VOTE_SIGNERS && read.every(({ address }) => READ_BY_VOTES.has(address));
}

const isTrue = (bytes: Buffer | undefined): boolean => bytes?.toString('latin1') === 'true';
