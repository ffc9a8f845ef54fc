import { formatSignedBody } from '../../client/verify/index.ts';
import { agreementText } from '../../shared/domain/agreement.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { ownBytes } from '../../shared/runtime/own-bytes.ts';
import type { Cache } from '../cache/cache.ts';
import {
  anchoredBodyOf,
  type Body,
  type CacheItem,
  type Entry,
  isExact,
  type SealJob,
  type SealWaiter,
} from '../cache/entry.ts';
import { digestOf } from '../receipts/digest.ts';
import type { SealRequest, Signer } from '../receipts/signer.ts';
import { ensureDigest, formatInTurns, hasLongResult } from './result-digest.ts';
import { SealQueue } from './seal-queue.ts';
import { SpentBodies } from './spent-bodies.ts';

/** The age of a receipt at which its body is no longer served, so that no verifier refuses it as too old. */
const MAX_RECEIPT_AGE_MS = 20_000;

/** The age of a receipt at which a new one is made in the background while the body is still served. */
const RESEAL_AGE_MS = 10_000;

/** How often a body is sent as text. */
const TIMES_WORTH_BYTES = 8;

export interface SealerOptions {
  readonly cache: Cache;
  readonly signer: Signer;
  readonly clock: Clock;
  /** The most bodies that are made before a request for them, per slot. */
  readonly presign: number;
  /** The most answers that share a signature: beyond 64 their Merkle paths grow and nothing is gained. */
  readonly signBatchSize: number;
}

/** An event to be sealed: a result, and the digest that chains it to the event before. */
export type EventToSeal = Pick<SealRequest, 'request' | 'slot' | 'commitment'> & {
  readonly result: string;
  readonly previous: string | null;
};

/** All receipts of one turn of the event loop share a Merkle tree and a signature. */
export class Sealer {
  sealedCount = 0;
  signatureCount = 0;
  /** The time up to which receipts were made that must not be served, on the cache's clock. */
  invalidUntilMs = Number.NEGATIVE_INFINITY;
  readonly #cache: Cache;
  readonly #signer: Signer;
  readonly #clock: Clock;
  readonly #queue: SealQueue;
  readonly #spentBodies: SpentBodies;

