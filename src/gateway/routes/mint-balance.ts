import { API_PREFIX, parseTarget } from '../../shared/domain/canonical-request.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { mapInChunks } from '../../shared/runtime/map-in-chunks.ts';
import { wholeResultOf } from '../cache/entry.ts';
import { elementsYielding, member, parseString } from '../upstream/json/raw-json.ts';
import { type RouteReads, readAnswer } from './routing/route-read-through.ts';
import { tokenAccounts } from './token-accounts.ts';

/** The sum over `/token-accounts`, from the cache while fresh, in base units. Rejects as the route does. */
export async function readMintBalance(readThrough: RouteReads, wallet: string, mint: string): Promise<bigint> {
  const { canonical } = parseTarget(`${API_PREFIX}/token-accounts/${wallet}?mint=${mint}`);
  const request = { route: tokenAccounts, params: { owner: wallet, mint, commitment: 'confirmed' }, key: canonical };
  const { entry, cacheStatus } = await readAnswer(readThrough, request);
  if (cacheStatus === 'STALE')
    throw new GatewayError('stale', "the wallet's balance can't be read now; retry in a moment");
  const rows = await elementsYielding(Buffer.from(wholeResultOf(entry)));
  const amounts = await mapInChunks(rows, ROWS_PER_CHUNK, amountOf);
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/** Rows per turn of the event loop: a millisecond of work. */
const ROWS_PER_CHUNK = 256;

function amountOf(row: Buffer): bigint {
  const tokenAmount = member(row, 'tokenAmount');
  return BigInt(parseString(tokenAmount && member(tokenAmount, 'amount')));
}
