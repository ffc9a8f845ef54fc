import { ByteReader } from '../../chain/byte-reader.ts';
import type { Fields } from '../../chain/instructions/layout.ts';
import type { Account } from '../account.ts';
import { extensionsIn, parseExtension } from './extensions.ts';
import type { Parsed } from './parsed.ts';
import { type Scale, tokenAmount } from './token-amount.ts';
import { readMint, readTokenAccount } from './token-state.ts';

/** Shows an account of a token program: a mint, a token account or a multisig. */
export function parseTokenAccount(account: Account, scale: (mint: string) => Scale | undefined): Parsed | undefined {
  const mint = readMint(account);
  if (mint !== undefined) {
    return { type: 'mint', info: { ...mint, supply: `${mint.supply}`, ...extensionsOf(account) } };
  }
  const held = readTokenAccount(account);
  if (held === undefined) return parseMultisig(account);
  const shown = scale(held.mint);
  if (shown === undefined) return undefined; // without its mint an amount can't be shown
  const { delegate, rentExemptReserve, closeAuthority } = held;
  return {
    type: 'account',
    info: {
      mint: held.mint,
      owner: held.owner,
      tokenAmount: tokenAmount(held.amount, shown),
      ...(delegate === null ? {} : { delegate, delegatedAmount: tokenAmount(held.delegatedAmount, shown) }),
      state: held.state,
      isNative: rentExemptReserve !== null,
      ...(rentExemptReserve === null ? {} : { rentExemptReserve: tokenAmount(rentExemptReserve, shown) }),
      ...(closeAuthority === null ? {} : { closeAuthority }),
      ...extensionsOf(account),
    },
  };
}

function extensionsOf({ data }: Account): Fields {
  const extensions = extensionsIn(data).map(parseExtension);
  return extensions.length === 0 ? {} : { extensions };
}

function parseMultisig({ data }: Account): Parsed | undefined {
  if (data.length !== 355) return undefined;
  const read = new ByteReader(data);
  const numRequiredSigners = read.u8();
  const numValidSigners = read.u8();
  const isInitialized = read.u8() === 1;
  const signers = read.times(numValidSigners, () => read.key());
  return { type: 'multisig', info: { numRequiredSigners, numValidSigners, isInitialized, signers } };
}
