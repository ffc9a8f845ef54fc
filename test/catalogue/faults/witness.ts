import { verifyReceipt } from '../../../src/receipts/verify/verify-receipt.ts';
import { SECRET } from '../../support/scripted-node.ts';
import type { FormulaChain } from './formula-chain/formula-chain.ts';
import type { Tally } from './tally.ts';

export interface WitnessOptions {
  readonly publicKey: string;
  readonly chain: FormulaChain;
  /** Of so many answers one has its receipt verified. */
  readonly verifyEvery: number;
}

/** An answer, and what it answers. */
export interface Said {
  readonly path: string;
  /** The newest slot that had been given for this path when it was asked for. */
  readonly floor: number;
  readonly status: number;
  readonly text: string;
}

/** A slot is called one of the future when it is so many ahead of the clock. */
const AHEAD_SLOTS = 1;

/** Holds each answer of a gateway against the chain, against those before it and against its receipt. */
export class Witness {
  readonly #options: WitnessOptions;
  /** The newest slot that was given for each path. */
  readonly #newest = new Map<string, number>();

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** The newest slot that was given for a path. What is asked for from now on must not be older. */
  newest = (path: string): number => this.#newest.get(path) ?? 0;

  /** Adds what is to be said of an answer to `tally`, and gives its slot if it has one. */
  judge({ path, floor, status, text }: Said, tally: Tally): number | undefined {
    if (text.includes(SECRET)) tally.accuse('leaked', text);
    if (status !== 200) {
      tally.fail(`${status} ${/"error":"(\w+)"/.exec(text)?.[1]}`);
      return undefined;
    }
    tally.answered++;
    const { slot, result }: { slot: number; result: any } = JSON.parse(text);
    if (slot < floor) tally.accuse('regressed', `${path} ${floor} -> ${slot}`);
    this.#newest.set(path, Math.max(slot, this.newest(path)));
    const { chain, verifyEvery } = this.#options;
    const address = /^\/balance\/(\w+)/.exec(path)?.[1];
    const isFuture = slot > chain.processedAt(Date.now()) + AHEAD_SLOTS;
    const isFalse = address !== undefined && result.lamports !== chain.lamports(address, slot);
    if (isFuture || isFalse) tally.accuse('wrong', text);
    if (tally.answered % verifyEvery === 0) this.#verify(path, text, tally);
    return slot;
  }

  #verify(path: string, text: string, tally: Tally): void {
    const { chain, publicKey } = this.#options;
    try {
      verifyReceipt(text, {
        publicKeys: [publicKey],
        cluster: chain.plan.genesis,
        request: `GET /api/v1${path}`,
        time: { nowMs: Date.now(), maxAgeMs: 60_000 },
      });
      tally.verified++;
    } catch (thrown) {
      tally.accuse('wrong', `${thrown} ${text}`);
    }
  }
}
