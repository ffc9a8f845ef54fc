import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SYSTEM_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import type { BlockLink } from '../geyser/feed-update.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  forEachElement,
  isNull,
  membersYielding,
  parseSafeInteger,
  parseString,
  pickMembers,
} from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { rewardsOf, transactionsOf } from './block-summary.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';

export interface WrittenAccounts extends BlockLink {
  /**
   * The program that owns each that is certainly written, by base58 address; '' where the block does not show it, and where only
   * a failed transaction names the account: of such a one the node stores what pays the fee.
   */
  readonly written: ReadonlyMap<string, string>;
}

/** Bytes of transactions that are parsed in one turn of the event loop: about a millisecond's work. */
const PARSED_BYTES_PER_TURN = 32 * 1024;

const CONFIG = { encoding: 'json', transactionDetails: 'accounts', rewards: true };

/** A transaction as `transactionDetails: accounts` shows it, of which these members are used. */
interface AccountsOfTransaction {
  readonly transaction: { readonly accountKeys: readonly { readonly pubkey: string; readonly writable: boolean }[] };
  readonly meta: {
    readonly err?: unknown;
    readonly postTokenBalances?: readonly { readonly accountIndex: number; readonly programId?: string }[] | null;
  } | null;
}

/**
 * Reads which accounts a block may have written: those of its transactions, and those that it rewards. Throws `upstream_error`
 * where the node leaves either out: what it does not show is not unwritten. `mayOmitRewards`: whether only the former count.
 */
export async function readWrittenAccounts(
  rpc: RpcCaller,
  slot: Slot,
  mayOmitRewards = false,
): Promise<WrittenAccounts> {
  const request = { method: 'getBlock', subject: slot, config: CONFIG, commitment: 'confirmed' } as const;
  const { result } = await callWithMaxSupportedVersion(rpc, request);
  const block = await membersYielding(result);
  const written = new Map<string, string>();
  if (!mayOmitRewards && isNull(block.get('rewards'))) throw malformed();
  await forEachElement(rewardsOf(block), PARSED_BYTES_PER_TURN, (reward) =>
    written.set(parseString(pickMembers(reward, ['pubkey'])[0]), ''),
  );
  await forEachElement(transactionsOf(block), PARSED_BYTES_PER_TURN, (bytes) => addWritten(bytes, written));
  return {
    slot,
    blockhash: parseString(block.get('blockhash')),
    parentSlot: parseSafeInteger(block.get('parentSlot')),
    parentBlockhash: parseString(block.get('previousBlockhash')),
    written,
  };
}

function addWritten(bytes: Buffer, written: Map<string, string>): void {
  try {
    const { transaction, meta }: AccountsOfTransaction = JSON.parse(bytes.toString('utf8'));
    const programs = new Map(
      (meta?.postTokenBalances ?? []).map(({ accountIndex, programId = '' }) => [accountIndex, programId]),
    );
    for (const [i, { pubkey, writable }] of transaction.accountKeys.entries()) {
      if (writable === false) continue;
      const program = meta?.err === null ? (programs.get(i) ?? '') : '';
      const owner = i === 0 ? SYSTEM_PROGRAM : program; // the first pays the fee
      if (owner !== '' || !written.has(pubkey)) written.set(String(pubkey), owner);
    }
  } catch (cause) {
    throw new GatewayError('upstream_error', 'a node sent a block without its accounts', { cause });
  }
}
