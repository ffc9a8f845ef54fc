import { createHash } from 'node:crypto';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { batchesOf } from '../../../shared/runtime/map-in-chunks.ts';
import { canonicalJsonYielding, elementsYielding, isNull, members } from '../json/raw-json.ts';
import { provenByClock } from '../rpc/clock-slot.ts';
import type { CallOptions, ConsensusData, RpcCaller, RpcResponse } from '../rpc/rpc-response.ts';

/** Most addresses that a node accepts in one getMultipleAccounts (Solana RPC). */
const MAX_ADDRESSES = 100;

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
  /** First slot at which they are proven to hold; undefined where no Clock is read. */
  readonly provenFrom: Slot | undefined;
  readonly accounts: ReadonlyMap<string, Buffer>;
  readonly bytes: number;
  /** The bytes of the node's result before its values, and those behind them. */
  readonly frame: readonly [before: Buffer, after: Buffer];
  /** The operators that gave the same; undefined over one operator. */
  readonly agreement: Agreement | undefined;
}

/** Options of a read of accounts. */
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
  const compare = (response: RpcResponse): Promise<ConsensusData> => compareAccounts(response, isDated);
  const callOptions = { commitment, ...options, agree: { count: agree, compare } };
  const { slot, result, value, agreement } = await rpc.call('getMultipleAccounts', [named, config], callOptions);
  const found = await elementsYielding(value);
  if (found.length !== named.length)
    throw new GatewayError('upstream_error', 'a node returned a wrong number of accounts');
  const accounts = new Map<string, Buffer>();
  for (const [i, account] of found.entries()) if (!isNull(account)) accounts.set(named[i] ?? '', account);
  const provenFrom = isDated ? provenByClock(slot, accounts.get(CLOCK_SYSVAR)) : undefined;
  const start = value.byteOffset - result.byteOffset;
  const frame = [result.subarray(0, start), result.subarray(start + value.length)] as const;
  return { slot, provenFrom, accounts, bytes: value.length, frame, agreement };
}

/** Extracts what operators are compared by: lamports, owner, executable and data. `isDated`: the last one is the Clock. */
async function compareAccounts({ slot, value }: RpcResponse, isDated: boolean): Promise<ConsensusData> {
  const found = await elementsYielding(value);
  const clock = isDated ? found.pop() : undefined;
  const needsSlot = isDated ? provenByClock(slot, clock) : slot;
  const [shown, consensus] = [createHash('sha256'), createHash('sha256')];
  for (const account of found) {
    const { core, parsed } = isNull(account) ? { core: 'null', parsed: '' } : await comparedTextsOf(account);
    shown.update(`${core} ${parsed}\n`);
    consensus.update(`${core}\n`);
  }
  return { digest: shown.digest('hex'), proof: consensus.digest('hex'), slot, needsSlot };
}

/** Returns what every honest node has of an account, and what its parser made of the data. */
export async function comparedTextsOf(account: Buffer): Promise<{ readonly core: string; readonly parsed: string }> {
  const parts = members(account);
  const core = ['lamports', 'owner', 'executable'].map((name) => parts.get(name)?.toString('latin1')).join();
  const data = parts.get('data') ?? Buffer.alloc(0);
  if (data[0] === OPENING_BRACE) return { core, parsed: await canonicalJsonYielding(data) };
  return { core: `${core} ${data.toString('latin1').replaceAll(/\s/g, '')}`, parsed: '' };
}

const OPENING_BRACE = 0x7b;
