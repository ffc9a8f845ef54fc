import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { TokenList } from '../../tokens/token-list.ts';
import { type ArmingRule, type Stage, type Step, SUBSCRIBING } from '../arming.ts';
import { Held } from '../held.ts';
import type { Wait } from '../wait.ts';
import type { Watermark } from '../watermark.ts';

/** Token accounts of this owner come and go, as far as the two programs tell: one subscription each. */
const OWN_PLACES = 2;

/**
 * What is known of one owner's token accounts at one commitment. News only says that they are to be read again: so the
 * list is always one that a node gave, whole and at one slot. Does no I/O: it is told, and says what it wants to know.
 */
export class WatchedList {
  readonly owner: string;
  readonly commitment: Commitment;
  /** The tip at its last reader. */
  touchedAt: Slot;
  /** The latest reading, which whoever asks may wait for. */
  reading: Wait | undefined;
  readonly #rule: ArmingRule;
  #stage: Stage = SUBSCRIBING;
  #slot: Slot = -1;
  #list: TokenList | undefined;
  /** The newest slot at which something is known to have changed. */
  #newsAt: Slot = -1;
  #mark: Watermark | undefined;
  #held: Held | undefined;
  #places = OWN_PLACES;
  #barredAt: Slot | undefined;

  constructor(owner: string, commitment: Commitment, rule: ArmingRule, touchedAt: Slot) {
    this.owner = owner;
    this.commitment = commitment;
    this.touchedAt = touchedAt;
    this.#rule = rule;
  }

  /** The slot of {@link list}; -1 while nothing is known. */
  get slot(): Slot {
    return this.#slot;
  }

  get list(): TokenList | undefined {
    return this.#list;
  }

  /** How many subscriptions it takes, as far as is known. */
  get places(): number {
    return this.#places;
  }

  get isLive(): boolean {
    return this.#stage.name === 'live';
  }

  /** The tip at which it was found that it can't be kept live; undefined while it may be. */
  get barredAt(): Slot | undefined {
    return this.#barredAt;
  }

  /** From which slot on it wants to be read now; undefined when it doesn't. */
  get wants(): Slot | undefined {
    const known = Math.max(0, this.#slot, this.#newsAt);
    if (this.#stage.name === 'first-read') return known;
    if (this.#stage.name === 'second-read') return Math.max(this.#stage.atLeast, known);
    return this.isLive && this.#held === undefined ? known : undefined;
  }

  /** What vouches for {@link list} beyond {@link slot}. */
  get held(): Held | undefined {
    return this.#held;
  }

  /** Begins anew, on another connection. What is known stays known. */
  join(mark: Watermark): void {
    this.#mark = mark;
    this.#stage = SUBSCRIBING;
    this.#held = undefined; // lost with the connection before: it has ended by itself
  }

  /** Ends the connection's word for it; what is known stays known. */
  leave(): void {
    this.#mark = undefined;
    this.rearm();
  }

  /** It takes more subscriptions, whose silence means nothing as yet: what is claimed stands still until then. */
  rearm(places = this.#places): void {
    this.#places = places;
    this.#stage = SUBSCRIBING;
    const before = this.#held;
    this.#held = undefined;
    before?.supersede();
  }

  /** It can't be kept live. */
  bar(tip: Slot): void {
    this.#barredAt = tip;
    this.#list = undefined;
  }

  step(step: Step): void {
    this.#stage = this.#rule(this.#stage, step);
    if (this.isLive && this.#newsAt <= this.#slot) this.#hold();
  }

  /** A whole list, read from the connection's node. All that it names is subscribed to. */
  read(slot: Slot, list: TokenList): void {
    if (slot < Math.max(this.#slot, this.#newsAt)) return;
    this.#slot = slot;
    this.#list = list;
    this.step({ name: 'read', slot });
  }

  /** Something has changed. Returns false when that slot was claimed already without it, so a claim was false. */
  told(slot: Slot, ask: () => void): boolean {
    if (slot <= this.#slot) return true; // it was read since
    const isLate = this.#held !== undefined && slot <= this.#held.slot;
    this.#newsAt = Math.max(this.#newsAt, slot);
    const before = this.#held;
    this.#held = undefined;
    ask(); // before anybody learns of the news, so that who wants the new list finds it on its way
    before?.supersede();
    return !isLate;
  }

  /** What was known turned out to be wrong. */
  forget(): void {
    this.#slot = -1;
    this.#list = undefined;
    this.#held = undefined;
  }

  #hold(): void {
    if (this.#mark === undefined || this.#held !== undefined || this.#list === undefined) return;
    this.#held = new Held(this.#slot, this.#mark, (tip) => {
      this.touchedAt = tip;
    });
  }
}
