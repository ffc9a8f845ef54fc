/** The fee of a signature, in lamports. https://solana.com/docs/core/fees */
export const SIGNATURE_LAMPORTS = 5_000n;

/** The programs that check signatures which an instruction names, each of them for the fee of one. The first byte counts them. */
const SIGNATURE_PROGRAMS: readonly string[] = [
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
];

interface Priced {
  readonly fee: number | bigint;
  readonly signers: readonly string[];
  readonly instructions: readonly { readonly programId: string; readonly data: string | null }[];
}

/** Returns the lamports of a fee that were paid for priority: all but the price of the signatures. */
export function priorityFeeOf(
  { fee, signers, instructions }: Priced,
  decodeBase58: (text: string) => Uint8Array | undefined,
): bigint {
  const checked = instructions.map(({ programId, data }) =>
    SIGNATURE_PROGRAMS.includes(programId) ? (decodeBase58(data ?? '')?.[0] ?? 0) : 0,
  );
  const signatures = checked.reduce((sum, count) => sum + count, signers.length);
  const paid = BigInt(fee) - SIGNATURE_LAMPORTS * BigInt(signatures);
  return paid > 0n ? paid : 0n;
}
