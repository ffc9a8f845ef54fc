import { setTimeout as sleep } from 'node:timers/promises';
import { RPC_ERROR_CODE } from '../../src/upstream/rpc/rpc-error-code.ts';
import { RpcRefusal, requestNode } from './funded-wallet.ts';

/** A node may have no block yet of a slot that it has called final already, or not know yet whether there is one. */
const NOT_AVAILABLE_YET: ReadonlySet<number> = new Set([
  RPC_ERROR_CODE.blockNotAvailable,
  RPC_ERROR_CODE.blockStatusNotAvailableYet,
]);

/** What a transaction has left of an account. */
interface State {
  readonly slot: number;
  readonly lamports: number;
  /** Undefined of an account that holds no tokens. */
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

/** A token account, as blocks record it. */
export interface RecordedTokenAccount {
  readonly address: string;
  readonly mint: string;
  readonly amount: string;
  readonly lamports: number;
}

/** What the blocks themselves record of accounts that there were none of before: a node forgets its blocks after a while. */
export class BlockLedger {
  readonly #url: string;
  readonly #states = new Map<string, State[]>();
  #through: number;
  /** The newest block that was read. */
  #newestBlock: number | undefined;

  /** Nothing of interest may have happened up to slot `from`. */
  constructor(url: string, from: number) {
    this.#url = url;
    this.#through = from;
  }

  /** All is known up to this slot. */
  get completeThrough(): number {
    return this.#through;
  }

  /** Reads the blocks that have become final. */
  async readNewBlocks(): Promise<void> {
    const newest = await requestNode<number>(this.#url, 'getSlot', [{ commitment: 'finalized' }]);
    if (newest <= this.#through) return;
    const config = { transactionDetails: 'accounts', rewards: false, maxSupportedTransactionVersion: 1 };
    try {
      for (const slot of await requestNode<number[]>(this.#url, 'getBlocks', [this.#through + 1, newest])) {
        const block = await requestNode<Block>(this.#url, 'getBlock', [slot, config]);
        // A late node leaves out of its list what it has not written down yet, and lists it the next time.
        if (this.#newestBlock !== undefined && block.parentSlot !== this.#newestBlock) return;
        this.#record(slot, block);
        this.#newestBlock = this.#through = slot;
      }
    } catch (thrown) {
      if (!(thrown instanceof RpcRefusal) || !NOT_AVAILABLE_YET.has(thrown.code)) throw thrown; // else it comes in a moment
    }
  }

  /** Follows until all is known up to a slot. */
  async readThrough(slot: number): Promise<void> {
    for (; this.#through < slot; await sleep(500)) await this.readNewBlocks();
  }

  /** The balance after `slot`. */
  balance(account: string, slot: number): number {
    return this.#at(account, slot)?.lamports ?? 0;
  }

  /** All token accounts of an owner after `slot`, by address. */
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
