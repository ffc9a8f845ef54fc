import bs58 from 'bs58';
import type { Clock } from '../../domain/clock.ts';

/** What a caller shows for its wallet, as the headers have it. */
export interface StakeProof {
  /** Base58. */
  readonly wallet: string;
  /** Unix seconds. */
  readonly issued: string;
  /** Base58. */
  readonly signature: string;
}

/** Ed25519, strictly: false for keys under which a signature proves nothing, too. */
export type VerifySignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

const VALIDITY_SECONDS = 86_400;
const SKEW_SECONDS = 120;

/** Proofs that were verified and are remembered: one is sent with every request, and costs half a millisecond. */
const MAX_VERIFIED = 10_000;

/** The text that a wallet signs, in UTF-8: no transaction looks like it, so wallets sign it as a message. */
export const stakeText = (host: string, wallet: string, issued: string): string =>
  `${host} stake proof v1\nwallet: ${wallet}\nissued: ${issued}`;

/** Why a proof proves nothing at this moment, in Unix milliseconds; undefined when it does. */
export function findStakeProofFault(
  proof: StakeProof,
  host: string,
  nowMs: number,
  verify: VerifySignature,
): string | undefined {
  const { wallet, issued, signature } = proof;
  const [publicKey, signed] = [decodeBase58(wallet, 32), decodeBase58(signature, 64)];
  if (publicKey === undefined) return 'the wallet is not an address';
  if (signed === undefined) return 'the signature is not 64 bytes in base58';
  if (!/^[1-9]\d{0,11}$/.test(issued)) return 'the time of issue is not in Unix seconds';
  if (isFuture(issued, nowMs)) return 'it was issued in the future';
  if (isExpired(issued, nowMs)) return 'it was issued more than a day ago';
  const isSigned = verify(signed, new TextEncoder().encode(stakeText(host, wallet, issued)), publicKey);
  return isSigned ? undefined : 'the wallet did not sign this text';
}

/** Verifies each proof once. */
export class StakeProofVerifier {
  readonly #host: string;
  readonly #verify: VerifySignature;
  readonly #clock: Clock;
  readonly #verified = new Set<string>();

  constructor(host: string, verify: VerifySignature, clock: Clock) {
    this.#host = host;
    this.#verify = verify;
    this.#clock = clock;
  }

  /** True for a proof that was verified before; it may be over by now. */
  isVerified(proof: StakeProof): boolean {
    return this.#verified.has(verifiedKeyOf(proof));
  }

  /** Why it proves nothing now, or undefined. */
  findFault(proof: StakeProof): string | undefined {
    const nowMs = this.#clock.now();
    if (this.isVerified(proof) && !isFuture(proof.issued, nowMs) && !isExpired(proof.issued, nowMs)) return undefined;
    const fault = findStakeProofFault(proof, this.#host, nowMs, this.#verify);
    if (fault === undefined) this.#rememberVerified(verifiedKeyOf(proof));
    return fault;
  }

  #rememberVerified(name: string): void {
    const [oldest] = this.#verified;
    if (this.#verified.size >= MAX_VERIFIED && oldest !== undefined) this.#verified.delete(oldest);
    this.#verified.add(name);
  }
}

const isFuture = (issued: string, nowMs: number): boolean => Number(issued) > nowMs / 1000 + SKEW_SECONDS;

const isExpired = (issued: string, nowMs: number): boolean =>
  nowMs / 1000 > Number(issued) + VALIDITY_SECONDS + SKEW_SECONDS;

/** All three: a signature that is known says nothing of another wallet, or another time. */
const verifiedKeyOf = ({ wallet, issued, signature }: StakeProof): string => `${wallet} ${issued} ${signature}`;

/** Base58 takes quadratic time, so what is too long is not decoded. */
function decodeBase58(text: string, bytes: number): Uint8Array | undefined {
  const decoded = text.length <= 90 ? bs58.decodeUnsafe(text) : undefined;
  return decoded?.length === bytes ? decoded : undefined;
}
