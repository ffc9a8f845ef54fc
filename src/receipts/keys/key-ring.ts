import type { SigningKey } from '../signing-key.ts';
import type { Succession } from './succession.ts';

/** A key that signs now, will sign, or signed once. Its public half is kept for good: a receipt is evidence. */
export interface ReceiptKey {
  /** The 32 public bytes, base58. */
  readonly publicKey: string;
  readonly kid: string;
  /** From when on it signs, in Unix milliseconds; 0 where it took over at once. */
  readonly notBeforeMs: number;
  /** The word of the key before it, or null for a key that must be trusted by itself. */
  readonly succession: Succession | null;
  /** True of a key that somebody else may have: whatever it signed is void. */
  readonly isRevoked: boolean;
  /** What it signs with; null for a key of which only the public half is at hand. */
  readonly signing: SigningKey | null;
}

/** Where a key is in its life. */
export type KeyState = 'next' | 'active' | 'retired' | 'revoked';

/** All keys of a gateway, in the order in which they were made. It is never empty. */
export type KeyRing = readonly ReceiptKey[];

/** The key that should sign: the last one whose time has come. So a change needs no hand at its moment. */
export const activeKey = (ring: KeyRing, nowMs: number): ReceiptKey | undefined =>
  ring.findLast(({ isRevoked, notBeforeMs }) => !isRevoked && notBeforeMs <= nowMs);

/** What a key is at a time. One whose turn came only after that of a later one never signs: it is retired, too. */
export function keyState(ring: KeyRing, key: ReceiptKey, nowMs: number): KeyState {
  if (key.isRevoked) return 'revoked';
  const active = activeKey(ring, nowMs);
  if (key === active) return 'active';
  return active === undefined || ring.indexOf(key) > ring.indexOf(active) ? 'next' : 'retired';
}

/** The word that stands for a key; null once whoever gave it is void. */
export function validSuccession(ring: KeyRing, { succession }: ReceiptKey): Succession | null {
  const predecessor = ring.find(({ kid }) => kid === succession?.kid);
  return predecessor === undefined || predecessor.isRevoked ? null : succession;
}
