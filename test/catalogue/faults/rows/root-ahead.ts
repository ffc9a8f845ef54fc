import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { addressOfNumber } from '../../../support/address-of-number.ts';
import type { JsonAt } from '../../../support/answer-json.ts';
import { GatewayProcess, upstreamOnPort } from '../../../support/gateway-process.ts';
import { GENESIS } from '../../../support/scripted-node.ts';
import { expect, expectNone, expectSome, info, type Row } from '../../findings.ts';
import { FormulaChain } from '../formula-chain/formula-chain.ts';
import { FormulaNodeProcess } from '../formula-chain/formula-node-process.ts';

const ROOT_AHEAD_EVERY = 10;
const READERS = 16;
/** Accounts that are read all the time, and so kept live. */
const HOT = Array.from({ length: 40 }, (_, i) => addressOfNumber(i));
/** Balances of one request. */
const BATCH = 10;
const SETTINGS = ['limits.free.inFlight=10000', 'limits.inFlight=10000', 'limits.loopDelayMs=60000'];

interface Balance {
  readonly address: string;
  readonly lamports: number;
}

/** Finalized answers of a node whose newest root is ahead of the slot that it reports (https://github.com/anza-xyz/agave/pull/11666). */
export const rootAhead: Row = {
  id: 'root-ahead',
  title: `one of ${ROOT_AHEAD_EVERY} finalized reads and notified slots has accounts of a newer root`,
  async run({ isFull, main }) {
    const parameters = {
      genesis: GENESIS,
      originMs: Date.now() - 60_000,
      slotMs: 150,
      maxUnchangedSlots: 40,
    };
    const chain = new FormulaChain(parameters);
    const node = await FormulaNodeProcess.start(parameters);
    const gateway = await GatewayProcess.start([upstreamOnPort(node)], { main, set: SETTINGS });
    await sleep(1500); // until slots above the first finalized one may be `exact`
    const callsBefore = (await node.send({ rootAheadEvery: ROOT_AHEAD_EVERY }))['getMultipleAccounts'] ?? 0;
    const load = new FinalizedReads(gateway.url, chain);
    const wanted = isFull ? 10_000 : 2000;
    await load.run(wanted);
    const calls = ((await node.send({}))['getMultipleAccounts'] ?? 0) - callsBefore;
    await gateway.close();
    await node.kill();
    const { cold, hot } = load;
    return [
      info('answers read from the node', cold.answers),
      info('of hot accounts', hot.answers),
      expectNone('failed', load.failed),
      expectSome('exact of the former', cold.exact),
      expectSome('exact of the latter', hot.exact),
      expectNone('false exact ones', cold.falseExact + hot.falseExact),
      expectSome('observed ones of a newer root', cold.falseObserved),
      expect(`${calls} calls, at most one for an answer that is read`, calls <= cold.answers + hot.answers),
    ];
  },
};

class ClaimCounts {
  answers = 0;
  exact = 0;
  falseExact = 0;
  falseObserved = 0;
}

/** Reads finalized balances and compares each with the chain at the slot of its answer. */
class FinalizedReads {
  readonly cold = new ClaimCounts();
  readonly hot = new ClaimCounts();
  failed = 0;
  readonly #chain: FormulaChain;
  readonly #pool: Pool;
  #sent = 0;

  constructor(url: string, chain: FormulaChain) {
    this.#chain = chain;
    this.#pool = new Pool(url, { connections: READERS });
  }

  /** Makes `wanted` reads of accounts that were never read before, and the same number of hot ones. */
  async run(wanted: number): Promise<void> {
    let addresses = HOT.length;
    const fresh = (): string => addressOfNumber(addresses++);
    const read = async (): Promise<void> => {
      while (this.#sent++ < wanted) {
        const isBatch = this.#sent % 4 === 0;
        await this.#read(Array.from({ length: isBatch ? BATCH : 1 }, fresh), this.cold);
        const first = this.#sent % (HOT.length - BATCH);
        await this.#read(HOT.slice(first, first + (isBatch ? BATCH : 1)), this.hot);
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
    await this.#pool.destroy();
  }

  async #read(addresses: readonly string[], counts: ClaimCounts): Promise<void> {
    const [first = ''] = addresses;
    const path = addresses.length === 1 ? `/balance/${first}?` : `/balances?addresses=${addresses.join('%2C')}&`;
    const { statusCode, body } = await this.#pool.request({
      method: 'GET',
      path: `/api/v1${path}commitment=finalized`,
    });
    const { slot, result, receipt } = (await body.json()) as JsonAt<'/balances'>;
    if (statusCode !== 200) {
      this.failed++;
      return;
    }
    const balances: readonly Balance[] =
      addresses.length === 1 ? [{ address: first, lamports: (result as unknown as Balance).lamports }] : result;
    const isFalse = balances.some(({ address, lamports }) => lamports !== this.#chain.lamports(address, slot));
    const isExact = receipt.claim.startsWith('exact');
    counts.answers++;
    if (isExact) counts.exact++;
    if (isFalse && isExact) counts.falseExact++;
    else if (isFalse) counts.falseObserved++;
  }
}
