import type { Principal } from '../../access/limits/tiers.ts';
import type { QuotaFigures } from '../../access/quota/quota-window.ts';
import type { RateLimitKey } from '../../access/quota/rate-limit-key.ts';
import type { Body, Entry, SealWaiter } from '../../cache/entry.ts';
import type { EngineResponse } from '../engine/engine.ts';
import type { PipeliningDetector } from '../engine/pipelining-detector.ts';
import { type PendingResponses, Reply, type ReplyOptions } from '../engine/reply.ts';
import type { HitConditions } from './hit-conditions.ts';

/** A request that the cache answers, and what it costs. */
export interface Hit {
  readonly entry: Entry;
  readonly conditions: HitConditions;
  readonly units: number;
  readonly principal: Principal | undefined;
  /** The address of the caller; none where a principal pays wherever it connects from. */
  readonly address: ArrayBuffer;
  /** `Accept-Encoding`; empty for a body that isn't compressed. */
  readonly accept: string;
}

interface HitEnd {
  reply(to: Reply, hit: Hit, body: Body, quota: QuotaFigures): void;
  refuse(to: Reply, hit: Hit, quota: QuotaFigures, thrown: unknown): void;
  readonly pendingResponses: PendingResponses;
  readonly pipelining: PipeliningDetector;
}

/** A hit that waits for its receipt, of which there may be tens of thousands a second: one object for all that call it. */
export class WaitingHit implements SealWaiter, ReplyOptions {
  readonly isHead = false;
  readonly hasConnectionClose = false;
  readonly #end: HitEnd;
  readonly #hit: Hit;
  readonly #quota: QuotaFigures;
  readonly #peer: RateLimitKey;
  readonly #reply: Reply;
  #isSealed = false;

  constructor(
    end: HitEnd,
    res: EngineResponse,
    hit: Hit,
    { limit, remaining, reset }: QuotaFigures,
    peer: RateLimitKey,
  ) {
    this.#end = end;
    this.#hit = hit;
    this.#quota = { limit, remaining, reset }; // the limiter's next call overwrites its own
    this.#peer = peer;
    this.#reply = new Reply(res, end.pendingResponses, this);
  }

  onAborted(): void {
    // Immediately: other connections of the peer are read in this turn, too.
    if (!this.#isSealed) this.#end.pipelining.recordCutOff(this.#peer);
  }

  resolve(body: Body): void {
    this.#isSealed = true;
    this.#end.reply(this.#reply, this.#hit, body, this.#quota);
  }

  reject(thrown: unknown): void {
    this.#end.refuse(this.#reply, this.#hit, this.#quota, thrown);
  }
}
