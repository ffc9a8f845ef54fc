import type { ClaimRequest, EquivocationGuard } from './equivocation-guard.ts';
import { signBatch } from './sign-batch.ts';
import type { SigningKey } from './signing-key.ts';
import { RESULT_REVISION, type Statement } from './statement.ts';

/** An answer that wants a receipt. */
export interface SealRequest extends ClaimRequest {
  /** What the caller sent to make the answer its own, or null. */
  readonly nonce: string | null;
}

/** Where the signer finds its key. It looks each time, so that another key takes over between two batches. */
export interface ActiveKeySource {
  readonly active: SigningKey;
}

/** Signs the answers of one process, for one cluster, with one key at a time. */
export class Signer {
  /** The genesis hash that every receipt is bound to. */
  readonly cluster: string;
  readonly #keys: ActiveKeySource;
  readonly #guard: EquivocationGuard;
  #issuedAt = 0;

  constructor(keys: ActiveKeySource, cluster: string, guard: EquivocationGuard) {
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
  seal(items: readonly SealRequest[], nowMs: number): string[] {
    if (items.length === 0) return [];
    this.#issuedAt = Math.max(this.#issuedAt, nowMs);
    return signBatch(
      items.map((item) => this.#statementFor(item)),
      this.#keys.active,
    );
  }

  #statementFor(item: SealRequest): Statement {
    return {
      cluster: this.cluster,
      request: item.request,
      status: 200,
      slot: item.slot,
      commitment: item.commitment,
      claim: `${this.#guard.grantClaim(item)}/${RESULT_REVISION}`,
      digest: item.digest,
      issuedAt: this.#issuedAt,
      nonce: item.nonce,
    };
  }
}
