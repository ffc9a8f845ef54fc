import type { Claimed, Guard } from './guard.ts';
import { type SigningKey, signAll } from './sign.ts';
import { RESULT_REVISION, type Statement } from './statement.ts';

/** An answer that wants a receipt. */
export interface Sealable extends Claimed {
  /** What the caller sent to make the answer its own, or null. */
  readonly nonce: string | null;
}

/** Where the signer finds its key. It looks each time, so that another key takes over between two batches. */
export interface ActiveKey {
  readonly active: SigningKey;
}

/** Signs the answers of one process, for one cluster, with one key at a time. */
export class Signer {
  /** The genesis hash that every receipt is bound to. */
  readonly cluster: string;
  readonly #keys: ActiveKey;
  readonly #guard: Guard;
  #issuedAt = 0;

  constructor(keys: ActiveKey, cluster: string, guard: Guard) {
    this.#keys = keys;
    this.cluster = cluster;
    this.#guard = guard;
  }

  /** The key that signs now: its 32 public bytes, base58. */
  get publicKey(): string {
    return this.#keys.active.publicKey;
  }

  /**
   * A receipt for each item, in order, under one signature. `nowMs` is Unix
   * time in whole milliseconds; when it goes back the receipts keep the latest time they had.
   */
  seal(items: readonly Sealable[], nowMs: number): string[] {
    if (items.length === 0) return [];
    this.#issuedAt = Math.max(this.#issuedAt, nowMs);
    return signAll(
      items.map((item) => this.#state(item)),
      this.#keys.active,
    );
  }

  #state(item: Sealable): Statement {
    return {
      cluster: this.cluster,
      request: item.request,
      status: 200,
      slot: item.slot,
      commitment: item.commitment,
      claim: `${this.#guard.claim(item)}/${RESULT_REVISION}`,
      digest: item.digest,
      issuedAt: this.#issuedAt,
      nonce: item.nonce,
    };
  }
}
