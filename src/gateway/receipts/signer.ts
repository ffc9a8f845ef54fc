import { agreedIn, FIRST_CLAIM_NUMBER, type Statement } from '../../client/verify/index.ts';
import type { ClaimGuard, ClaimRequest } from './equivocation-guard.ts';
import { signBatch } from './sign-batch.ts';
import type { SigningKey } from './signing-key.ts';

export interface SealRequest extends ClaimRequest {
  /** Nonce that the caller sent to bind the receipt to their request, or null. */
  readonly nonce: string | null;
  /** The operators that gave the result, `2/3`; undefined where one did. */
  readonly agreed?: string | undefined;
  /** The digest of the event before, null at the start of a chain; undefined where the answer is no event. */
  readonly previous?: string | null | undefined;
  /** The number of the claim, which stands for the form of the result. Default: the first one. */
  readonly claimNumber?: number | undefined;
}

/** The furthest that receipts are dated ahead of a clock that was set back. */
export const MAX_LEAD_MS = 5000;

/** The lead from which on a step back is reported; less is the clock being slowed. */
const NOTABLE_LEAD_MS = 1000;

/** Signs the answers of one process, for one cluster, with one key at a time. */
export class Signer {
  readonly #cluster: { readonly genesisHash: string | undefined };
  readonly #keys: { readonly active: SigningKey };
  readonly #guard: ClaimGuard;
  readonly #stepBackListeners: ((leadMs: number) => void)[] = [];
  /** Undefined over one operator: receipts of answers are then of version 1. Those of events have a member more. */
  readonly #neededOperators: number | undefined;
  #issuedAt = 0;

  /**
   * Reads the key for each batch, so that a key can start to sign between two batches, and binds receipts to the cluster, whose
   * genesis hash is undefined until it is known, before which there is no answer to sign. `neededOperators`: those that must
   * give a result before it is `exact`, where there are several.
   */
  constructor(
    keys: { readonly active: SigningKey },
    cluster: { readonly genesisHash: string | undefined },
    guard: ClaimGuard,
    neededOperators?: number,
  ) {
    this.#neededOperators = neededOperators;
    this.#keys = keys;
    this.#cluster = cluster;
    this.#guard = guard;
  }

  /** The public key that signs now, base58. */
  get publicKey(): string {
    return this.#keys.active.publicKey;
  }

  /** Calls the listener when the clock was set back further than receipts wait for it. */
  onStepBack(listener: (leadMs: number) => void): void {
    this.#stepBackListeners.push(listener);
  }

  /** Returns what `/health` shows while receipts are dated ahead of the clock. */
  problems(nowMs: number): readonly string[] {
    const leadMs = this.#issuedAt - nowMs;
    return leadMs > NOTABLE_LEAD_MS ? [`receipts are dated ${Math.ceil(leadMs / 1000)} s ahead of the clock`] : [];
  }

  /**
   * Returns a receipt for each item, in order, under one signature. `nowMs` is Unix time in whole milliseconds; if it
   * goes back by up to {@link MAX_LEAD_MS}, receipts keep the latest time so far; if by more, it was wrong before, and
   * they follow it: verifiers refuse what is dated in their future.
   */
  seal(items: readonly SealRequest[], nowMs: number): string[] {
    if (items.length === 0) return [];
    const { genesisHash } = this.#cluster;
    if (genesisHash === undefined) throw new Error('nothing can be signed before the cluster is known');
    const leadMs = this.#issuedAt - nowMs;
    if (leadMs > MAX_LEAD_MS) for (const listener of this.#stepBackListeners) listener(leadMs);
    if (leadMs < 0 || leadMs > MAX_LEAD_MS) this.#issuedAt = nowMs;
    return signBatch(
      items.map((item) => this.#statementFor(item, genesisHash)),
      this.#keys.active,
    );
  }

  #statementFor(item: SealRequest, cluster: string): Statement {
    const needed = this.#neededOperators;
    const { previous } = item;
    const ofOneOperator = previous === undefined ? undefined : '1/1';
    const agreed = needed === undefined ? ofOneOperator : (item.agreed ?? `1/${needed}`);
    // the last look before a signature: what too few vouch for is not exact, whatever source it has
    const isVouched = needed === undefined || agreedIn({ agreed }) >= needed;
    const granted = this.#guard.grantClaim(isVouched ? item : { ...item, claim: 'observed' });
    return {
      cluster,
      request: item.request,
      status: 200,
      slot: item.slot,
      commitment: item.commitment,
      claim: `${granted}/${item.claimNumber ?? FIRST_CLAIM_NUMBER}`,
      ...(agreed !== undefined && { agreed, previous: previous ?? null }),
      digest: item.digest,
      issuedAt: this.#issuedAt,
      nonce: item.nonce,
    };
  }
}