  constructor({ cache, signer, clock, presign, signBatchSize }: SealerOptions) {
    this.#cache = cache;
    this.#signer = signer;
    this.#clock = clock;
    this.#spentBodies = new SpentBodies(cache);
    this.#queue = new SealQueue({
      maxBatchSize: signBatchSize,
      sealBatch: (batch) => this.#sealOrReject(batch),
      reject: (job, reason) => this.#reject(job, reason),
    });
    signer.onStepBack(() => this.invalidateReceipts()); // verifiers refuse what is dated in their future
    sealHotEntriesAhead(cache, this.#queue, presign);
  }

  /** Returns the body if it can be sent as it is. A cache hit needs no other call. */
  bodyOf(entry: Entry): Body | undefined {
    if (entry.meta.envelope !== 'signed') return entry.body;
    if (entry.sealedMs <= this.invalidUntilMs) return undefined;
    if (entry.final && keepsReceipt(entry)) return servedBody(entry); // its receipt may have any age
    const age = this.#cache.coarseNowMs - entry.sealedMs;
    if (age <= RESEAL_AGE_MS) return servedBody(entry);
    if (age > MAX_RECEIPT_AGE_MS) return undefined;
    if (entry.body !== undefined) this.#queue.addShared(entry);
    return servedBody(entry);
  }

  /** Stops serving all receipts made until now, such as those of a key that was revoked. */
  invalidateReceipts(): void {
    this.invalidUntilMs = this.#cache.coarseNowMs;
  }

  /** Makes the body at the end of this turn of the event loop; for one caller if there is a nonce, which it contains. */
  seal(entry: Entry, nonce: string | null = null): Promise<Body> {
    return new Promise((resolve, reject) => this.sealFor(entry, nonce, { resolve, reject }));
  }

  /** Does what {@link seal} does, without a promise. */
  sealFor(entry: Entry, nonce: string | null, waiter: SealWaiter): void {
    if (nonce === null) this.#queue.addShared(entry).waiters.push(waiter);
    else this.#queue.add({ entry, nonce, heldBackAt: undefined, waiters: [waiter] });
  }

  /** Under a signature of its own, for a caller that can't be answered later. A long result takes several turns. */
  sealNow(entry: Entry, nonce: string | null, waiter: SealWaiter): void {
    if (hasLongResult(entry)) {
      this.sealFor(entry, nonce, waiter);
      return;
    }
    const queued = this.#queue.remove(entry.key); // earlier requests are answered before: at this slot or an older one
    this.#sealOrReject([...queued, { entry, nonce, heldBackAt: undefined, waiters: [waiter] }]);
  }

  /** Makes a frame of the stream for each of these requests, in their order, all under one signature. */
  sealFrame({ result, slot, meta }: Entry, requests: readonly string[]): string[] {
    const text = result.toString();
    const digest = digestOf(text);
    const { commitment } = meta;
    const items = requests.map(
      (request): SealRequest => ({
        request,
        slot,
        commitment,
        claim: 'observed',
        claimNumber: meta.claimNumber,
        digest,
        nonce: null,
      }),
    );
    return this.#sign(items).map((receipt) => formatSignedBody(text, slot, receipt));
  }

  /** Makes the bodies of events, in their order, all under one signature. */
  sealEvents(events: readonly EventToSeal[]): string[] {
    const receipts = this.#sign(
      events.map(({ result, ...event }) => ({ ...event, claim: 'observed', digest: digestOf(result), nonce: null })),
    );
    return events.map(({ result, slot }, i) => formatSignedBody(result, slot, receipts[i] ?? ''));
  }

  #sealOrReject(batch: readonly SealJob[]): void {
    try {
      this.#sealBatch(batch);
    } catch (reason) {
      for (const job of batch) this.#reject(job, reason);
    }
  }

  /** Rejects all that wait. An entry that was held back is published unsealed: its next reader meets it. */
  #reject({ entry, nonce, heldBackAt, waiters }: SealJob, reason: unknown): void {
    if (nonce === null) entry.sealJob = undefined;
    if (heldBackAt !== undefined) this.#cache.publish(entry, heldBackAt);
    for (const waiter of waiters) waiter.reject(reason);
  }

  #sealBatch(batch: readonly SealJob[]): void {
    this.#spentBodies.remove();
    const receipts = this.#sign(batch.map(sealRequestOf));
    const sealedMs = this.#cache.coarseNowMs;
    batch.forEach((job, i) => {
      const { entry } = job;
      const receipt = receipts[i] ?? ''; // one for each
      if (hasLongResult(entry)) void this.#finishInTurns(job, receipt, sealedMs);
      else this.#finish(job, formatSignedBody(entry.result.toString(), entry.slot, receipt), sealedMs);
    });
  }

  /** Makes the body of a long result, as bytes: to write text of that length takes ten times as long. */
  async #finishInTurns(job: SealJob, receipt: string, sealedMs: number): Promise<void> {
    try {
      this.#finish(job, await formatInTurns(job.entry, receipt), sealedMs);
    } catch (reason) {
      this.#reject(job, reason);
    }
  }

  #finish({ entry, nonce, heldBackAt, waiters }: SealJob, body: Body, sealedMs: number): void {
    if (nonce === null) {
      entry.sealJob = undefined;
      entry.body = body;
      entry.sealedMs = sealedMs;
      if (entry.lease !== undefined) this.#spentBodies.record(entry.key);
      if (heldBackAt !== undefined) this.#cache.publish(entry, heldBackAt);
    }
    for (const waiter of waiters) waiter.resolve(body);
  }

  #sign(items: readonly SealRequest[]): readonly string[] {
    this.sealedCount += items.length;
    this.signatureCount++;
    return this.#signer.seal(items, this.#clock.now());
  }
}

/** Returns true for an answer whose receipt is made once. */
const keepsReceipt = ({ meta: { finalFor } }: Entry): boolean =>
  finalFor === 'immutable' || finalFor?.keepsReceipt === true;

/** As text, which takes little memory and garbage collection; one that is sent often becomes bytes. */
function servedBody(entry: Entry): Body | undefined {
  const { body } = entry;
  if (typeof body !== 'string' || ++entry.timesServed < TIMES_WORTH_BYTES || entry.compressed !== undefined)
    return body;
  const bytes = ownBytes(body);
  entry.body = bytes;
  return bytes;
}

function sealRequestOf({ entry, nonce }: SealJob): SealRequest {
  const { key, slot, meta, agreement } = entry;
  return {
    request: `GET ${key}`,
    slot,
    commitment: meta.commitment,
    claim: isExact(entry) ? 'exact' : 'observed',
    agreed: agreementText(agreement, slot),
    claimNumber: meta.claimNumber,
    digest: ensureDigest(entry),
    isPast: meta.isPast,
    nonce,
  };
}

/**
 * Holds back new entries of hot keys in the cache until they are sealed, so that a hot key's next reader finds a body. At most
 * `maxQueued` bodies are sealed ahead at a time. Entries without a receipt get their body immediately.
 */
function sealHotEntriesAhead(cache: Cache, queue: SealQueue, maxQueued: number): void {
  cache.holdBackWith((next, current) => {
    if (next.meta.envelope === 'anchored') next.body = anchoredBodyOf(next);
    if (next.meta.envelope !== 'signed' || !isHot(cache, next, current) || queue.length >= maxQueued) return false;
    queue.addShared(next, cache.unagreedDrops);
    return true;
  });
}

const isHot = (cache: Cache, next: Entry, current: CacheItem | undefined): boolean =>
  next.policy === 'live' || (current?.body !== undefined && cache.isHot(current));
