import { GatewayError } from '../../domain/error.ts';
import type { Slot } from '../../domain/slot.ts';
import { elementsInTurns, members, text } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { type At, type StoredAccount, storedAccount } from './stored-accounts.ts';

/** Which token accounts of an owner: those of one mint, or all of one token program. */
export type TokenFilter = { readonly mint: string } | { readonly programId: string };

/** More accounts than this are no answer that anybody could use. */
const MAX_ROWS = 10_000;

/**
 * The token accounts of an owner, each as the node's JSON: {@link listedAccount} reads one. They are many at times, so
 * that is left to who can do it in parts. Throws `result_too_large` for more than 10,000.
 */
export async function readTokenAccounts(
  mesh: Pick<Mesh, 'call'>,
  owner: string,
  filter: TokenFilter,
  at: At,
): Promise<{ readonly slot: Slot; readonly rows: readonly Buffer[] }> {
  const params = [owner, filter, { encoding: 'base64', ...at }];
  const { slot, value } = await mesh.call('getTokenAccountsByOwner', params, { commitment: at.commitment });
  const rows = await elementsInTurns(value);
  if (rows.length > MAX_ROWS) throw tooMany();
  return { slot, rows };
}

/** All token accounts of an owner, under each of the programs. Throws as {@link readTokenAccounts} does. */
export async function readAllTokenAccounts(
  mesh: Pick<Mesh, 'call'>,
  owner: string,
  programs: readonly string[],
  at: At,
): Promise<{ readonly slots: readonly Slot[]; readonly rows: readonly Buffer[] }> {
  const readings = await Promise.all(programs.map((programId) => readTokenAccounts(mesh, owner, { programId }, at)));
  const rows = readings.flatMap(({ rows }) => rows);
  if (rows.length > MAX_ROWS) throw tooMany();
  return { slots: readings.map(({ slot }) => slot), rows };
}

/** One account of a list, with its address. */
export function listedAccount(row: Buffer): StoredAccount & { readonly address: string } {
  const parts = members(row);
  const account = parts.get('account');
  if (account === undefined) throw new GatewayError('upstream_error', 'a listed account has no account');
  return { address: text(parts.get('pubkey')), ...storedAccount(account) };
}

const tooMany = (): GatewayError =>
  new GatewayError('result_too_large', `more than ${MAX_ROWS} token accounts; ask for one mint`);
