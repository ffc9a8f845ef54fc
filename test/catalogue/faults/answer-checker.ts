import { verifyReceipt } from '../../../src/receipts/verify/verify-receipt.ts';
import { SECRET } from '../../support/scripted-node.ts';
import type { FormulaChain } from './formula-chain/formula-chain.ts';
import type { Tally } from './tally.ts';

export interface AnswerCheckerOptions {
  readonly publicKey: string;
  readonly chain: FormulaChain;
  /** One in this many answers has its receipt verified. */
  readonly verifyEvery: number;
}

/** An answer and its request. */
export interface ReceivedAnswer {
  readonly path: string;
  /** Newest slot returned for this path before the request was sent. */
  readonly floor: number;
  readonly status: number;
  readonly text: string;
}

/** Slots that an answer may be ahead of the clock. */
const MAX_AHEAD_SLOTS = 1;

/** Checks each answer against the chain, earlier answers and its receipt. */
export class AnswerChecker {
  readonly #options: AnswerCheckerOptions;
  /** Newest slot returned for each path. */
  readonly #newestSlots = new Map<string, number>();

  constructor(options: AnswerCheckerOptions) {
    this.#options = options;
  }

  /** Returns the newest slot returned for a path: a later request must not get an older one. */
  newestSlotOf = (path: string): number => this.#newestSlots.get(path) ?? 0;

  /** Records the findings on an answer in `tally`; returns its slot if it has one. */
  check({ path, floor, status, text }: ReceivedAnswer, tally: Tally): number | undefined {
    if (text.includes(SECRET)) tally.recordViolation('leaked', text);
    if (status !== 200) {
      tally.recordFailure(`${status} ${/"error":"(\w+)"/.exec(text)?.[1]}`);
      return undefined;
    }
    tally.answered++;
    const { slot, result }: { slot: number; result: any } = JSON.parse(text);
    if (slot < floor) tally.recordViolation('regressed', `${path} ${floor} -> ${slot}`);
    this.#newestSlots.set(path, Math.max(slot, this.newestSlotOf(path)));
    const { chain, verifyEvery } = this.#options;
    const isFuture = slot > chain.processedSlotAt(Date.now()) + MAX_AHEAD_SLOTS;
    const isFalse = statedBalances(path, result).some(
      ({ address, lamports }) => lamports !== chain.lamports(address, slot),
    );
    if (isFuture || isFalse) tally.recordViolation('wrong', text);
    if (tally.answered % verifyEvery === 0) this.#verify(path, text, tally);
    return slot;
  }

  #verify(path: string, text: string, tally: Tally): void {
    const { chain, publicKey } = this.#options;
    try {
      verifyReceipt(text, {
        publicKeys: [publicKey],
        cluster: chain.parameters.genesis,
        request: `GET /api/v1${path}`,
        time: { nowMs: Date.now(), maxAgeMs: 60_000 },
      });
      tally.verified++;
    } catch (thrown) {
      tally.recordViolation('wrong', `${thrown} ${text}`);
    }
  }
}

/** Returns the balances that an answer states. */
function statedBalances(path: string, result: any): readonly { address: string; lamports: number }[] {
  if (path.startsWith('/balances?')) return result;
  const address = /^\/balance\/(\w+)/.exec(path)?.[1];
  return address === undefined ? [] : [{ address, lamports: result.lamports }];
}
