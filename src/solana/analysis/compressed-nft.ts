import { bytesToHex } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { allInstructions, type ParsedTransaction } from './parsed-transaction.ts';

const BUBBLEGUM_PROGRAM = 'BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY';

/** Discriminators of Bubblegum's instructions. https://github.com/metaplex-foundation/mpl-bubblegum (`bubblegum.json`) */
const ACTION_BY_DISCRIMINATOR: Readonly<Record<string, 'minted' | 'transferred' | 'burned'>> = {
  '9162c076b8937668': 'minted', // mint_v1
  '9912b22fc59e560f': 'minted', // mint_to_collection_v1
  '78791792ad6ec7cd': 'minted', // mint_v2
  a334c8e78c0345ba: 'transferred', // transfer
  '772806ebeaddf831': 'transferred', // transfer_v2
  '746e1d386bdb2a5d': 'burned', // burn
};

/** Returns the action on a compressed NFT, which is in no token account and moves no balance; null if there is none. */
export function compressedNftAction(
  parsed: Pick<ParsedTransaction, 'instructions'>,
): 'minted' | 'transferred' | 'burned' | null {
  for (const { programId, data } of allInstructions(parsed)) {
    if (programId !== BUBBLEGUM_PROGRAM || data === null) continue;
    const action = ACTION_BY_DISCRIMINATOR[bytesToHex((bs58.decodeUnsafe(data) ?? new Uint8Array()).subarray(0, 8))];
    if (action !== undefined) return action;
  }
  return null;
}
