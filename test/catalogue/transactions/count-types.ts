import { parseTransaction } from '../../../src/transactions/analysis/parse-transaction.ts';
import { interpretTransaction } from '../../../src/transactions/analysis/rules/interpret-transaction.ts';
import { enhanceTransaction } from '../../../src/transactions/explain/enhanced-transaction.ts';
import { programRole } from '../../../src/transactions/programs/known-programs.ts';
import type { Transaction } from '../../../src/transactions/records/transaction.ts';
import { isNumberAlone, isWithoutName } from '../../support/number-alone.ts';
import { type Finding, info } from '../findings.ts';

/** Most of a block's transactions, in percent, of which the gateway shows nothing, a tip alone, or what the program is for. */
const MOST_UNKNOWN = 1;
const MOST_TIPS_ALONE = 1.5;
const MOST_BY_ROLE = 0;
/** Most of a block's failures, in percent, whose number has no public name. */
const MOST_WITHOUT_NAME = 14;
/**
 * Most of a block's failures, in percent, of which nothing but the program's own number is known. The goal is 5: eight private
 * programs of the recorded block publish nothing that says what the numbers of 25 failures mean.
 */
const MOST_NUMBERS_ALONE = 6.5;
/** Most milliseconds of processor time for the enhanced view of the median transaction, and of any. */
const LONGEST_ORDINARY_MS = 1;
const LONGEST_MS = 20;
/** Fewer transactions than these make no share that a bound could hold for. */
const LEAST_TRANSACTIONS = 300;

interface Interpreted {
  readonly signature: string;
  readonly type: string;
  readonly isByRole: boolean;
  /** Whether a tip is all that is shown, while another program was called. */
  readonly isTipAlone: boolean;
  /** Why it failed; null if it did not. */
  readonly reason: string | null;
  readonly ms: number;
}

/** Interprets every transaction, and measures the time of each. */
export function interpretAll(transactions: readonly Transaction[]): readonly Interpreted[] {
  for (const transaction of transactions) enhanceTransaction(transaction); // compiled before it is measured
  return transactions.map((transaction) => {
    const parsed = parseTransaction(transaction);
    const interpreted = interpretTransaction(parsed);
    const isCalling = parsed.instructions.some(({ programId }) => programRole(programId) !== 'core');
    return {
      signature: parsed.signature,
      type: interpreted.type,
      isByRole: 'isByRole' in interpreted && interpreted.isByRole,
      isTipAlone:
        interpreted.type === 'TRANSFER' &&
        interpreted.payments.length === 0 &&
        interpreted.tips.length > 0 &&
        isCalling,
      reason: parsed.transactionError?.message ?? null,
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
export function findingsOf(interpreted: readonly Interpreted[]): readonly Finding[] {
  const isBlock = interpreted.length >= LEAST_TRANSACTIONS;
  const reasons = interpreted.flatMap(({ reason }) => reason ?? []);
  const share = (label: string, count: number, bound: number, total = interpreted.length): Finding => {
    const percent = (100 * count) / Math.max(1, total);
    const text = `${label} ${count} (${percent.toFixed(1)} %${isBlock ? `, at most ${bound}` : ''})`;
    return { text, isMet: !isBlock || percent <= bound };
  };
  const times = interpreted.map(({ ms }) => ms).sort((a, b) => a - b);
  const time = (label: string, ms: number, bound: number): Finding => ({
    text: `${label} ${ms.toFixed(2)} ms (at most ${bound})`,
    isMet: ms <= bound,
  });
  return [
    info('transactions', interpreted.length),
    share('UNKNOWN', interpreted.filter(({ type }) => type === 'UNKNOWN').length, MOST_UNKNOWN),
    share('a tip alone', interpreted.filter(({ isTipAlone }) => isTipAlone).length, MOST_TIPS_ALONE),
    share('by role alone', interpreted.filter(({ isByRole }) => isByRole).length, MOST_BY_ROLE),
    info('failures', reasons.length),
    share('no public name', reasons.filter(isWithoutName).length, MOST_WITHOUT_NAME, reasons.length),
    share('a number alone', reasons.filter(isNumberAlone).length, MOST_NUMBERS_ALONE, reasons.length),
    time('median', times[Math.floor(times.length / 2)] ?? 0, LONGEST_ORDINARY_MS),
    time('longest', times.at(-1) ?? 0, LONGEST_MS),
  ];
}

/** Returns how often a type became another one, most often first: `21 UNKNOWN -> ARBITRAGE`. */
export function confusionOf(
  interpreted: readonly Interpreted[],
  before: ReadonlyMap<string, string>,
): readonly string[] {
  const counts = new Map<string, number>();
  for (const { signature, type } of interpreted) {
    const former = before.get(signature.slice(0, SIGNATURE_LENGTH));
    if (former === undefined) continue;
    const change = `${former} -> ${type}`;
    counts.set(change, (counts.get(change) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([change, count]) => `${String(count).padStart(5)} ${change}`);
}

/** Characters of a signature by which the types of before are kept. */
export const SIGNATURE_LENGTH = 12;
