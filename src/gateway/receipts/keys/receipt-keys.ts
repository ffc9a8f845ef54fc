import type { Succession } from '../../../client/verify/index.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { MAX_LEAD_MS } from '../signer.ts';
import type { SigningKey } from '../signing-key.ts';
import { activeKey, type KeyRing, type ReceiptKey, validSuccession } from './key-ring.ts';

export class ReceiptKeys {
  readonly #clock: Clock;
  readonly #onChange: (key: SigningKey) => void;
  #ring: KeyRing;
  #nowMs = 0;
  #active: SigningKey;

  /** Subscribes `onChange` to each key that begins to sign after the first. */
  constructor(ring: KeyRing, clock: Clock, onChange: (key: SigningKey) => void) {
    this.#ring = ring;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#active = this.#dueKey();
  }

  get active(): SigningKey {
    const due = this.#dueKey();
    if (due.kid === this.#active.kid) return this.#active;
    this.#active = due;
    this.#onChange(due);
    return due;
  }

  get ids(): readonly string[] {
    return this.#ring.map(({ kid }) => kid);
  }

  find(kid: string): ReceiptKey | undefined {
    return this.#ring.find((key) => key.kid === kid);
  }

  /** Returns the succession that a key can present; null if there is none or its signer was revoked. */
  validSuccession(key: ReceiptKey): Succession | null {
    return validSuccession(this.#ring, key);
  }

  /** Returns true if receipts of a revoked key may be there: also those of another process that still signed with it. */
  get hasRevoked(): boolean {
    return this.#ring.some(({ isRevoked }) => isRevoked);
  }

  /** Replaces the keys. Removed keys stay known but no longer sign. */
  replace(ring: KeyRing): void {
    const known = new Set(ring.map(({ kid }) => kid));
    const removed = this.#ring.filter(({ kid }) => !known.has(kid)).map((key) => ({ ...key, signing: null }));
    this.#ring = [...removed, ...ring];
  }

  #dueKey(): SigningKey {
    const nowMs = this.#clock.now();
    const leadMs = this.#nowMs - nowMs;
    // a clock set back a little must not reactivate an old key; one set back far was wrong before, as receipts assume
    if (leadMs < 0 || leadMs > MAX_LEAD_MS) this.#nowMs = nowMs;
    const usable = this.#ring.filter(({ signing, isRevoked }) => signing !== null && !isRevoked);
    // where the clock was wrong when the keys were read, only the secret of one that begins later may be there
    const signing = (activeKey(usable, this.#nowMs) ?? usable[0])?.signing;
    if (!signing) throw new Error('no receipt key can sign');
    return signing;
  }
}
