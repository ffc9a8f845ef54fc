import { type Agreement, combinedAgreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { mapConcurrently } from '../../../shared/runtime/map-concurrently.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { base64In, elements, members, parseBase64, parseString } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { parseAccountLamports } from './account-info.ts';
import {
  type AccountsAtSlot,
  type AccountsConfig,
  acceptedBatchesOf,
  readMultipleAccounts,
} from './multiple-accounts.ts';

export interface EncodedAccount {
  readonly lamports: bigint;
  readonly owner: string;
  readonly data: Uint8Array;
}

/** Commitment and oldest slot of a read of state. */
export interface ReadOptions {
  readonly commitment: Commitment;
  readonly minContextSlot: Slot | undefined;
  /** Operators that must give the same. Default: 1. */
  readonly agree?: number | undefined;
}

export interface EncodedAccountsRead {
  /** Slot of each request: one per hundred addresses, more where they are large. */
  readonly slots: readonly Slot[];
  /** Existing accounts by address. */
  readonly accounts: ReadonlyMap<string, EncodedAccount>;
  /** The operators that gave all of them; undefined over one operator. */
  readonly agreement: Agreement | undefined;
}

/** Most bytes of a hundred accounts, as JSON. */
const MAX_BYTES = 64 << 20;

/** Most requests of one read that are under way: more would crowd out the node's other callers. */
const MAX_CONCURRENT_BATCHES = 4;

/** Reads whole accounts. Missing ones are left out. */
export async function readEncodedAccounts(
  rpc: RpcCaller,
  addresses: readonly string[],
  { agree, ...options }: ReadOptions,
): Promise<EncodedAccountsRead> {
  const batches = acceptedBatchesOf([...new Set(addresses)], options.commitment);
  const config = { encoding: 'base64', ...options };
  const found = new Map<string, EncodedAccount>();
  const reads = await mapConcurrently(batches, MAX_CONCURRENT_BATCHES, async (batch) => {
    const parts = await readInParts(rpc, batch, config, agree);
    let bytesOfTurn = 0;
    for (const [address, json] of parts.flatMap(({ accounts }) => [...accounts])) {
      bytesOfTurn += json.length;
      if (bytesOfTurn > DECODED_PER_TURN) {
        await ownTurn();
        bytesOfTurn = json.length;
      }
      found.set(address, await parseEncodedAccountInTurns(json));
    }
    return parts;
  });
  const parts = reads.flat();
  const agreements = parts.map(({ agreement }) => agreement);
  const slots = parts.map(({ slot }) => slot);
  return { slots, accounts: found, agreement: combinedAgreement(agreements, Math.min(...slots)) };
}

/** Reads a batch, by halves where it is too large for one response: some accounts have megabytes. */
async function readInParts(
  rpc: RpcCaller,
  addresses: readonly string[],
  config: AccountsConfig,
  agree: number | undefined,
): Promise<AccountsAtSlot[]> {
  try {
    return [await readMultipleAccounts(rpc, addresses, config, { agree })];
  } catch (thrown) {
    if (addresses.length === 1 || !(thrown instanceof GatewayError) || thrown.code !== 'result_too_large') throw thrown;
    const half = Math.ceil(addresses.length / 2);
    const first = await readInParts(rpc, addresses.slice(0, half), config, agree); // one after the other: each is large
    const parts = [...first, ...(await readInParts(rpc, addresses.slice(half), config, agree))];
    if (parts.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES) throw thrown;
    return parts;
  }
}

/** Parses a node's JSON of an account whose data is in base64. Throws `upstream_error` for anything else. */
export function parseEncodedAccount(json: Buffer): EncodedAccount {
  const { base64, ...account } = parseUndecoded(json);
  return { ...account, data: parseBase64(base64) };
}

/** Parses an account as {@link parseEncodedAccount} does, one of megabytes in turns of the event loop. */
async function parseEncodedAccountInTurns(json: Buffer): Promise<EncodedAccount> {
  if (json.length <= DECODED_PER_TURN) return parseEncodedAccount(json);
  const { base64, ...account } = parseUndecoded(json);
  const text = base64In(base64);
  const data = Buffer.allocUnsafeSlow(Math.ceil((text.length * 3) / 4));
  let length = 0;
  for (let at = 0; at < text.length; at += DECODED_PER_TURN) {
    await ownTurn();
    length += data.write(text.toString('latin1', at, at + DECODED_PER_TURN), length, 'base64');
  }
  return { ...account, data: data.subarray(0, length) };
}

/** Characters of base64 that are decoded in one turn, in about a millisecond: whole groups of four. */
const DECODED_PER_TURN = 64 * 1024;

function parseUndecoded(json: Buffer): Omit<EncodedAccount, 'data'> & { readonly base64: Buffer } {
  const parts = members(json);
  const [base64 = Buffer.alloc(0), encoding] = elements(parts.get('data') ?? Buffer.from('null'));
  if (parseString(encoding) !== 'base64')
    throw new GatewayError('upstream_error', 'the data of an account is not base64');
  return { lamports: parseAccountLamports(json), owner: parseString(parts.get('owner')), base64 };
}
