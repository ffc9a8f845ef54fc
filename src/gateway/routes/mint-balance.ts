import { API_PREFIX, parseTarget } from '../../shared/domain/canonical-request.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { type RouteReads, readAnswer } from './routing/route-read-through.ts';
import { tokenAccounts } from './token-accounts.ts';

/** The sum over `/token-accounts`, from the cache while fresh, in base units. Rejects as the route does. */
export async function readMintBalance(readThrough: RouteReads, wallet: string, mint: string): Promise<bigint> {
  const { canonical } = parseTarget(`${API_PREFIX}/token-accounts/${wallet}?mint=${mint}`);
  const request = { route: tokenAccounts, params: { owner: wallet, mint, commitment: 'confirmed' }, key: canonical };
  const { entry, cacheStatus } = await readAnswer(readThrough, request);
  if (cacheStatus === 'STALE')
    throw new GatewayError('stale', "the wallet's balance can't be read now; retry in a moment");
  const rows = JSON.parse(entry.result.toString()) as readonly TokenAccountRow[]; // the route's own rows, whose amounts are text
  return rows.reduce((sum, { tokenAmount }) => sum + BigInt(tokenAmount.amount), 0n);
}

/** The used part of a row of `/token-accounts`. */
interface TokenAccountRow {
  readonly tokenAmount: { readonly amount: string };
}
