import { setTimeout as sleep } from 'node:timers/promises';
import { RPC_ERROR_CODE } from '../../src/gateway/upstream/rpc/rpc-error-code.ts';
import { rpcRequest } from '../support/rpc-request.ts';

/** Error codes of a node that has no block yet for a slot that it reports as final. */
const NOT_AVAILABLE_YET: ReadonlySet<number> = new Set([
  RPC_ERROR_CODE.blockNotAvailable,
  RPC_ERROR_CODE.blockStatusNotAvailableYet,
]);

interface State {
  readonly slot: number;
  readonly lamports: number;
  /** Token state; undefined if the account holds no tokens. */
  readonly tokens: { readonly owner: string; readonly mint: string; readonly amount: string } | undefined;
}

interface Block {
  readonly parentSlot: number;
  readonly transactions: readonly {
    readonly transaction: { readonly accountKeys: readonly { readonly pubkey: string }[] };
    readonly meta: {
      readonly postBalances: readonly number[];
      readonly postTokenBalances: readonly {
        readonly accountIndex: number;
        readonly mint: string;
        readonly owner: string;
        readonly uiTokenAmount: { readonly amount: string };
      }[];
    };
  }[];
}

/** A token account as blocks record it. */
export interface RecordedTokenAccount {
  readonly address: string;
  readonly mint: string;
  readonly amount: string;
  readonly lamports: number;
}

/** States of new accounts as the blocks record them, kept here since a node drops its blocks after a while. */
export class BlockLedger {
  readonly #url: string;
  readonly #states = new Map<string, State[]>();
  #through: number;
  #newestBlock: number | undefined;

  /** Creates a ledger. The accounts of interest must not exist up to slot `from`. */
  constructor(url: string, from: number) {
    this.#url = url;
    this.#through = from;
  }

  /** Slot up to which the ledger is complete. */
  get completeThrough(): number {
    return this.#through;
  }

  async readNewBlocks(): Promise<void> {
    const newest = await rpcRequest<number>(this.#url, 'getSlot', [{ commitment: 'finalized' }]);
    if (newest <= this.#through) return;
    const config = { transactionDetails: 'accounts', rewards: false, maxSupportedTransactionVersion: 1 };
    try {
      for (const slot of await rpcRequest<number[]>(this.#url, 'getBlocks', [this.#through + 1, newest])) {
        const block = await rpcRequest<Block>(this.#url, 'getBlock', [slot, config]);
        // A lagging node omits blocks from its list that it has not stored yet, and lists them later.
        if (this.#newestBlock !== undefined && block.parentSlot !== this.#newestBlock) return;
        this.#record(slot, block);
        this.#newestBlock = this.#through = slot;
      }
    } catch (thrown) {
      if (!NOT_AVAILABLE_YET.has(Number(Object(thrown).code))) throw thrown; // otherwise it is available soon
    }
  }

  /** Reads blocks until the ledger is complete up to a slot. */
  async readThrough(slot: number): Promise<void> {
    for (; this.#through < slot; await sleep(500)) await this.readNewBlocks();
  }

  balance(account: string, slot: number): number {
    return this.#at(account, slot)?.lamports ?? 0;
  }

  /** Returns the token accounts of an owner after `slot`, by address. */
  tokens(owner: string, slot: number): readonly RecordedTokenAccount[] {
    return [...this.#states.keys()].sort().flatMap((address) => {
      const { lamports = 0, tokens } = this.#at(address, slot) ?? {};
      return tokens?.owner === owner ? [{ address, mint: tokens.mint, amount: tokens.amount, lamports }] : [];
    });
  }

  #at(account: string, slot: number): State | undefined {
    return this.#states.get(account)?.findLast((state) => state.slot <= slot);
  }

  #record(slot: number, { transactions }: Block): void {
    for (const { transaction, meta } of transactions) {
      transaction.accountKeys.forEach(({ pubkey }, i) => {
        const found = meta.postTokenBalances.find(({ accountIndex }) => accountIndex === i);
        const tokens = found && { owner: found.owner, mint: found.mint, amount: found.uiTokenAmount.amount };
        const states = this.#states.get(pubkey) ?? [];
        this.#states.set(pubkey, states);
        states.push({ slot, lamports: meta.postBalances[i] ?? 0, tokens });
      });
    }
  }
}
