import type { ClaimRequest, EquivocationGuard } from './equivocation-guard.ts';
import { signBatch } from './sign-batch.ts';
import type { SigningKey } from './signing-key.ts';
import { RESULT_REVISION, type Statement } from './statement.ts';

/** An answer to be sealed with a receipt. */
export interface SealRequest extends ClaimRequest {
  /** Nonce that the caller sent to bind the receipt to their request, or null. */
  readonly nonce: string | null;
}

/** The source of the signing key. The signer reads it for each batch, so a key can take over between two batches. */
export interface ActiveKeySource {
  readonly active: SigningKey;
}

/** The cluster that receipts are bound to. */
export interface ClusterSource {
  /** Genesis hash; undefined until the cluster is known, before which there is no answer to sign. */
  readonly genesisHash: string | undefined;
}

/** Signs the answers of one process, for one cluster, with one key at a time. */
export class Signer {
  readonly #cluster: ClusterSource;
  readonly #keys: ActiveKeySource;
  readonly #guard: EquivocationGuard;
  #issuedAt = 0;

  constructor(keys: ActiveKeySource, cluster: ClusterSource, guard: EquivocationGuard) {
    this.#keys = keys;
    this.#cluster = cluster;
    this.#guard = guard;
  }

  /** The public key that signs now, base58. */
  get publicKey(): string {
    return this.#keys.active.publicKey;
  }

  /**
   * Returns a receipt for each item, in order, under one signature. `nowMs` is Unix time in whole milliseconds; if it
   * goes back, receipts keep the latest time so far.
   */
  seal(items: readonly SealRequest[], nowMs: number): string[] {
    if (items.length === 0) return [];
    const { genesisHash } = this.#cluster;
    if (genesisHash === undefined) throw new Error('nothing can be signed before the cluster is known');
    this.#issuedAt = Math.max(this.#issuedAt, nowMs);
    return signBatch(
      items.map((item) => this.#statementFor(item, genesisHash)),
      this.#keys.active,
    );
  }

  #statementFor(item: SealRequest, cluster: string): Statement {
    return {
      cluster,
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
