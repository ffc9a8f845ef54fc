import type { ByteReader } from '../codec/byte-reader.ts';
import { type ParsedInfo, type ReadFields, readSignerFields } from './instruction-layout.ts';

/** Reads the distance to a proof instruction; zero if the proof is in an account instead. */
const readOffset = (reader: ByteReader): number => (reader.u8() << 24) >> 24;

/**
 * Returns a reader of the offsets of proofs. It names the accounts from `first` on: the sysvar if a proof is an instruction,
 * then accounts of proofs, then the signers. As in nodes, an account before the last one counts as a proof, though it
 * might be the multisig's.
 */
const proofs =
  (first: number, names: readonly string[], suffix: string, signers: readonly string[] = ['owner']): ReadFields =>
  (reader, _, accounts) => {
    const offsets = Object.fromEntries(names.map((name) => [`${name}InstructionOffset`, readOffset(reader)]));
    const hasProofInstruction = Object.values(offsets).some((offset) => offset !== 0);
    const possible = [...(hasProofInstruction ? ['instructionsSysvar'] : []), ...names.map((name) => name + suffix)];
    const [signer = '', ...others] = signers.toReversed();
    const named = [...possible.slice(0, Math.max(0, accounts.length - first - signers.length)), ...others];
    const fields = Object.fromEntries(named.map((name, place) => [name, accounts[first + place]]));
    return { ...offsets, ...fields, ...readSignerFields(signer, accounts.slice(first + named.length)) };
  };

/** Reads one proof, in the account at `at` or in an instruction that the sysvar there shows, and the signer behind it. */
function readProof(
  reader: ByteReader,
  accounts: readonly string[],
  { at, name, signer, record }: { at: number; name: string; signer: string; record?: 'recordAccount' },
): ParsedInfo {
  const proofInstructionOffset = readOffset(reader);
  const isRecorded = record !== undefined && proofInstructionOffset !== 0 && accounts.length > at + 2;
  return {
    proofInstructionOffset,
    [proofInstructionOffset === 0 ? name : 'instructionsSysvar']: accounts[at],
    ...(isRecorded && { [record]: accounts[at + 1] }),
    ...readSignerFields(signer, accounts.slice(at + (isRecorded ? 2 : 1))),
  };
}

const IN_STATE = { name: 'proofContextStateAccount', signer: 'owner', record: 'recordAccount' } as const;
const WITHHELD = { at: 2, name: 'proofContextStateAccount', signer: 'withdrawWithheldAuthority' } as const;

/** Returns a reader of how many of the last accounts are sources; `read` reads the rest. */
const withSources =
  (least: number, read: (reader: ByteReader, accounts: readonly string[]) => ParsedInfo): ReadFields =>
  (reader, _, accounts) => {
    const firstSource = accounts.length - reader.u8();
    if (firstSource < least) throw new RangeError('accounts are missing');
    return { ...read(reader, accounts.slice(0, firstSource)), sourceAccounts: accounts.slice(firstSource) };
  };

const TRANSFER_PROOFS = ['equalityProof', 'ciphertextValidityProof', 'rangeProof'];
const FEE_PROOFS = [
  'equalityProof',
  'transferAmountCiphertextValidityProof',
  'feeSigmaProof',
  'feeCiphertextValidityProof',
  'rangeProof',
];

/** The proofs of instructions on hidden amounts, with the accounts behind them. Source: agave, `extension/confidential_*.rs`. */
export const PROOF_FORMATS = {
  accountProof: (reader, _, accounts) => readProof(reader, accounts, { at: 2, ...IN_STATE }),
  emptyProof: (reader, _, accounts) => readProof(reader, accounts, { at: 1, ...IN_STATE }),
  keyProof: (reader, _, accounts) => readProof(reader, accounts, { at: 2, name: 'proofAccount', signer: 'owner' }),
  withheldProof: (reader, _, accounts) => readProof(reader, accounts, WITHHELD),
  withheldOfAccounts: withSources(4, (reader, accounts) => readProof(reader, accounts, WITHHELD)),
  withheldTokens: withSources(3, (_, accounts) => readSignerFields('withdrawWithheldAuthority', accounts.slice(2))),
  withdrawProofs: proofs(2, ['equalityProof', 'rangeProof'], 'Account'),
  transferProofs: proofs(3, TRANSFER_PROOFS, 'Account'),
  feeProofs: proofs(3, FEE_PROOFS, 'Account'),
  supplyProofs: proofs(2, TRANSFER_PROOFS, 'RecordAccount'),
  permissionedBurnProofs: proofs(2, TRANSFER_PROOFS, 'ContextStateAccount', ['authority', 'permissionedBurnAuthority']),
} as const satisfies Readonly<Record<string, ReadFields>>;
