import { MAX_U64 } from '../../shared/domain/max-u64.ts';
import { STAKE_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import type { RawAccount } from '../codec/raw-account.ts';

/** The size of every stake account, and where its withdrawer stands. */
export const STAKE_ACCOUNT_BYTES = 200;
export const WITHDRAWER_OFFSET = 44;

/** A stake account whose authorities are set. */
export interface StakeAccount {
  readonly rentExemptReserve: bigint;
  readonly staker: string;
  readonly withdrawer: string;
  /** Null for an account that was never delegated. */
  readonly delegation: StakeDelegation | null;
}

export interface StakeDelegation {
  /** The vote account. */
  readonly voter: string;
  /** The delegated lamports. */
  readonly stake: bigint;
  readonly activationEpoch: bigint;
  /** {@link NEVER} until the stake is deactivated. */
  readonly deactivationEpoch: bigint;
}

/** The epoch of what has not happened. */
export const NEVER = MAX_U64;

const INITIALIZED = 1;
const DELEGATED = 2;

/**
 * Decodes a stake account; undefined for any other account, and for one without authorities.
 * https://github.com/solana-program/stake/blob/main/interface/src/state.rs (`StakeStateV2`)
 */
export function decodeStakeAccount({ owner, data }: RawAccount): StakeAccount | undefined {
  return owner === STAKE_PROGRAM ? tryDecode(data, readStakeAccount) : undefined;
}

function readStakeAccount(reader: ByteReader): StakeAccount {
  const kind = reader.u32();
  if (kind !== INITIALIZED && kind !== DELEGATED) throw new RangeError('not initialized');
  const rentExemptReserve = reader.u64();
  const staker = reader.pubkey();
  const withdrawer = reader.pubkey();
  reader.bytes(8 + 8 + 32); // lock-up: time, epoch, custodian
  return { rentExemptReserve, staker, withdrawer, delegation: kind === DELEGATED ? readDelegation(reader) : null };
}

const readDelegation = (reader: ByteReader): StakeDelegation => ({
  voter: reader.pubkey(),
  stake: reader.u64(),
  activationEpoch: reader.u64(),
  deactivationEpoch: reader.u64(),
});

export const STAKE_STATES = ['activating', 'active', 'deactivating', 'inactive'] as const;

export type StakeState = (typeof STAKE_STATES)[number];

/**
 * Returns the state of a delegation in an epoch, by the epochs in the account alone: in an epoch with much new stake a part
 * of it may follow later.
 * https://github.com/solana-program/stake/blob/main/interface/src/state.rs (`stake_and_activating`)
 */
export function stakeStateIn(epoch: bigint, delegation: StakeDelegation | null): StakeState {
  if (delegation === null) return 'inactive';
  const { activationEpoch, deactivationEpoch } = delegation;
  if (activationEpoch === NEVER) return 'active'; // a stake of the genesis block
  if (activationEpoch === deactivationEpoch || epoch > deactivationEpoch) return 'inactive';
  if (epoch === deactivationEpoch) return 'deactivating';
  return epoch <= activationEpoch ? 'activating' : 'active';
}
