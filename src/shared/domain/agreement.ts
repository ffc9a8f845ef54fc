import { GatewayError } from './gateway-error.ts';
import type { Slot } from './slot.ts';

/** How many operators gave a result at one slot. Undefined wherever one operator is configured, and no other can be read. */
export interface Agreement {
  readonly slot: Slot;
  /** The operators that gave it. */
  readonly agreed: number;
  /** The operators that were read, at least {@link needed}. */
  readonly read: number;
  /** The operators that must give a result before it is `exact`. */
  readonly needed: number;
}

/** Parses the number of operators that a caller demands; undefined for what no gateway could have. */
export const operatorsIn = (text: string): number | undefined => (/^[1-9]\d?$/.test(text) ? Number(text) : undefined);

/** Returns how many of some operators decide where two of them differ. */
export const decidingOf = (operators: number): number => Math.min(3, operators);

/** Returns the agreement of what one operator gave. */
export const oneVoice = (slot: Slot, needed: number): Agreement => ({ slot, agreed: 1, read: needed, needed });

/** Returns the number of operators that vouch for a result at a slot: for another slot than they were read at, one does. */
export const agreedAt = (agreement: Agreement | undefined, slot: Slot): number =>
  agreement?.slot === slot ? agreement.agreed : 1;

/** Returns the error for an answer that fewer operators gave than the caller demands. */
export const noAgreement = (agree = 1): GatewayError =>
  new GatewayError('no_agreement', `fewer than ${agree} operators gave the same answer at one slot; retry in a moment`);

/** Returns true if as many operators vouch for a result at a slot as `exact` needs. */
export const isAgreed = (agreement: Agreement | undefined, slot: Slot): boolean =>
  agreement === undefined || agreedAt(agreement, slot) >= agreement.needed;

/** Formats an agreement as receipts have it: `2/3`; undefined for receipts of version 1. */
export function agreementText(agreement: Agreement | undefined, slot: Slot): string | undefined {
  if (agreement === undefined) return undefined;
  const { agreed, read, needed } = agreement;
  return agreement.slot === slot ? `${agreed}/${read}` : `1/${needed}`;
}

/** Combines the agreements of the parts of a result at one slot: that of the part for which the fewest operators vouch. */
export function combinedAgreement(parts: readonly (Agreement | undefined)[], slot: Slot): Agreement | undefined {
  let weakest: Agreement | undefined;
  for (const part of parts) {
    if (part === undefined) return undefined;
    if (part.slot !== slot) return oneVoice(slot, part.needed);
    if (weakest === undefined || part.agreed < weakest.agreed) weakest = part;
  }
  return weakest;
}
