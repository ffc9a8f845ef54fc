import { CLOCK_SYSVAR, SLOT_HASHES_SYSVAR, VOTE_PROGRAM } from '../../domain/well-known-addresses.ts';
import { YIELD_EVERY_BYTES } from '../json/cooperative.ts';
import { malformed } from '../json/json-scanner.ts';
import { elements, isNull, members, parseString, parseU64, parseU64OrNull } from '../json/raw-json.ts';

/** Counts and sums over the transactions of a block. */
export interface BlockTally {
  readonly count: number;
  readonly voteCount: number;
  readonly nonVoteCount: number;
  readonly successCount: number;
  readonly failedCount: number;
  readonly feesLamports: bigint;
  /** Null when one transaction's record lacks it. */
  readonly computeUnitsConsumed: bigint | null;
  /** Signatures of the first non-vote transactions. */
  readonly signatures: readonly string[];
}

const MAX_SIGNATURES = 50;

/**
 * Counts the transactions of a block, each in the form of `transactionDetails: "accounts"`. A block has megabytes of
 * them, so it awaits `yieldTurn` now and then. Throws `upstream_error` for anything else.
 */
export async function tallyTransactions(
  transactions: Iterable<Buffer>,
  yieldTurn: () => Promise<void>,
): Promise<BlockTally> {
  const signatures: string[] = [];
  let [count, voteCount, successCount, failedCount] = [0, 0, 0, 0];
  let feesLamports = 0n;
  let computeUnitsConsumed: bigint | null = 0n;
  let bytesSinceYield = 0;
  for (const bytes of transactions) {
    const { isVote, fee, succeeded, computeUnits, signature } = parseOutcome(bytes);
    count++;
    if (isVote) voteCount++;
    else if (signatures.length < MAX_SIGNATURES) signatures.push(signature());
    if (succeeded === true) successCount++;
    if (succeeded === false) failedCount++;
    feesLamports += fee;
    if (computeUnitsConsumed !== null)
      computeUnitsConsumed = computeUnits === null ? null : computeUnitsConsumed + computeUnits;
    bytesSinceYield += bytes.length;
    if (bytesSinceYield < YIELD_EVERY_BYTES) continue;
    await yieldTurn();
    bytesSinceYield = 0;
  }
  const nonVoteCount = count - voteCount;
  if (count === 0) computeUnitsConsumed = null; // there was no record
  return { count, voteCount, nonVoteCount, successCount, failedCount, feesLamports, computeUnitsConsumed, signatures };
}

interface TransactionOutcome {
  readonly isVote: boolean;
  readonly fee: bigint;
  /** Null where the node kept no status. */
  readonly succeeded: boolean | null;
  readonly computeUnits: bigint | null;
  readonly signature: () => string;
}

function parseOutcome(bytes: Buffer): TransactionOutcome {
  const whole = members(bytes);
  const [transaction, meta] = [whole.get('transaction'), whole.get('meta')];
  if (transaction === undefined) throw malformed();
  const signed = members(transaction);
  const [signatures, keys] = [signed.get('signatures'), signed.get('accountKeys')];
  if (signatures === undefined || keys === undefined) throw malformed();
  const effects = meta === undefined || isNull(meta) ? undefined : members(meta);
  return {
    isVote: isVote(whole.get('version'), keys),
    fee: effects === undefined ? 0n : parseU64(effects.get('fee')),
    succeeded: effects === undefined ? null : isNull(effects.get('err')),
    computeUnits: parseU64OrNull(effects?.get('computeUnitsConsumed')),
    signature: () => parseString(elements(signatures)[0]),
  };
}

const ACCOUNTS_READ_BY_VOTES: ReadonlySet<string> = new Set([VOTE_PROGRAM, CLOCK_SYSVAR, SLOT_HASHES_SYSVAR]);
const VERSION_LEGACY = '"legacy"';
const MAX_VOTE_SIGNERS = 2;

/**
 * Tells whether the cluster counts a transaction as a vote: a legacy transaction with at most two signers whose only
 * instruction is the Vote program's. The accounts show it: those that are neither written nor sign are that program and
 * the sysvars that it reads.
 */
function isVote(version: Buffer | undefined, keys: Buffer): boolean {
  const isLegacy = isNull(version) || version?.toString('latin1') === VERSION_LEGACY;
  if (!isLegacy || !keys.includes(VOTE_PROGRAM)) return false;
  const accounts = elements(keys).map((key) => {
    const { pubkey, signer, writable } = Object.fromEntries(members(key));
    return { address: parseString(pubkey), signs: isTrue(signer), isWritten: isTrue(writable) };
  });
  const signers = accounts.filter(({ signs }) => signs).length;
  const read = accounts.filter(({ signs, isWritten }) => !signs && !isWritten);
  return signers <= MAX_VOTE_SIGNERS && read.every(({ address }) => ACCOUNTS_READ_BY_VOTES.has(address));
}

const isTrue = (bytes: Buffer | undefined): boolean => bytes?.toString('latin1') === 'true';
