import { ed25519 } from '@noble/curves/ed25519.js';
import { equalBytes } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { ASSOCIATED_TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import { TOKEN_PROGRAMS, type TokenProgram } from './token-program-accounts.ts';

const PDA_MARKER = utf8ToBytes('ProgramDerivedAddress');
const MAX_SEED_BYTES = 32;
const MAX_SEEDS = 15;

/**
 * The address that only `program` can sign for and that belongs to these seeds; text seeds are UTF-8.
 * Throws RangeError for seeds that the runtime refuses.
 * https://solana.com/docs/core/pda
 */
export function findProgramAddress(program: string, seeds: readonly (Uint8Array | string)[]): string {
  for (const candidate of candidateAddresses(program, seeds)) if (!isOnCurve(candidate)) return bs58.encode(candidate);
  throw new RangeError('no address belongs to these seeds'); // as likely as 256 coins in a row
}

/** What the runtime tries, in its order: the first that is no point of the curve is the address. */
function* candidateAddresses(program: string, seeds: readonly (Uint8Array | string)[]): Generator<Uint8Array> {
  const parts = seeds.map((seed) => (typeof seed === 'string' ? utf8ToBytes(seed) : seed));
  if (parts.length > MAX_SEEDS || parts.some((seed) => seed.length > MAX_SEED_BYTES))
    throw new RangeError('seeds too long');
  const prefix = sha256.create().update(concatBytes(...parts));
  const suffix = concatBytes(bs58.decode(program), PDA_MARKER);
  for (let bump = 255; bump >= 0; bump--) yield prefix.clone().update(Uint8Array.of(bump)).update(suffix).digest();
}

/** Where an owner's holding of a mint lies unless the owner chose another place. */
export const findAssociatedTokenAddress = (owner: string, mint: string, program: TokenProgram): string =>
  findProgramAddress(ASSOCIATED_TOKEN_PROGRAM, associatedSeeds(owner, mint, program));

const associatedSeeds = (owner: string, mint: string, program: TokenProgram): Uint8Array[] => [
  bs58.decode(owner),
  bs58.decode(TOKEN_PROGRAMS[program]),
  bs58.decode(mint),
];

/** Of 64 addresses all but one are among the first six candidates. */
const LIKELY_CANDIDATES = 6;

/**
 * Whether a token account lies where {@link findAssociatedTokenAddress} says. An account that exists at a candidate is the
 * associated one, as nobody can create the others: no need to ask the curve, which costs ten times a hash.
 */
export function isAssociatedTokenAccount(address: string, owner: string, mint: string, program: TokenProgram): boolean {
  const target = bs58.decode(address);
  let left = LIKELY_CANDIDATES;
  for (const candidate of candidateAddresses(ASSOCIATED_TOKEN_PROGRAM, associatedSeeds(owner, mint, program))) {
    if (equalBytes(candidate, target)) return true;
    if (--left === 0) break;
  }
  return findAssociatedTokenAddress(owner, mint, program) === address;
}

/** True for an address that a private key can belong to; programs own the others. */
export function isOnCurve(address: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(address);
    return true;
  } catch {
    return false;
  }
}
