import {
  COMPUTE_BUDGET_PROGRAM,
  LOADER_V1,
  LOADER_V2,
  LOADER_V4,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../shared/domain/well-known-addresses.ts';
import type { VersionedMessage } from '../../transactions/index.ts';
import type { TransactionError } from './svm-transaction-error.ts';

const SECP256K1_PROGRAM = 'KeccakSecp256k11111111111111111111111111111';
const ED25519_PROGRAM = 'Ed25519SigVerify111111111111111111111111111';
const SECP256R1_PROGRAM = 'Secp256r1SigVerify1111111111111111111111111';

/** Programs whose instructions name signatures, each at the price of one of the transaction. The first byte is their number. */
const SIGNATURE_PROGRAMS: ReadonlySet<string> = new Set([SECP256K1_PROGRAM, ED25519_PROGRAM, SECP256R1_PROGRAM]);

/** Programs of the runtime itself, with few units for each instruction (SIMD-0170). Others have moved to the chain. */
const BUILTIN_PROGRAMS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  UPGRADEABLE_LOADER,
  LOADER_V1,
  LOADER_V2,
  LOADER_V4,
  SECP256K1_PROGRAM,
  ED25519_PROGRAM,
]);

const UNITS_OF_BUILTIN = 3_000n;
const UNITS_OF_INSTRUCTION = 200_000n;
const MAX_UNITS = 1_400_000n;
const LAMPORTS_PER_SIGNATURE = 5000n;
const MICRO_LAMPORTS = 1_000_000n;

/** Returns the price of a compute unit that a message requests, in micro-lamports. */
export const unitPriceOf = (message: VersionedMessage): bigint => computeBudgetOf(message).price;

/** Returns the fee that the runtime charges, in lamports: for each signature, and for the units that may be used. */
export function feeOf(message: VersionedMessage): bigint {
  const { price, units } = computeBudgetOf(message);
  return signatureFeeOf(message) + (price * units + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
}

/** Returns the part of the fee that is for signatures. */
export function signatureFeeOf({ header, accountKeys, instructions }: VersionedMessage): bigint {
  const named = instructions.reduce(
    (count, { programIdIndex, data }) =>
      SIGNATURE_PROGRAMS.has(accountKeys[programIdIndex] ?? '') ? count + (data[0] ?? 0) : count,
    0,
  );
  return LAMPORTS_PER_SIGNATURE * BigInt(header.numRequiredSignatures + named);
}

/** Returns whether a message that fails so is charged: one that runs. A fault of its compute budget is found before. */
export function isCharged(error: TransactionError, { accountKeys, instructions }: VersionedMessage): boolean {
  if (typeof error === 'string' || 'DuplicateInstruction' in error) return false;
  if (!('InstructionError' in error)) return true;
  const { programIdIndex = -1 } = instructions[error.InstructionError[0]] ?? {};
  return accountKeys[programIdIndex] !== COMPUTE_BUDGET_PROGRAM;
}

function computeBudgetOf({ accountKeys, instructions }: VersionedMessage) {
  let price = 0n;
  let requested: bigint | undefined;
  let byDefault = 0n;
  for (const { programIdIndex, data } of instructions) {
    const program = accountKeys[programIdIndex] ?? '';
    byDefault += BUILTIN_PROGRAMS.has(program) ? UNITS_OF_BUILTIN : UNITS_OF_INSTRUCTION;
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    const bytes = Buffer.from(data);
    if (data[0] === 2 && data.length >= 5) requested = BigInt(bytes.readUInt32LE(1));
    if (data[0] === 3 && data.length >= 9) price = bytes.readBigUInt64LE(1);
  }
  const units = requested ?? byDefault;
  return { price, units: units < MAX_UNITS ? units : MAX_UNITS };
}
