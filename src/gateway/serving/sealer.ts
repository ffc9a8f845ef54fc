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
import { ensureDigest, formatInTurns, hashInTurns, hasLongResult } from './result-digest.ts';
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
  readonly #signBatchSize: number;
  readonly #spentBodies: SpentBodies;
  #jobs: SealJob[] = [];
  #isFlushing = false;

  constructor({ cache, signer, clock, presign, signBatchSize }: SealerOptions) {
    this.#cache = cache;
    this.#signer = signer;
    this.#clock = clock;
    this.#signBatchSize = signBatchSize;
    this.#spentBodies = new SpentBodies(cache);
    signer.onStepBack(() => this.invalidateReceipts()); // verifiers refuse what is dated in their future
    cache.holdBackWith((next, current) => this.#sealAhead(next, current, presign));
  }

  /** Returns the body if it can be sent as it is. A cache hit needs no other call. */
  bodyOf(entry: Entry): Body | undefined {
    if (entry.meta.envelope !== 'signed') return entry.body;
    if (entry.sealedMs <= this.invalidUntilMs) return undefined;
    if (entry.final && keepsReceipt(entry)) return servedBody(entry); // its receipt may have any age
    const age = this.#cache.coarseNowMs - entry.sealedMs;
    if (age <= RESEAL_AGE_MS) return servedBody(entry);
    if (age > MAX_RECEIPT_AGE_MS) return undefined;
    if (entry.body !== undefined) this.#sharedJobOf(entry);
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
    if (nonce === null) this.#sharedJobOf(entry).waiters.push(waiter);
    else this.#add({ entry, nonce, heldBackAt: undefined, waiters: [waiter] });
  }

  /** Under a signature of its own, for a caller that can't be answered later. A long result takes several turns. */
  sealNow(entry: Entry, nonce: string | null, waiter: SealWaiter): void {
    if (hasLongResult(entry)) {
      this.sealFor(entry, nonce, waiter);
      return;
    }
    const isOfKey = (job: SealJob): boolean => job.entry.key === entry.key;
    const queued = this.#jobs.filter(isOfKey); // earlier requests are answered before: at this slot or an older one
    this.#jobs = this.#jobs.filter((job) => !isOfKey(job));
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

  /** Returns the job of an entry's shared body: the one that is queued, or a new one. */
  #sharedJobOf(entry: Entry, heldBackAt?: number): SealJob {
    if (entry.sealJob !== undefined) return entry.sealJob;
    const job: SealJob = { entry, nonce: null, heldBackAt, waiters: [] };
    entry.sealJob = job;
    this.#add(job);
    return job;
  }

  #add(job: SealJob): void {
    const { entry } = job;
    if (!hasLongResult(entry) || entry.digest !== '') this.#enqueue(job);
    else
      hashInTurns(entry)
        .then(() => this.#enqueue(job))
        .catch((reason: unknown) => this.#reject(job, reason));
  }

  #enqueue(job: SealJob): void {
    this.#jobs.push(job);
    if (!this.#isFlushing) this.#flushLater();
  }

  /** From setImmediate only: a handler corks its own socket alone, and writes to others cost system calls. */
  #flushLater(): void {
    this.#isFlushing = true;
    setImmediate(() => {
      const batch = this.#jobs.splice(0, this.#signBatchSize);
      this.#isFlushing = false;
      if (this.#jobs.length > 0) this.#flushLater();
      if (batch.length > 0) this.#sealOrReject(batch);
    });
  }

  /**
   * Holds a new entry of a hot key back in the cache until it is sealed, so that the key's next reader finds a body. At
   * most `presign` bodies are sealed ahead at a time. An entry without a receipt gets its body immediately. Returns whether
   * it is held back.
   */
  #sealAhead(next: Entry, current: CacheItem | undefined, presign: number): boolean {
    if (next.meta.envelope === 'anchored') next.body = anchoredBodyOf(next);
    if (next.meta.envelope !== 'signed' || !isHot(this.#cache, next, current) || this.#jobs.length >= presign)
      return false;
    this.#sharedJobOf(next, this.#cache.unagreedDrops);
    return true;
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

const isHot = (cache: Cache, next: Entry, current: CacheItem | undefined): boolean =>
  next.policy === 'live' || (current?.body !== undefined && cache.isHot(current));
