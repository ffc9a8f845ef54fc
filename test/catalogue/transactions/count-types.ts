import { parseTransaction } from '../../../src/solana/analysis/parse-transaction.ts';
import { interpretTransaction } from '../../../src/solana/analysis/rules/interpret-transaction.ts';
import { enhanceTransaction } from '../../../src/solana/explain/enhanced-transaction.ts';
import { programRole } from '../../../src/solana/programs/known-programs.ts';
import type { Transaction } from '../../../src/solana/transactions/transaction.ts';
import { type Finding, info } from '../findings.ts';

/** Most of a block's transactions, in percent, of which nothing is told, a tip alone, or what the program is for. */
const MOST_UNKNOWN = 2;
const MOST_TIPS_ALONE = 1.5;
const MOST_BY_ROLE = 10;
/** Most milliseconds of processor time for the enhanced view of the median transaction, and of any. */
const LONGEST_ORDINARY_MS = 1;
const LONGEST_MS = 20;
/** Fewer transactions than these make no share that a bound could hold for. */
const LEAST_TRANSACTIONS = 300;

/** What is told of one transaction. */
interface Told {
  readonly signature: string;
  readonly type: string;
  readonly isByRole: boolean;
  /** Whether a tip is all that is told, while another program was called. */
  readonly isTipAlone: boolean;
  readonly ms: number;
}

/** Tells of every transaction, and measures how long each takes. */
export function tellOf(transactions: readonly Transaction[]): readonly Told[] {
  for (const transaction of transactions) enhanceTransaction(transaction); // compiled before it is measured
  return transactions.map((transaction) => {
    const parsed = parseTransaction(transaction);
    const told = interpretTransaction(parsed);
    const isCalling = parsed.instructions.some(({ programId }) => programRole(programId) !== 'core');
    return {
      signature: parsed.signature,
      type: told.type,
      isByRole: 'isByRole' in told && told.isByRole,
      isTipAlone: told.type === 'TRANSFER' && told.payments.length === 0 && told.tips.length > 0 && isCalling,
      ms: Math.min(...[1, 2, 3].map(() => timeOf(transaction))),
    };
  });
}

function timeOf(transaction: Transaction): number {
  const beganMs = performance.now();
  enhanceTransaction(transaction);
  return performance.now() - beganMs;
}

/** Returns the figures of a block; those of a large one have bounds. */
export function findingsOf(told: readonly Told[]): readonly Finding[] {
  const isBlock = told.length >= LEAST_TRANSACTIONS;
  const share = (label: string, count: number, bound: number): Finding => {
    const percent = (100 * count) / Math.max(1, told.length);
    const text = `${label} ${count} (${percent.toFixed(1)} %${isBlock ? `, at most ${bound}` : ''})`;
    return { text, isMet: !isBlock || percent <= bound };
  };
  const times = told.map(({ ms }) => ms).sort((a, b) => a - b);
  const time = (label: string, ms: number, bound: number): Finding => ({
    text: `${label} ${ms.toFixed(2)} ms (at most ${bound})`,
    isMet: ms <= bound,
  });
  return [
    info('transactions', told.length),
    share('UNKNOWN', told.filter(({ type }) => type === 'UNKNOWN').length, MOST_UNKNOWN),
    share('a tip alone', told.filter(({ isTipAlone }) => isTipAlone).length, MOST_TIPS_ALONE),
    share('by role alone', told.filter(({ isByRole }) => isByRole).length, MOST_BY_ROLE),
    time('median', times[Math.floor(times.length / 2)] ?? 0, LONGEST_ORDINARY_MS),
    time('longest', times.at(-1) ?? 0, LONGEST_MS),
  ];
}

/** Returns how often a type became another one, most often first: `21 UNKNOWN -> ARBITRAGE`. */
export function confusionOf(told: readonly Told[], before: ReadonlyMap<string, string>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { signature, type } of told) {
    const former = before.get(signature.slice(0, SIGNATURE_LENGTH));
    if (former === undefined) continue;
    const change = `${former} -> ${type}`;
    counts.set(change, (counts.get(change) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([change, count]) => `${String(count).padStart(5)} ${change}`);
}

/** Characters of a signature by which the types of before are kept. */
export const SIGNATURE_LENGTH = 12;
