import { LRUCache } from 'lru-cache';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { compare } from '../../../shared/domain/compare.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Lease } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { promised, type Waiter } from '../../../shared/runtime/waiter.ts';
import { isByteBudgetSpent } from '../failsafe/byte-budget.ts';
import { CLOCK_SLOT_BYTES } from '../rpc/clock-slot.ts';
import { rpcFaultOf } from '../rpc/error-normalizer.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { parseAccountLamports } from './account-info.ts';
import type { ReadOptions } from './encoded-accounts.ts';
import { type AccountsAtSlot, acceptedBatchesOf, namesClock, readMultipleAccounts } from './multiple-accounts.ts';
import type { OverlappingReads } from './overlapping-reads.ts';
import { SharedCost } from './shared-cost.ts';

/** Form of an account: `lamports` leaves the data out, `parsed` has it as the node's parser returns it. */
export type AccountShape = 'lamports' | 'parsed';

export interface AccountQuery extends ReadOptions {
  readonly address: string;
  readonly shape: AccountShape;
  /** Whether to wait for a live account to reach that slot: it spares a read. Default: false. */
  readonly mayWait?: boolean;
  /** Request that the read is for. Default: work of the gateway itself. */
  readonly cost?: RequestCost | undefined;
  /** Whether an answer that fewer gave is of no use, so that nothing kept live can be it. Default: false. */
  readonly mustAgree?: boolean;
}

/** Query for an account as it lies in the node's memory. None of these is answered from what is kept live. */
export interface EncodedQuery extends Omit<AccountQuery, 'shape'> {
  readonly shape: 'base64';
}

export interface AccountRead {
  readonly slot: Slot;
  /** The operators that gave the account; undefined over one operator. */
  readonly agreement?: Agreement | undefined;
  /** First slot at which the account is known to hold. Default: {@link slot}. */
  readonly sinceSlot?: Slot;
  /** First slot at which the account is proven to hold: a node may have read it from a newer root. Default: unknown. */
  readonly provenFrom?: Slot | undefined;
  /** JSON of the node, or null when there is no account at that slot. */
  readonly account: Buffer | null;
  /** Lease that dates the account at later slots too. */
  readonly lease?: Lease | undefined;
  /** The balance before a change that was just notified: other parts of an answer may not have reached that slot yet. */
  readonly previous?: PreviousBalance | undefined;
}

/** An account that a node was just read for. */
export interface BatchedRead extends AccountRead, Pick<AccountsAtSlot, 'frame'> {}

/** A balance that has changed since: it holds up to the slot of its lease, which was revoked. */
export interface PreviousBalance {
  readonly sinceSlot: Slot;
  readonly lamports: bigint;
  readonly lease: Lease;
}

/** Query for the balances of different addresses, at most 99. */
export interface BalancesQuery extends ReadOptions, Pick<AccountQuery, 'cost' | 'mustAgree'> {
  readonly addresses: readonly string[];
}

export interface BalancesRead extends Pick<AccountRead, 'slot' | 'agreement' | 'provenFrom' | 'lease'> {
  /** Lamports in the order of the addresses; 0 where there is no account. */
  readonly lamports: readonly bigint[];
}

export interface AccountSource {
  /** Gives the account to its waiter, in the call in which it is there. */
  readTo(query: AccountQuery, waiter: Waiter<AccountRead>): void;
  read(query: AccountQuery): Promise<AccountRead>;
  readBalances(query: BalancesQuery): Promise<BalancesRead>;
}

/** Returns the encoding of a shape: of the data no more than the Clock's slot needs, where that is read. */
const encodingOf = (shape: BatchedQuery['shape'], commitment: Commitment): object =>
  shape !== 'lamports'
    ? { encoding: shape === 'parsed' ? 'jsonParsed' : 'base64' }
    : { encoding: 'base64', dataSlice: { offset: 0, length: namesClock(commitment) ? CLOCK_SLOT_BYTES : 0 } };

const configOf = (shape: BatchedQuery['shape'], commitment: Commitment, minContextSlot: Slot | undefined) => ({
  ...encodingOf(shape, commitment),
  commitment,
  ...(minContextSlot !== undefined && { minContextSlot }),
});

type BatchedQuery = AccountQuery | EncodedQuery;

interface PendingRead {
  readonly query: BatchedQuery;
  readonly waiter: Waiter<BatchedRead>;
}

/** What is left to the parts of a failed batch. */
interface SplitBounds {
  /** Monotonic time at which the last call must be answered. */
  readonly deadlineMs: number;
  /** Halvings that are left; then each read of a part that fails is made once, alone. */
  halvings: number;
}

