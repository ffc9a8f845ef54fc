import type { Succession } from '../../../client/verify/index.ts';
import type { SigningKey } from '../signing-key.ts';

/** A key that signs now, will sign, or signed once. Its public half is kept for good, because receipts are evidence. */
export interface ReceiptKey {
  readonly publicKey: string;
  readonly kid: string;
  /** Start of its use in Unix milliseconds; 0 if it was used from the start. */
  readonly notBeforeMs: number;
  /** Signature of the former key, or null for a key that must be trusted by itself. */
  readonly succession: Succession | null;
  /** Whether somebody else may have the key, which voids all that it signed. */
  readonly isRevoked: boolean;
  /** Its private half; null if only the public half is available. */
  readonly signing: SigningKey | null;
}

export type KeyState = 'next' | 'active' | 'retired' | 'revoked';

export type KeyRing = readonly ReceiptKey[];

/** The last key whose start has passed: so a rotation needs no action at its time. */
export const activeKey = (ring: KeyRing, nowMs: number): ReceiptKey | undefined =>
  ring.findLast(({ isRevoked, notBeforeMs }) => !isRevoked && notBeforeMs <= nowMs);

/** Returns the state of a key. One whose start comes after that of a later key never signs, so it is retired too. */
export function keyState(ring: KeyRing, key: ReceiptKey, nowMs: number): KeyState {
  if (key.isRevoked) return 'revoked';
  const active = activeKey(ring, nowMs);
  if (key === active) return 'active';
  return active === undefined || ring.indexOf(key) > ring.indexOf(active) ? 'next' : 'retired';
}

/** Returns the succession of a key; null if the key that signed it was revoked. */
export function validSuccession(ring: KeyRing, { succession }: ReceiptKey): Succession | null {
  const predecessor = ring.find(({ kid }) => kid === succession?.kid);
  return predecessor === undefined || predecessor.isRevoked ? null : succession;
}
