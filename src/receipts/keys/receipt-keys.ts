import type { Clock } from '../../domain/clock.ts';
import type { SigningKey } from '../signing-key.ts';
import { activeKey, type KeyRing, type ReceiptKey, validSuccession } from './key-ring.ts';
import type { Succession } from './succession.ts';

/** The keys of a running gateway: one signs, and gives way to the next when that one's time has come. */
export class ReceiptKeys {
  readonly #clock: Clock;
  readonly #onChange: (key: SigningKey) => void;
  #ring: KeyRing;
  #nowMs = 0;
  #active: SigningKey;

  /** `onChange` is told of each key that begins to sign after the first. */
  constructor(ring: KeyRing, clock: Clock, onChange: (key: SigningKey) => void) {
    this.#ring = ring;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#active = this.#dueKey();
  }

  /** The key that signs now. */
  get active(): SigningKey {
    const due = this.#dueKey();
    if (due.kid === this.#active.kid) return this.#active;
    this.#active = due;
    this.#onChange(due);
    return due;
  }

  find(kid: string): ReceiptKey | undefined {
    return this.#ring.find((key) => key.kid === kid);
  }

  /** The word of an older key that a key can show; null when there is none, or it is void. */
  validSuccession(key: ReceiptKey): Succession | null {
    return validSuccession(this.#ring, key);
  }

  /**
   * Goes on with other keys. What is not among them stays known, but signs no more. Tells whether a key is void that
   * was not void before.
   */
  replace(ring: KeyRing): boolean {
    const known = new Set(ring.map(({ kid }) => kid));
    const removed = this.#ring.filter(({ kid }) => !known.has(kid)).map((key) => ({ ...key, signing: null }));
    const hasNewRevocation = ring.some(({ kid, isRevoked }) => isRevoked && this.find(kid)?.isRevoked === false);
    this.#ring = [...removed, ...ring];
    return hasNewRevocation;
  }

  #dueKey(): SigningKey {
    this.#nowMs = Math.max(this.#nowMs, this.#clock.now()); // a clock that is set back brings no old key back
    const signing = activeKey(
      this.#ring.filter((key) => key.signing !== null),
      this.#nowMs,
    )?.signing;
    if (!signing) throw new Error('no receipt key can sign');
    return signing;
  }
}