/** Length of an account's JSON from which on it counts as large: a hundred of this length fit into one response. */
const LARGE_BYTES = 256 << 10;

const MAX_LARGE_ACCOUNTS = 10_000;

/** Milliseconds after a batch's failure in which its parts are read. */
const MAX_SPLIT_MS = 1000;

export interface AccountBatcherOptions {
  readonly clock: Clock;
  /** The time in milliseconds for which reads wait for others while a call is under way. Default: 0. */
  readonly gatherMs?: number;
  /** Compares operators by what calls have in common. Default: calls have nothing in common. */
  readonly overlapping?: OverlappingReads | undefined;
  tip(commitment: Commitment): Slot | undefined;
}

/**
 * Batches account reads: those of one event-loop turn become one call, and so hold at one slot. While another call is under way
 * they wait until its answers are sent, or for a moment, so that many callers make few calls (as Nagle's algorithm does, RFC 896).
 */
export class AccountBatcher implements AccountSource {
  readonly #rpc: RpcCaller;
  readonly #options: AccountBatcherOptions;
  /** Addresses of accounts that were large when they were read last: they are read alone, so as not to burden other reads. */
  readonly #largeAccounts = new LRUCache<string, true>(atMost(MAX_LARGE_ACCOUNTS));
  #pending: PendingRead[] = [];
  #callsUnderWay = 0;
  #cancelGathering: (() => void) | undefined;

  constructor(rpc: RpcCaller, options: AccountBatcherOptions) {
    this.#rpc = rpc;
    this.#options = options;
  }

  readTo(query: BatchedQuery, waiter: Waiter<BatchedRead>): void {
    if (this.#pending.push({ query, waiter }) > 1) return;
    const { clock, gatherMs = 0 } = this.#options;
    if (this.#callsUnderWay === 0 || gatherMs === 0) setImmediate(() => this.#flush());
    else this.#cancelGathering = clock.after(gatherMs, () => this.#flush());
  }

  read(query: BatchedQuery): Promise<BatchedRead> {
    return promised((waiter) => void this.readTo(query, waiter));
  }

  /** Reads balances in a call of their own: so they hold at one slot, and no other read's minimum slot fails them. */
  async readBalances({ addresses, commitment, minContextSlot, cost, agree }: BalancesQuery): Promise<BalancesRead> {
    const config = configOf('lamports', commitment, minContextSlot);
    if (cost !== undefined) cost.addresses += addresses.length;
    const read = await readMultipleAccounts(this.#rpc, addresses, config, { cost, agree });
    const { slot, provenFrom, accounts, agreement } = read;
    const lamports = addresses.map((address) => {
      const account = accounts.get(address);
      return account === undefined ? 0n : parseAccountLamports(account);
    });
    return { slot, provenFrom, agreement, lamports };
  }

  #flush(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = undefined;
    const groups = new Map<string, PendingRead[]>();
    for (const read of this.#pending) {
      const groupKey = this.#groupKeyOf(read.query);
      const group = groups.get(groupKey);
      if (group === undefined) groups.set(groupKey, [read]);
      else group.push(read);
    }
    this.#pending = [];
    for (const group of groups.values()) {
      const [first] = group;
      if (first === undefined) continue;
      for (const batch of acceptedBatchesOf(group, first.query.commitment)) void this.#readBatch(batch);
    }
  }

  /** Returns what the reads of one call have in common. What may fail or delay others is read without them. */
  #groupKeyOf({ address, commitment, shape, minContextSlot = 0, cost, agree = 1 }: BatchedQuery): string {
    const isAboveTip = minContextSlot > (this.#options.tip(commitment) ?? 0);
    const [payer, apart] = [cost === undefined ? 'gateway' : 'caller', isAboveTip ? minContextSlot : ''];
    return `${commitment}/${shape}/${agree}/${payer}/${apart}/${this.#isLarge(shape, address) ? address : ''}`;
  }

  #isLarge(shape: BatchedQuery['shape'], address: string): boolean {
    return shape !== 'lamports' && this.#largeAccounts.has(address);
  }

  #recordLength(shape: BatchedQuery['shape'], address: string, bytes: number): void {
    if (shape === 'lamports') return;
    if (bytes < LARGE_BYTES) this.#largeAccounts.delete(address);
    else this.#largeAccounts.set(address, true);
  }

