import { decodeToken, type TokenAccount } from '../chain/token.ts';
import { GatewayError } from '../domain/error.ts';
import { listedAccount } from '../upstream/token-accounts.ts';

/** A token account of a list. */
export interface HeldToken {
  readonly address: string;
  readonly lamports: bigint;
  readonly token: TokenAccount;
}

/** Reads one row of a node's list of token accounts. Throws `upstream_error` for an account that holds no token. */
export function heldTokenIn(row: Buffer): HeldToken {
  const account = listedAccount(row);
  const token = decodeToken(account);
  if (token?.type !== 'account') throw new GatewayError('upstream_error', 'a listed account holds no token');
  return { address: account.address, lamports: account.lamports, token };
}
