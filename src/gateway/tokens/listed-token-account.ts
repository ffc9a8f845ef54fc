import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { decodeTokenProgramAccount, type TokenAccount } from '../../transactions/index.ts';
import type { EncodedAccount } from '../upstream/reads/encoded-accounts.ts';
import { parseKeyedAccount } from '../upstream/reads/token-accounts-by-owner.ts';

export interface ListedTokenAccount {
  readonly address: string;
  readonly lamports: bigint;
  readonly token: TokenAccount;
}

export function listedTokenAccount(address: string, account: EncodedAccount): ListedTokenAccount | undefined {
  const token = decodeTokenProgramAccount(account);
  return token?.type === 'account' ? { address, lamports: account.lamports, token } : undefined;
}

export function parseListedTokenAccount(row: Buffer): ListedTokenAccount {
  const account = parseKeyedAccount(row);
  const listed = listedTokenAccount(account.address, account);
  if (listed === undefined)
    throw new GatewayError('upstream_error', 'the node listed an account that is no token account');
  return listed;
}
