import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Lease } from '../../domain/lease.ts';
import { RequestCost } from '../../domain/request-cost.ts';
import type { Slot } from '../../domain/slot.ts';
import { callsForRequest } from '../rpc/calls-for-request.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { parseAccountLamports } from './account-info.ts';
import type { ReadOptions } from './encoded-accounts.ts';
import { batchesOf, readMultipleAccounts } from './multiple-accounts.ts';

/** Form of an account: `lamports` leaves the data out, `parsed` has it as the node's parser returns it. */
export type AccountShape = 'lamports' | 'parsed';

export interface AccountQuery {
  readonly address: string;
  readonly shape: AccountShape;
  readonly commitment: Commitment;
  /** Oldest slot of the answer. */
  readonly minContextSlot: Slot | undefined;
  /** The request that the read counts for. */
  readonly cost?: RequestCost | undefined;
}

export interface AccountRead {
  readonly slot: Slot;
  /** First slot at which the account is known to hold. Default: {@link slot}. */
  readonly sinceSlot?: Slot;
  /** JSON of the node, or null when there is no account at that slot. */
  readonly account: Buffer | null;
  /** Lease that dates the account at later slots too. */
  readonly lease?: Lease | undefined;
  /** The balance before a change that was just notified: other parts of an answer may not have reached that slot yet. */
  readonly previous?: PreviousBalance | undefined;
}

/** A balance that has changed since: it holds up to the slot of its lease, which was revoked. */
export interface PreviousBalance {
  readonly sinceSlot: Slot;
  readonly lamports: bigint;
  readonly lease: Lease;
}

/** Query for the balances of different addresses, at most 100. */
export interface BalancesQuery extends ReadOptions {
  readonly addresses: readonly string[];
  /** The request that the read counts for. */
  readonly cost?: RequestCost | undefined;
}

/** Balances that hold together at one slot. */
export interface BalancesRead {
  readonly slot: Slot;
  /** Lamports in the order of the addresses; 0 where there is no account. */
  readonly lamports: readonly bigint[];
  /** Lease that dates all of them at later slots too. */
  readonly lease?: Lease | undefined;
}

/** Source of accounts. */
export interface AccountSource {
  read(query: AccountQuery): Promise<AccountRead>;
  readBalances(query: BalancesQuery): Promise<BalancesRead>;
}

const CONFIG_OF_SHAPE: Readonly<Record<AccountShape, object>> = {
  lamports: { encoding: 'base64', dataSlice: { offset: 0, length: 0 } },
  parsed: { encoding: 'jsonParsed' },
};

const configOf = (shape: AccountShape, commitment: Commitment, minContextSlot: Slot | undefined) => ({
  ...CONFIG_OF_SHAPE[shape],
  commitment,
  ...(minContextSlot !== undefined && { minContextSlot }),
});

interface PendingQuery extends AccountQuery {
  resolve(reading: AccountRead): void;
  reject(reason: unknown): void;
}

/** Batches account reads: those of one event-loop turn become one call, and so hold at one slot. */
export class AccountBatcher implements AccountSource {
  readonly #rpc: RpcCaller;
  #pending: PendingQuery[] = [];

  constructor(rpc: RpcCaller) {
    this.#rpc = rpc;
  }

  read(query: AccountQuery): Promise<AccountRead> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setImmediate(() => this.#flush());
      this.#pending.push({ ...query, resolve, reject });
    });
  }

  /** Reads balances in a call of their own: so they hold at one slot, and no other read's minimum slot fails them. */
  async readBalances({ addresses, commitment, minContextSlot, cost }: BalancesQuery): Promise<BalancesRead> {
    const config = configOf('lamports', commitment, minContextSlot);
    const { slot, accounts } = await readMultipleAccounts(callsForRequest(this.#rpc, cost), addresses, config);
    const lamports = addresses.map((address) => {
      const account = accounts.get(address);
      return account === undefined ? 0n : parseAccountLamports(account);
    });
    return { slot, lamports };
  }

  #flush(): void {
    const groups = new Map<string, PendingQuery[]>();
    for (const query of this.#pending) {
      const payer = query.cost === undefined ? 'gateway' : 'request'; // reads of the gateway itself have room of their own
      const groupKey = `${query.commitment}/${query.shape}/${payer}`;
      const group = groups.get(groupKey);
      if (group === undefined) groups.set(groupKey, [query]);
      else group.push(query);
    }
    this.#pending = [];
    for (const group of groups.values()) {
      for (const batch of batchesOf(group)) void this.#readBatch(batch);
    }
  }

  async #readBatch(batch: readonly PendingQuery[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    const { commitment, shape } = first;
    const addresses = [...new Set(batch.map(({ address }) => address))];
    const minContextSlots = batch.flatMap(({ minContextSlot }) => minContextSlot ?? []);
    const config = configOf(shape, commitment, minContextSlots.length > 0 ? Math.max(...minContextSlots) : undefined);
    const cost = sharedCost(batch);
    try {
      const { slot, accounts } = await readMultipleAccounts(
        callsForRequest(this.#rpc, cost),
        addresses,
        config,
      ).finally(() => divideCost(cost, batch));
      for (const { address, resolve } of batch) resolve({ slot, account: accounts.get(address) ?? null });
    } catch (reason) {
      this.#splitOrReject(batch, reason);
    }
  }

  /** Rejects a failed batch, or splits it: one account too large for a response must not fail the others. */
  #splitOrReject(batch: readonly PendingQuery[], reason: unknown): void {
    const half = Math.ceil(batch.length / 2);
    if (batch.length > 1 && GatewayError.from(reason).code === 'upstream_error') {
      void this.#readBatch(batch.slice(0, half));
      void this.#readBatch(batch.slice(half));
    } else for (const { reject } of batch) reject(reason);
  }
}

/** Returns the cost of a batch: that of its request, a new one if it has several, undefined for the gateway itself. */
function sharedCost([first, ...others]: readonly AccountQuery[]): RequestCost | undefined {
  if (first?.cost === undefined || others.every(({ cost }) => cost === first.cost)) return first?.cost;
  return new RequestCost(first.cost.caller, first.cost.hasPriority);
}

/** Charges each request of a batch with its calls, and with its bytes by the number of accounts that it asked for. */
function divideCost(shared: RequestCost | undefined, batch: readonly AccountQuery[]): void {
  if (shared === undefined || batch[0]?.cost === shared) return;
  const { calls, bytes } = shared;
  for (const cost of new Set(batch.map(({ cost }) => cost))) if (cost !== undefined) cost.calls += calls;
  for (const { cost } of batch) if (cost !== undefined) cost.bytes += Math.ceil(bytes / batch.length);
}
