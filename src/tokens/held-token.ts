import { GatewayError } from '../domain/error.ts';
import { decodeToken, type TokenAccount } from '../solana/accounts/token.ts';
import type { EncodedAccount } from '../upstream/reads/encoded-accounts.ts';
import { parseKeyedAccount } from '../upstream/reads/token-accounts-by-owner.ts';

/** A token account of a list. */
export interface HeldToken {
  readonly address: string;
  readonly lamports: bigint;
  readonly token: TokenAccount;
}

/** The token account at an address; undefined for an account that is none. */
export function heldToken(address: string, account: EncodedAccount): HeldToken | undefined {
  const token = decodeToken(account);
  return token?.type === 'account' ? { address, lamports: account.lamports, token } : undefined;
}

/** Reads one row of a node's list of token accounts. Throws `upstream_error` for an account that holds no token. */
export function heldTokenIn(row: Buffer): HeldToken {
  const account = parseKeyedAccount(row);
  const held = heldToken(account.address, account);
  if (held === undefined) throw new GatewayError('upstream_error', 'a listed account holds no token');
  return held;
}
