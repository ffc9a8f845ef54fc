import { API_PREFIX, parseTarget } from '../domain/canonical-request.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Answers } from '../serving/answers.ts';
import { tokenAccounts } from './token-accounts.ts';

/**
 * What a wallet holds of a mint, in base units: the answer of `/token-accounts`, from the cache while that is fresh.
 * Rejects as the route does.
 */
export async function readHolding(answers: Answers, wallet: string, mint: string): Promise<bigint> {
  const { canonical } = parseTarget(`${API_PREFIX}/token-accounts/${wallet}?mint=${mint}`);
  const question = { route: tokenAccounts, params: { owner: wallet, mint, commitment: 'confirmed' }, key: canonical };
  const { entry, source } = answers.lookUp(question) ?? (await answers.resolve(question));
  if (source === 'STALE') throw new GatewayError('stale', 'what the wallet holds now is not known');
  const rows = JSON.parse(entry.result) as readonly Row[]; // the route's own shape; amounts in it are text
  return rows.reduce((sum, { tokenAmount }) => sum + BigInt(tokenAmount.amount), 0n);
}

interface Row {
  readonly tokenAmount: { readonly amount: string };
}
