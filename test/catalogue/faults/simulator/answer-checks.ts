import type { Entry } from '../../../../src/gateway/cache/entry.ts';
import { tokenOwner } from '../../../support/token-account-fixtures.ts';
import type { SimulatedLedger } from './simulated-ledger.ts';
import { accountsAt, nameAt } from './simulated-token-accounts.ts';

/** What the answers of a schedule were, and how many of them the ledger contradicts. */
export interface AnswerCounts {
  /** Balances from live accounts, at a slot beyond that of their last read. */
  readonly advanced: number;
  /** Answers with several balances that are live, at a slot beyond that of the last change of each. */
  readonly advancedBatches: number;
  /** Live token lists. Each is checked; other lists do not claim to be complete at one slot. */
  readonly liveLists: number;
  /** Answers that the ledger contradicts. */
  readonly falseAnswers: number;
  /** Answers with several balances among them. */
  readonly falseBatches: number;
  /** Token lists among them. */
  readonly falseLists: number;
  /** Live portfolios, each of them checked. */
  readonly livePortfolios: number;
  /** Portfolios among the false answers. */
  readonly falsePortfolios: number;
  /** Names of the mint that they showed. */
  readonly names: number;
}

/** Compares answers with the ledger at their slots. */
export class AnswerChecks {
  readonly #ledger: SimulatedLedger;
  readonly #names = new Set<string>();
  readonly #counts = {
    ...{ advanced: 0, advancedBatches: 0, liveLists: 0, livePortfolios: 0 },
    ...{ falseBalances: 0, falseBatches: 0, falseLists: 0, falsePortfolios: 0 },
  };

  constructor(ledger: SimulatedLedger) {
    this.#ledger = ledger;
  }

  get counts(): AnswerCounts {
    const { falseBalances, ...counts } = this.#counts;
    const { falseBatches, falseLists, falsePortfolios } = counts;
    const falseAnswers = falseBalances + falseBatches + falseLists + falsePortfolios;
    return { ...counts, falseAnswers, names: this.#names.size };
  }

  balance({ slot, result, lease }: Entry, address: string): void {
    if (lease !== undefined && slot > this.#ledger.lastChangeSlot(address, slot)) this.#counts.advanced++;
    if (JSON.parse(result.toString()).lamports !== this.#ledger.balance(address, slot)) this.#counts.falseBalances++;
  }

  batch({ slot, result, lease }: Entry): void {
    const rows: { address: string; lamports: number }[] = JSON.parse(result.toString());
    if (lease !== undefined && rows.every(({ address }) => slot > this.#ledger.lastChangeSlot(address, slot)))
      this.#counts.advancedBatches++;
    if (!rows.every(({ address, lamports }) => lamports === this.#ledger.balance(address, slot)))
      this.#counts.falseBatches++;
  }

  list({ slot, result, lease }: Entry, owner: string): void {
    if (lease === undefined) return;
    this.#counts.liveLists++;
    const rows: { address: string; tokenAmount: { amount: string } }[] = JSON.parse(result.toString());
    const listed = rows.map(({ address, tokenAmount }) => `${address} ${tokenAmount.amount}`).sort();
    const held = [...accountsAt(this.#ledger, slot)].filter(([, account]) => tokenOwner(account) === owner);
    const recorded = held.map(([address, { lamports }]) => `${address} ${lamports}`).sort();
    if (listed.join() !== recorded.join()) this.#counts.falseLists++;
  }

  portfolio({ slot, result, lease }: Entry, owner: string): void {
    if (lease === undefined) return;
    this.#counts.livePortfolios++;
    const items: { asset: string; amount: string; accounts: number; name: string }[] = JSON.parse(
      result.toString(),
    ).items;
    const shown = items.map((item) => `${item.asset} ${item.amount} ${item.accounts} ${item.name}`);
    const held = [...accountsAt(this.#ledger, slot).values()].filter((account) => tokenOwner(account) === owner);
    const amount = held.reduce((sum, { lamports }) => sum + lamports, 0n);
    const lamports = this.#ledger.balance(owner, slot);
    const recorded = [
      ...(lamports === 0 ? [] : [`SOL ${lamports} 1 Solana`]),
      ...(held.length === 0 ? [] : [`token ${amount} ${held.length} ${nameAt(this.#ledger, slot)}`]),
    ];
    for (const { asset, name } of items) if (asset === 'token') this.#names.add(name);
    if (shown.join() !== recorded.join()) this.#counts.falsePortfolios++;
  }
}
