import { createHash } from 'node:crypto';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { batchesOf } from '../../../shared/runtime/map-in-chunks.ts';
import { canonicalJsonYielding, elementsYielding, isNull, pickMembers } from '../json/raw-json.ts';
import { provenByClock } from '../rpc/clock-slot.ts';
import type { Facts } from '../rpc/facts.ts';
import type { CallOptions, ConsensusData, RpcCaller, RpcResponse } from '../rpc/rpc-response.ts';
import { elementsOf, factsOfAccount } from './account-facts.ts';

/** Most addresses that a node accepts in one getMultipleAccounts (Solana RPC). */
export const MAX_ADDRESSES = 100;

/** Splits a list into batches that a node accepts: at finalized with the Clock, which {@link readMultipleAccounts} adds. */
export const acceptedBatchesOf = <T>(items: readonly T[], commitment: Commitment): T[][] =>
  batchesOf(items, namesClock(commitment) ? MAX_ADDRESSES - 1 : MAX_ADDRESSES);

/** Returns true where reads name the Clock, which shows if accounts are newer than their slot. Only these are `exact`. */
export const namesClock = (commitment: Commitment): boolean => commitment === 'finalized';

export interface AccountsConfig {
  readonly commitment: Commitment;
  readonly [option: string]: unknown;
}

export interface AccountsAtSlot {
  readonly slot: Slot;
  /** The node that has answered; undefined where none is named. */
  readonly nodeId: string | undefined;
  /** First slot at which they are proven to hold; undefined where no Clock is read. */
  readonly provenFrom: Slot | undefined;
  readonly accounts: ReadonlyMap<string, Buffer>;
  readonly bytes: number;
  /** The bytes of the node's result before its values, and those behind them. */
  readonly frame: readonly [before: Buffer, after: Buffer];
  /** The operators that gave the same; undefined over one operator. */
  readonly agreement: Agreement | undefined;
}

export interface AccountsCallOptions extends Pick<CallOptions, 'cost' | 'deadlineMs' | 'isLarge'> {
  /** Operators that must give the same. Default: 1. */
  readonly agree?: number | undefined;
}

/**
 * Reads a batch of different accounts at one slot. At finalized the last address is the Clock: a node loads one address
 * after the other, so the Clock shows the newest slot that those before it may be of.
 */
export async function readMultipleAccounts(
  rpc: RpcCaller,
  addresses: readonly string[],
  config: AccountsConfig,
  { agree = 1, ...options }: AccountsCallOptions = {},
): Promise<AccountsAtSlot> {
  const { commitment } = config;
  const isDated = namesClock(commitment);
  const named = isDated ? [...addresses.filter((address) => address !== CLOCK_SYSVAR), CLOCK_SYSVAR] : addresses;
  const form = { isDated, isParsed: config['encoding'] === 'jsonParsed', isTentative: commitment === 'processed' };
  const compare = (response: RpcResponse): Promise<ConsensusData> => compareAccounts(response, form);
  const callOptions = { commitment, ...options, agree: { count: agree, compare } };
  const { slot, nodeId, result, value, agreement } = await rpc.call(
    'getMultipleAccounts',
    [named, config],
    callOptions,
  );
  const found = await elementsYielding(value, named.length);
  if (found.length !== named.length)
    throw new GatewayError('upstream_error', 'a node returned a wrong number of accounts');
  const accounts = new Map<string, Buffer>();
  for (const [i, account] of found.entries()) if (!isNull(account)) accounts.set(named[i] ?? '', account);
  const provenFrom = isDated ? provenByClock(slot, accounts.get(CLOCK_SYSVAR)) : undefined;
  const start = value.byteOffset - result.byteOffset;
  const frame = [result.subarray(0, start), result.subarray(start + value.length)] as const;
  return { slot, nodeId, provenFrom, accounts, bytes: value.length, frame, agreement };
}

/** What a batch of accounts was read with, as far as it decides what is compared. */
interface ComparedForm {
  readonly isDated: boolean;
  readonly isParsed: boolean;
  /** Whether another fork may show the same slot otherwise: then a difference proves nothing. */
  readonly isTentative: boolean;
}

/** Extracts what operators are compared by: all of an account that a parser shows, else what every honest node has alike. */
async function compareAccounts({ slot, value }: RpcResponse, form: ComparedForm): Promise<ConsensusData> {
  const found = await elementsYielding(value, MAX_ADDRESSES);
  const clock = form.isDated ? found.pop() : undefined;
  const needsSlot = form.isDated ? provenByClock(slot, clock) : slot;
  const digest = createHash('sha256');
  for (const account of found)
    if (isNull(account)) digest.update('null\n');
    else if (form.isParsed) digest.update(`${await canonicalJsonYielding(account)}\n`);
    else for (const part of pickMembers(account, UNPARSED_PARTS).flatMap(elementsOf)) digest.update(part).update('\n');
  const facts = (): Facts =>
    new Map(found.flatMap((account, i) => [...factsOfAccount(account)].map(([name, fact]) => [`${i} ${name}`, fact])));
  return { digest: digest.digest('hex'), slot, needsSlot, ...(!form.isTentative && { facts }) };
}

const UNPARSED_PARTS = ['lamports', 'owner', 'executable', 'data'];