  async #readBatch(batch: readonly PendingRead[], bounds?: SplitBounds): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    const { commitment, shape, agree = 1, address } = first.query;
    const addresses = [...new Set(batch.map(({ query }) => query.address))];
    const minContextSlot = Math.max(...batch.map(({ query }) => query.minContextSlot ?? -1));
    const config = configOf(shape, commitment, minContextSlot < 0 ? undefined : minContextSlot);
    const shared = new SharedCost(batch.map(({ query }) => query));
    const bytesBefore = shared.cost?.bytes ?? 0;
    const isLarge = this.#isLarge(shape, address); // then no other is in the batch
    const callOptions = { cost: shared.cost, deadlineMs: bounds?.deadlineMs, isLarge, agree };
    const mayOverlap = commitment === 'confirmed' && agree <= 1 && bounds === undefined && !isLarge;
    const overlapping = mayOverlap ? this.#options.overlapping : undefined;
    const named = overlapping?.withWitnessed(shape, addresses) ?? addresses;
    let read: AccountsAtSlot;
    this.#callsUnderWay++;
    try {
      read = await readMultipleAccounts(this.#rpc, named, config, callOptions).finally(() => this.#onCallEnded());
      overlapping?.observe(shape, named, config, read); // throws for what is no account
    } catch (thrown) {
      const hasMuch = (shared.cost?.bytes ?? 0) - bytesBefore >= LARGE_BYTES; // though it was not whole in time
      const isLong = hasMuch || GatewayError.from(thrown).code === 'result_too_large';
      shared.onFailed();
      if (batch.length === 1 && isLong) this.#recordLength(shape, address, Number.POSITIVE_INFINITY);
      this.#splitOrReject(batch, thrown, bounds);
      return;
    }
    const { slot, provenFrom, accounts, agreement, frame } = read;
    const lengthOf = (address: string): number => accounts.get(address)?.length ?? 0;
    shared.onAnswered(({ address }) => lengthOf(address));
    for (const address of addresses) this.#recordLength(shape, address, lengthOf(address));
    for (const { query, waiter } of batch)
      waiter.resolve({ slot, provenFrom, agreement, account: accounts.get(query.address) ?? null, frame });
  }

  /** Reads what has waited for a call, together with the next requests of those whom that call has answered. */
  #onCallEnded(): void {
    this.#callsUnderWay--;
    if (this.#callsUnderWay > 0 || this.#cancelGathering === undefined) return;
    this.#cancelGathering();
    this.#cancelGathering = undefined;
    setImmediate(() => setImmediate(() => this.#flush())); // the answers are sent, then requests are received
  }

  /**
   * Rejects the reads of a failed batch, or reads them in parts: the minimum slot, the size or the time of one read must
   * not fail the others. A batch of n causes at most n + 2 log2(n) further calls, until {@link MAX_SPLIT_MS} later.
   */
  #splitOrReject(batch: readonly PendingRead[], reason: unknown, bounds?: SplitBounds): void {
    const nowMs = this.#options.clock.monotonic();
    const left = bounds ?? { deadlineMs: nowMs + MAX_SPLIT_MS, halvings: Math.ceil(Math.log2(batch.length)) };
    if (batch.length === 1 || nowMs >= left.deadlineMs || !mayBeOfOneRead(GatewayError.from(reason), batch)) {
      for (const { waiter } of batch) waiter.reject(reason);
      return;
    }
    const sorted = batch.toSorted(
      ({ query: a }, { query: b }) =>
        (a.minContextSlot ?? 0) - (b.minContextSlot ?? 0) || compare(a.cost?.caller ?? '', b.cost?.caller ?? ''),
    );
    const partLength = left.halvings-- > 0 ? Math.ceil(sorted.length / 2) : 1;
    for (let i = 0; i < sorted.length; i += partLength) void this.#readBatch(sorted.slice(i, i + partLength), left);
  }
}

/** Returns true if one read may have made a batch fail: without it the others may succeed. */
function mayBeOfOneRead(error: GatewayError, batch: readonly PendingRead[]): boolean {
  return error.rpcCode === RPC_ERROR_CODE.minContextSlotNotReached
    ? new Set(batch.map(({ query: { minContextSlot = 0 } }) => minContextSlot)).size > 1
    : mayBeOfOneAccount(error);
}

/** Returns true if one account may have made a read of several fail, whatever slot it needs. */
export function mayBeOfOneAccount(error: GatewayError): boolean {
  switch (error.code) {
    case 'upstream_error':
    case 'upstream_timeout':
    case 'result_too_large':
      return true;
    case 'overloaded':
      return isByteBudgetSpent(error);
    case 'rpc_error':
      // Some providers have codes of their own for a response that is too large, or for an account that they bar.
      return error.status === 502 || rpcFaultOf(error) === 'caller';
    default:
      return false;
  }
}
