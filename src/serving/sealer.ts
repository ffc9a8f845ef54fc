import type { Cache } from '../cache/cache.ts';
import type { Entry } from '../cache/entry.ts';
import type { Clock } from '../domain/clock.ts';
import { digestOf } from '../receipts/digest.ts';
import { formatSignedBody } from '../receipts/signed-body.ts';
import type { SealRequest, Signer } from '../receipts/signer.ts';

/** A receipt this old is made again before its body is served, so that no verifier's age rule meets it. */
const MAX_RECEIPT_AGE_MS = 20_000;

/** From this age on it is made again in the background while the body is still served. */
const RESEAL_AGE_MS = 10_000;

/** So much of the digest is enough to tell two results of one request apart. */
const ETAG_DIGITS = 16;

type Body = string | Buffer;

interface SealJob {
  readonly entry: Entry;
  /** Set for a body of one caller's own, which is kept for nobody else. */
  readonly nonce: string | null;
  /** The entry waits to be shown until it has its body. */
  readonly isHeldBack: boolean;
  readonly waiters: { resolve(body: Body): void; reject(reason: unknown): void }[];
}

export interface SealerOptions {
  readonly cache: Cache;
  readonly signer: Signer;
  readonly clock: Clock;
  /** At most so many bodies of a slot are made before somebody asks. */
  readonly sealAhead: number;
  /** At most so many answers share a signature: beyond 64 the paths grow and nothing is gained. */
  readonly sealTogether: number;
}

/**
 * Dresses answers for the wire. What wants a receipt in one turn of the event loop shares a tree and a signature;
 * that is made from setImmediate only, since a handler may write to one socket without a system call each.
 */
export class Sealer {
  readonly #cache: Cache;
  readonly #signer: Signer;
  readonly #clock: Clock;
  readonly #sealAhead: number;
  readonly #maxBatchSize: number;
  #queue: SealJob[] = [];
  /** Those of the queue whose body is for everybody. */
  readonly #sharedJobs = new Map<Entry, SealJob>();
  #sealedCount = 0;
  #signatureCount = 0;
  #invalidUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ cache, signer, clock, sealAhead, sealTogether }: SealerOptions) {
    this.#cache = cache;
    this.#signer = signer;
    this.#clock = clock;
    this.#sealAhead = sealAhead;
    this.#maxBatchSize = sealTogether;
    cache.holdBackWith((next, current) => this.#holdBack(next, current));
  }

  /** How many receipts were made. */
  get sealedCount(): number {
    return this.#sealedCount;
  }

  /** How many signatures they took. */
  get signatureCount(): number {
    return this.#signatureCount;
  }

  /** The body if it can go out as it is. On a hit this is all there is to do. */
  bodyOf(entry: Entry): Body | undefined {
    if (entry.meta.envelope !== 'signed') return entry.body;
    if (entry.sealedMs <= this.#invalidUntilMs) return undefined;
    if (entry.final && entry.meta.immutable === true) return entry.body; // stands for good
    const age = this.#cache.coarseNowMs - entry.sealedMs;
    if (age <= RESEAL_AGE_MS) return entry.body;
    if (age > MAX_RECEIPT_AGE_MS) return undefined;
    if (entry.body !== undefined) this.#enqueueShared(entry, false);
    return entry.body;
  }

  /** No receipt made until now is served again: a key is void. */
  invalidateReceipts(): void {
    this.#invalidUntilMs = this.#cache.coarseNowMs;
  }

  /** Makes the body, in this turn of the loop. */
  seal(entry: Entry): Promise<Body> {
    return new Promise((resolve, reject) => {
      this.#enqueueShared(entry, false).waiters.push({ resolve, reject });
    });
  }

  /** Makes a body for one caller only: its receipt holds the nonce that he sent. */
  sealWithNonce(entry: Entry, nonce: string): Promise<Body> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ entry, nonce, isHeldBack: false, waiters: [{ resolve, reject }] });
    });
  }

  /** A stream's frame with a receipt for each of these requests, in their order, all under one signature. */
  sealFrame({ result, slot, meta }: Entry, requests: readonly string[]): string[] {
    const digest = digestOf(result);
    const { commitment } = meta;
    const items = requests.map(
      (request): SealRequest => ({ request, slot, commitment, claim: 'observed', digest, nonce: null }),
    );
    return this.#signItems(items).map((receipt) => formatSignedBody(result, slot, receipt));
  }

  /** A key that is read all the time has its next body before its next reader comes. */
  #holdBack(next: Entry, current: Entry | undefined): boolean {
    if (next.meta.envelope === 'anchored') next.body = Buffer.from(`{"result":${next.result},"slot":${next.slot}}`);
    if (next.meta.envelope !== 'signed') return false;
    const isHot = next.policy === 'live' || (current?.body !== undefined && this.#cache.isHot(current));
    if (!isHot || this.#queue.length >= this.#sealAhead) return false;
    this.#enqueueShared(next, true);
    return true;
  }

  #enqueueShared(entry: Entry, isHeldBack: boolean): SealJob {
    const queued = this.#sharedJobs.get(entry);
    if (queued !== undefined) return queued;
    const job: SealJob = { entry, nonce: null, isHeldBack, waiters: [] };
    this.#sharedJobs.set(entry, job);
    this.#enqueue(job);
    return job;
  }

  #enqueue(job: SealJob): void {
    if (this.#queue.push(job) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const batch = this.#queue.splice(0, this.#maxBatchSize);
    if (this.#queue.length > 0) setImmediate(() => this.#flush());
    for (const { entry, nonce } of batch) if (nonce === null) this.#sharedJobs.delete(entry);
    try {
      this.#seal(batch);
    } catch (reason) {
      // Nobody else would hear of it. What was held back is shown without a body: its next reader meets the fault.
      for (const { entry, isHeldBack } of batch) if (isHeldBack) this.#cache.publish(entry);
      for (const { waiters } of batch) for (const { reject } of waiters) reject(reason);
    }
  }

  #seal(batch: readonly SealJob[]): void {
    const items = batch.map(({ entry, nonce }): SealRequest => {
      const { key, slot, meta } = entry;
      const { commitment, exact } = meta;
      return {
        request: `GET ${key}`,
        slot,
        commitment,
        claim: exact ? 'exact' : 'observed',
        digest: ensureDigest(entry),
        nonce,
      };
    });
    const receipts = this.#signItems(items);
    batch.forEach(({ entry, nonce, isHeldBack, waiters }, i) => {
      const text = formatSignedBody(entry.result, entry.slot, receipts[i] ?? ''); // one for each
      // Hot bodies are few and written often; the many others stay text, which the collector need not track.
      const body = isHeldBack ? Buffer.from(text) : text;
      if (nonce === null) {
        entry.body = body;
        entry.sealedMs = this.#cache.coarseNowMs;
        if (isHeldBack) this.#cache.publish(entry);
      }
      for (const { resolve } of waiters) resolve(body);
    });
  }

  #signItems(items: readonly SealRequest[]): readonly string[] {
    this.#sealedCount += items.length;
    this.#signatureCount++;
    return this.#signer.seal(items, this.#clock.now());
  }
}

/** The digest of the entry's result: made once, however often it is signed. */
function ensureDigest(entry: Entry): string {
  if (entry.digest === '') {
    entry.digest = digestOf(entry.result);
    entry.etag = entry.digest.slice(0, ETAG_DIGITS);
  }
  return entry.digest;
}
