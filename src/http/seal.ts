import type { Cache, Entry } from '../cache/cache.ts';
import type { Clock } from '../domain/clock.ts';
import { digestOf } from '../receipt/digest.ts';
import { MAX_BATCH, type Signer } from '../receipt/signer.ts';

/** A receipt this old is made again before its body is served, so that no verifier's age rule meets it. */
const MAX_SEAL_MS = 20_000;

/** From this age on it is made again in the background while the body is still served. */
const RESEAL_MS = 10_000;

/** So much of the digest is enough to tell two results of one request apart. */
const ETAG_DIGITS = 16;

interface Job {
  readonly entry: Entry;
  /** The entry waits to be shown until it has its body. */
  readonly staged: boolean;
  readonly waiting: { resolve(): void; reject(reason: unknown): void }[];
}

export interface SealerOptions {
  readonly cache: Cache;
  readonly signer: Signer;
  readonly clock: Clock;
  /** At most so many bodies of a slot are made before somebody asks. */
  readonly sealAhead: number;
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
  #jobs = new Map<Entry, Job>();
  #sealed = 0;
  #signatures = 0;

  constructor({ cache, signer, clock, sealAhead }: SealerOptions) {
    this.#cache = cache;
    this.#signer = signer;
    this.#clock = clock;
    this.#sealAhead = sealAhead;
    cache.stageWith((next, shown) => this.#stage(next, shown));
  }

  /** How many receipts were made. */
  get sealed(): number {
    return this.#sealed;
  }

  /** How many signatures they took. */
  get signatures(): number {
    return this.#signatures;
  }

  /** The body if it can go out as it is. On a hit this is all there is to do. */
  bodyOf(entry: Entry): string | Buffer | undefined {
    const standsForGood = entry.final && entry.label.immutable === true;
    if (entry.label.envelope !== 'signed' || standsForGood) return entry.body;
    const age = this.#cache.nowMs - entry.sealedMs;
    if (age <= RESEAL_MS) return entry.body;
    if (age > MAX_SEAL_MS) return undefined;
    if (entry.body !== undefined) this.#enqueue(entry, false);
    return entry.body;
  }

  /** Resolves when the body is made, in this turn of the loop. */
  seal(entry: Entry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#enqueue(entry, false).waiting.push({ resolve, reject });
    });
  }

  /** A key that is read all the time has its next body before its next reader comes. */
  #stage(next: Entry, shown: Entry | undefined): boolean {
    if (next.label.envelope === 'anchored') next.body = Buffer.from(`{"result":${next.result},"slot":${next.slot}}`);
    if (next.label.envelope !== 'signed') return false;
    const isHot = next.policy === 'live' || (shown?.body !== undefined && this.#cache.tip - shown.lastRead <= 1);
    if (!isHot || this.#jobs.size >= this.#sealAhead) return false;
    this.#enqueue(next, true);
    return true;
  }

  #enqueue(entry: Entry, staged: boolean): Job {
    const queued = this.#jobs.get(entry);
    if (queued !== undefined) return queued;
    if (this.#jobs.size === 0) setImmediate(() => this.#flush());
    const job: Job = { entry, staged, waiting: [] };
    this.#jobs.set(entry, job);
    return job;
  }

  #flush(): void {
    const jobs = [...this.#jobs.values()];
    const batch = jobs.slice(0, MAX_BATCH);
    this.#jobs = new Map(jobs.slice(MAX_BATCH).map((job) => [job.entry, job]));
    if (this.#jobs.size > 0) setImmediate(() => this.#flush());
    try {
      this.#seal(batch);
      for (const { waiting } of batch) for (const { resolve } of waiting) resolve();
    } catch (reason) {
      // Nobody else would hear of it. What was held back is shown without a body: its next reader meets the fault.
      for (const { entry, staged } of batch) if (staged) this.#cache.show(entry);
      for (const { waiting } of batch) for (const { reject } of waiting) reject(reason);
    }
  }

  #seal(batch: readonly Job[]): void {
    const digests = batch.map(({ entry }) => digestOf(entry.result));
    const receipts = this.#signer.seal(
      batch.map(({ entry: { key, slot, label } }, i) => ({
        request: `GET ${key}`,
        slot,
        commitment: label.commitment,
        claim: label.exact ? 'exact' : 'observed',
        digest: digests[i] ?? '', // one for each
        nonce: null,
      })),
      this.#clock.now(),
    );
    this.#sealed += batch.length;
    this.#signatures++;
    batch.forEach(({ entry, staged }, i) => {
      const body = `{"result":${entry.result},"slot":${entry.slot},"receipt":${receipts[i]}}`;
      // Hot bodies are few and written often; the many others stay text, which the collector need not track.
      entry.body = staged ? Buffer.from(body) : body;
      entry.etag = digests[i]?.slice(0, ETAG_DIGITS) ?? '';
      entry.sealedMs = this.#cache.nowMs;
      if (staged) this.#cache.show(entry);
    });
  }
}
