import { findProgramInstruction } from '../programs/program-instruction.ts';
import { allInstructions, type ParsedTransaction } from './parsed-transaction.ts';

const BUBBLEGUM_PROGRAM = 'BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY';

const ACTION_BY_TYPE: Readonly<Record<string, 'minted' | 'transferred' | 'burned'>> = {
  COMPRESSED_NFT_MINT: 'minted',
  COMPRESSED_NFT_TRANSFER: 'transferred',
  COMPRESSED_NFT_BURN: 'burned',
};

/** Returns the action on a compressed NFT, which is in no token account and moves no balance; null if there is none. */
export function compressedNftAction(
  parsed: Pick<ParsedTransaction, 'instructions'>,
): 'minted' | 'transferred' | 'burned' | null {
  for (const call of allInstructions(parsed)) {
    if (call.programId !== BUBBLEGUM_PROGRAM) continue;
    const action = ACTION_BY_TYPE[findProgramInstruction(call)?.type ?? ''];
    if (action !== undefined) return action;
  }
  return null;
}
