import { SYSTEM_PROGRAM } from '../../domain/well-known-addresses.ts';
import { decodeKey } from '../codec/base58-key.ts';
import { findProgramAddress } from './program-derived-address.ts';

/** An owner of token accounts that is no person. */
interface KnownOwner {
  readonly address: string;
  readonly label: string;
  /** The program that signs for the address, and the seeds from which it derives: they prove the label. */
  readonly derivation: { readonly program: string; readonly seeds: readonly string[] } | null;
}

/** Whoever owns a token at these addresses can never sign for it. https://solana.com/docs/core/fees */
const BURN_ADDRESSES: readonly KnownOwner[] = [
  { address: '1nc1nerator11111111111111111111111111111111', label: 'Incinerator (burned)', derivation: null },
  { address: SYSTEM_PROGRAM, label: 'System Program (burned)', derivation: null },
];

const authority = (address: string, label: string, program: string, seed: string): KnownOwner => ({
  address,
  label,
  derivation: { program, seeds: [seed] },
});

/** One address of an exchange, lender or bridge that owns the vaults of all its pools. Seeds are those of its program. */
const VAULT_AUTHORITIES: readonly KnownOwner[] = [
  authority(
    '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1',
    'Raydium AMM v4 pools',
    '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8',
    'amm authority',
  ),
  authority(
    'GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL',
    'Raydium CPMM pools',
    'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C',
    'vault_and_lp_mint_auth_seed',
  ),
  authority(
    'WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh',
    'Raydium LaunchLab curves',
    'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj',
    'vault_auth_seed',
  ),
  authority(
    '3f7GcQFG397GAaEnv51zR6tsTVihYRydnydDD1cXekxH',
    'Raydium locked liquidity',
    'LockrWmn6K5twhz3y9w1dQERbmgSaRkfnTeTKbpofwE',
    'lock_cp_authority_seed',
  ),
  authority(
    'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC',
    'Meteora DAMM v2 pools',
    'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG',
    'pool_authority',
  ),
  authority(
    'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM',
    'Meteora bonding curves',
    'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN',
    'pool_authority',
  ),
  authority(
    'AVzP2GeRmqGphJsMxWoqjpUifPpCret7LqWhD8NWQK49',
    'Jupiter Perpetuals',
    'PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu',
    'transfer_authority',
  ),
  authority(
    'JCNCMFXo5M5qwUPg2Utu1u6YWp3MbygxqBsBeXXJfrw',
    'Drift vaults',
    'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH',
    'drift_signer',
  ),
  authority(
    'GugU1tP7doLeTw9hQP51xRJyS8Da1fWxuiy2rVrnMD2m',
    'Wormhole custody',
    'wormDTUJ6AWPNvk59vGQbDvGJmqbDTdgWgAqcLBCgUb',
    'custody_signer',
  ),
];

export const KNOWN_OWNERS: readonly KnownOwner[] = [...BURN_ADDRESSES, ...VAULT_AUTHORITIES];

const LABEL_BY_ADDRESS: ReadonlyMap<string, string> = new Map(
  KNOWN_OWNERS.map(({ address, label }) => [address, label]),
);

const PUMP_FUN_PROGRAM = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';

/** Returns the function that labels owners of a mint's token accounts: burn addresses and vaults of known programs. */
export function ownerLabelsOf(mint: string): (owner: string) => string | null {
  const key = decodeKey(mint);
  const curve = key && findProgramAddress(PUMP_FUN_PROGRAM, ['bonding-curve', key]); // each mint has its own
  return (owner) => (owner === curve ? 'Pump.fun bonding curve' : (LABEL_BY_ADDRESS.get(owner) ?? null));
}
