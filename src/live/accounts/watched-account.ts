import type { Commitment } from '../../domain/commitment.ts';
import type { GatewayError } from '../../domain/error.ts';
import type { Slot } from '../../domain/slot.ts';
import { type ArmingRule, type Stage, type Step, SUBSCRIBING } from '../arming.ts';
import { Held } from '../held.ts';
import type { Watermark } from '../watermark.ts';

/** An account's state as its JSON in one-byte characters, which the collector need not track; null when absent. */
export type AccountText = string | null;

/** What came of news: `late` is news of a slot that was already claimed without it, so a claim was false. */
export type News = 'none' | 'same' | 'changed' | 'rolled-back' | 'late';

/** Why an account can't be kept live, and the tip at which that was found. */
export interface Bar {
  readonly reason: GatewayError;
  readonly at: Slot;
}

/** What is known of one account at one commitment. Does no I/O: it is told, and says what it wants to know. */
export class WatchedAccount {
  readonly address: string;
  readonly commitment: Commitment;
  readonly places = 1;
  /** The tip at its last reader. */
  touchedAt: Slot;
  /** Undefined while it may be kept live. */
  bar: Bar | undefined;
  readonly #rule: ArmingRule;
  #stage: Stage = SUBSCRIBING;
  #slot: Slot = -1;
  #text: AccountText = null;
  #isKnown = false;
  #mark: Watermark | undefined;
  #held: Held | undefined;

  constructor(address: string, commitment: Commitment, rule: ArmingRule, touchedAt: Slot) {
    this.address = address;
    this.commitment = commitment;
    this.touchedAt = touchedAt;
    this.#rule = rule;
  }

  get barredAt(): Slot | undefined {
    return this.bar?.at;
  }

  /** The slot of {@link text}; -1 while nothing is known. */
  get slot(): Slot {
    return this.#slot;
  }

  get text(): AccountText {
    return this.#text;
  }

  /** False before the first news, and after what was known was taken back. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get isLive(): boolean {
    return this.#stage.name === 'live';
  }

  /** From which slot on it wants to be read now; undefined when it doesn't. */
  get wants(): Slot | undefined {
    if (this.#stage.name === 'first-read') return 0;
    return this.#stage.name === 'second-read' ? this.#stage.atLeast : undefined;
  }

  /** What vouches for {@link text} beyond {@link slot}. */
  get held(): Held | undefined {
    return this.#held;
  }

  /** Begins anew, on another connection. What is known stays known. */
  join(mark: Watermark): void {
    this.#mark = mark;
    this.#stage = SUBSCRIBING;
    this.#held = undefined;
  }

  /** Ends the connection's word for it; what is known stays known. */
  leave(): void {
    this.#held?.supersede();
    this.#held = undefined;
    this.#mark = undefined;
    this.#stage = SUBSCRIBING;
  }

  step(step: Step): void {
    this.#stage = this.#rule(this.#stage, step);
    if (this.#stage.name === 'live') this.#hold();
  }

  /** A reading on the same connection's node. */
  read(slot: Slot, text: AccountText): News {
    const news = this.#learn(slot, text);
    this.step({ name: 'read', slot });
    return news;
  }

  /** A notification. At processed, one of a slot that is no newer says that the node has changed forks. */
  told(slot: Slot, text: AccountText): News {
    const isBack = slot < this.#slot || (slot === this.#slot && text !== this.#text);
    return isBack && this.commitment === 'processed' ? this.takeBack() : this.#learn(slot, text);
  }

  /** The node has left the fork that was told of. */
  takeBack(): News {
    if (!this.#isKnown) return 'none';
    this.#isKnown = false;
    return 'rolled-back';
  }

  /** What was known turned out to be wrong. */
  forget(): void {
    this.#slot = -1;
    this.#isKnown = false;
    this.#held = undefined;
  }

  /** What is newer replaces state and slot together; all else is left alone. */
  #learn(slot: Slot, text: AccountText): News {
    if (slot <= this.#slot) return 'none';
    const isLate = this.#held !== undefined && slot <= this.#held.slot;
    const isSame = this.#isKnown && text === this.#text;
    this.#slot = slot;
    this.#text = text;
    this.#isKnown = true;
    if (isSame) {
      this.#held?.confirm(slot);
      return 'same';
    }
    const before = this.#held;
    this.#held = undefined;
    if (this.isLive) this.#hold();
    before?.supersede();
    return isLate ? 'late' : 'changed';
  }

  #hold(): void {
    // At processed a fork may take back what no beacon has denied: nothing is claimed beyond its own slot.
    if (this.#mark === undefined || this.#held !== undefined || this.commitment === 'processed') return;
    this.#held = new Held(this.#slot, this.#mark, (tip) => {
      this.touchedAt = tip;
    });
  }
}
