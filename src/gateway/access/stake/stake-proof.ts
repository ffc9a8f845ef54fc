import bs58 from 'bs58';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { isBase58Of } from '../../../transactions/index.ts';

export interface StakeProof {
  /** Base58. */
  readonly wallet: string;
  /** Unix seconds. */
  readonly issued: string;
  /** Base58. */
  readonly signature: string;
}

/** Verifies an Ed25519 signature strictly: false for weak keys, under which a signature proves nothing. */
export type VerifySignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

const VALIDITY_SECONDS = 86_400;
const SKEW_SECONDS = 120;

/** The most verified proofs kept: one is sent with every request, and verification takes half a millisecond. */
const MAX_VERIFIED = 10_000;

/** Returns the text that a wallet signs, in UTF-8. No transaction looks like it, so wallets sign it as a message. */
export const stakeText = (host: string, wallet: string, issued: string): string =>
  `${host} stake proof v1\nwallet: ${wallet}\nissued: ${issued}`;

/** Returns why a proof is not valid at this moment, in Unix milliseconds; undefined if it is. */
export function findStakeProofFault(
  proof: StakeProof,
  host: string,
  nowMs: number,
  verify: VerifySignature,
): string | undefined {
  const { wallet, issued, signature } = proof;
  const fault = findPlainFault(proof, nowMs);
  if (fault !== undefined) return fault;
  const text = new TextEncoder().encode(stakeText(host, wallet, issued));
  return verify(bs58.decode(signature), text, bs58.decode(wallet)) ? undefined : 'the wallet did not sign this text';
}

function findPlainFault({ wallet, issued, signature }: StakeProof, nowMs: number): string | undefined {
  if (!isBase58Of(wallet, 32)) return 'the wallet is not an address';
  if (!isBase58Of(signature, 64)) return 'the signature is not 64 bytes in base58';
  if (!/^[1-9]\d{0,11}$/.test(issued)) return 'the time of issue is not in Unix seconds';
  return findTimeFault(issued, nowMs);
}

function findTimeFault(issued: string, nowMs: number): string | undefined {
  const ageSeconds = nowMs / 1000 - Number(issued);
  if (ageSeconds < -SKEW_SECONDS) return 'it was issued in the future';
  return ageSeconds > VALIDITY_SECONDS + SKEW_SECONDS ? 'it was issued more than a day ago' : undefined;
}

export class StakeProofVerifier {
  readonly #host: string;
  readonly #verify: VerifySignature;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, true>(atMost(MAX_VERIFIED));

  constructor(host: string, verify: VerifySignature, clock: Clock) {
    this.#host = host;
    this.#verify = verify;
    this.#clock = clock;
  }

  /** Returns whether {@link findFault} would verify the signature, which is slow. */
  mustVerify(proof: StakeProof): boolean {
    return !this.#verified.has(verifiedKeyOf(proof)) && findPlainFault(proof, this.#clock.now()) === undefined;
  }

  findFault(proof: StakeProof): string | undefined {
    const nowMs = this.#clock.now();
    if (this.#verified.has(verifiedKeyOf(proof))) return findTimeFault(proof.issued, nowMs); // it may have expired since
    const fault = findStakeProofFault(proof, this.#host, nowMs, this.#verify);
    if (fault === undefined) this.#verified.set(verifiedKeyOf(proof), true);
    return fault;
  }
}

/** Returns the cache key. It holds all three parts, as a known signature says nothing about another wallet or time. */
const verifiedKeyOf = ({ wallet, issued, signature }: StakeProof): string => `${wallet} ${issued} ${signature}`;
