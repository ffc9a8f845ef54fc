import { ed25519 } from '@noble/curves/ed25519.js';
import { equalBytes } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { ASSOCIATED_TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { decodeKey, encodeKey } from '../codec/base58-key.ts';
import { TOKEN_PROGRAMS, type TokenProgram } from './token-program-accounts.ts';

const PDA_MARKER = utf8ToBytes('ProgramDerivedAddress');
const MAX_SEED_BYTES = 32;
const MAX_SEEDS = 15;

/**
 * Derives the address of a program and seeds; text seeds are UTF-8. Only that program can sign for it. Throws
 * RangeError for seeds that the runtime refuses.
 * https://solana.com/docs/core/pda
 */
export function findProgramAddress(program: string, seeds: readonly (Uint8Array | string)[]): string {
  for (const candidate of candidateAddresses(program, seeds)) if (!isOnCurve(candidate)) return encodeKey(candidate);
  throw new RangeError('no address belongs to these seeds'); // probability 2^-256
}

/** Yields the candidates in the runtime's order; the first that is off the curve is the address. */
function* candidateAddresses(program: string, seeds: readonly (Uint8Array | string)[]): Generator<Uint8Array> {
  const parts = seeds.map((seed) => (typeof seed === 'string' ? utf8ToBytes(seed) : seed));
  if (parts.length > MAX_SEEDS || parts.some((seed) => seed.length > MAX_SEED_BYTES))
    throw new RangeError('seeds too long');
  const prefix = sha256.create().update(concatBytes(...parts));
  const suffix = concatBytes(keyOf(program), PDA_MARKER);
  for (let bump = 255; bump >= 0; bump--) yield prefix.clone().update(Uint8Array.of(bump)).update(suffix).digest();
}

/** Derives the address of an owner's associated token account of a mint. */
export const findAssociatedTokenAddress = (owner: string, mint: string, program: TokenProgram): string =>
  findProgramAddress(ASSOCIATED_TOKEN_PROGRAM, associatedSeeds(owner, mint, program));

const associatedSeeds = (owner: string, mint: string, program: TokenProgram): Uint8Array[] => [
  keyOf(owner),
  keyOf(TOKEN_PROGRAMS[program]),
  keyOf(mint),
];

/** Derives the address that a base address has with a seed, for accounts of a program. Throws RangeError for a long seed. */
export function findAddressWithSeed(base: string, seed: string, program: string): string {
  const text = utf8ToBytes(seed);
  if (text.length > MAX_SEED_BYTES) throw new RangeError('seed too long');
  return encodeKey(sha256(concatBytes(keyOf(base), text, keyOf(program))));
}

function keyOf(address: string): Uint8Array {
  const key = decodeKey(address);
  if (key === undefined) throw new RangeError('an address must be the base58 of 32 bytes');
  return key;
}

/** Candidates checked by hash alone: 7 of 8 addresses are among the first three. */
const LIKELY_CANDIDATES = 3;

/**
 * Returns whether a token account is at {@link findAssociatedTokenAddress}. An existing account at a candidate is the
 * associated one, as nobody can create the others; checking the curve would cost several times a hash.
 */
export function isAssociatedTokenAccount(address: string, owner: string, mint: string, program: TokenProgram): boolean {
  const target = keyOf(address);
  const passed: Uint8Array[] = [];
  for (const candidate of candidateAddresses(ASSOCIATED_TOKEN_PROGRAM, associatedSeeds(owner, mint, program))) {
    if (equalBytes(candidate, target)) return true;
    passed.push(candidate);
    if (passed.length < LIKELY_CANDIDATES) continue;
    // a key pair's address is on the curve; else the first candidate off it is the associated one
    if (passed.length === LIKELY_CANDIDATES && isOnCurve(target)) return false;
    if (passed.splice(0, LIKELY_CANDIDATES).some((earlier) => !isOnCurve(earlier))) return false;
  }
  return false;
}

/**
 * Returns whether an address may have a private key; addresses off the curve belong to programs. The curve has a point
 * with this y if (y² - 1) / (dy² + 1) is a square, which a Jacobi symbol shows in a quarter of the time of the root.
 */
export function isOnCurve(address: Uint8Array): boolean {
  if (address.length !== 32) return false;
  const bytes = Uint8Array.from(address).reverse();
  bytes[0] = (bytes[0] ?? 0) & 0x7f; // the sign of x
  const y = BigInt(`0x${bytesToHex(bytes)}`);
  const ySquared = (y * y) % FIELD_PRIME;
  const symbol = jacobiSymbol((ySquared - 1n) * (EDWARDS_D * ySquared + 1n), FIELD_PRIME);
  return symbol === 0 || y >= FIELD_PRIME ? isPoint(address) : symbol > 0; // those cases have rules of their own
}

const FIELD_PRIME = ed25519.Point.Fp.ORDER;
const EDWARDS_D = ed25519.Point.CURVE().d;

function isPoint(address: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(address);
    return true;
  } catch {
    return false;
  }
}

/** Computes the Jacobi symbol (a/n) of an odd n, by quadratic reciprocity: 1 for a square modulo a prime, -1 for none. */
function jacobiSymbol(a: bigint, n: bigint): number {
  let [upper, lower, symbol] = [a % n, n, 1];
  while (upper !== 0n) {
    const zeros = trailingZeros(upper);
    upper >>= BigInt(zeros);
    const lowerMod8 = Number(lower & 7n);
    if (zeros % 2 === 1 && (lowerMod8 === 3 || lowerMod8 === 5)) symbol = -symbol;
    if (lowerMod8 % 4 === 3 && Number(upper & 3n) === 3) symbol = -symbol;
    [upper, lower] = [lower % upper, upper];
  }
  return lower === 1n ? symbol : 0;
}

/** Counts the zero bits at the low end of a positive number. */
function trailingZeros(value: bigint): number {
  for (let zeros = 0, rest = value; ; zeros += 32, rest >>= 32n) {
    const low = Number(rest & 0xffffffffn);
    if (low !== 0) return zeros + 31 - Math.clz32(low & -low);
  }
}
