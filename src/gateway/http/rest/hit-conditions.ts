import { isNonce } from '../../../client/verify/index.ts';
import { agreedAt, operatorsIn } from '../../../shared/domain/agreement.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { BASE_UNITS, NONCE_UNITS } from '../../../shared/domain/units.ts';
import { type Entry, etagOf } from '../../cache/entry.ts';
import { slotIn } from '../../serving/min-slot.ts';
import { ensureDigest, hasLongResult } from '../../serving/result-digest.ts';
import type { EngineRequest } from '../engine/engine.ts';
import { matchesEtag } from './response-headers.ts';
import type { Conditions } from './responses.ts';

/** What a GET that may be a hit requires besides its target. */
export interface HitConditions extends Omit<Conditions, 'accept'> {
  readonly minSlot: Slot;
  /** Operators that must have given the answer. */
  readonly agree: number;
}

export const UNCONDITIONAL: HitConditions = { nonce: null, ifNoneMatch: '', minSlot: 0, agree: 1 };

export function hitConditionsIn(req: EngineRequest): HitConditions {
  const minSlot = req.getHeader('x-min-slot');
  const agree = req.getHeader('x-agree');
  const demanded = operatorsIn(agree) ?? 1;
  return {
    nonce: req.getHeader('x-receipt-nonce') || null,
    ifNoneMatch: req.getHeader('if-none-match'),
    minSlot: minSlot === '' ? 0 : (slotIn(minSlot) ?? Number.POSITIVE_INFINITY),
    agree: agree === '' ? 1 : demanded > 1 ? demanded : Number.POSITIVE_INFINITY,
  };
}

/** Returns true if an entry can be the answer under these conditions. Only the full path evaluates invalid ones. */
export function canAnswer(entry: Entry, { nonce, ifNoneMatch, minSlot, agree }: HitConditions): boolean {
  const isSigned = entry.meta.envelope === 'signed';
  if (agree > 1 && agreedAt(entry.agreement, entry.slot) < agree) return false;
  if (minSlot > 0 && entry.meta.isPast === true) return false; // refused by the full path
  if (entry.slot < minSlot || (nonce !== null && !(isSigned && isNonce(nonce)))) return false;
  if (ifNoneMatch === '' || !isSigned || entry.digest !== '') return true;
  if (hasLongResult(entry)) return false;
  ensureDigest(entry); // its first digits are the ETag
  return true;
}

/** Returns true if the caller has the result of this entry already (RFC 9110 13.1.2): the answer is then a 304. */
export const isUnchanged = ({ ifNoneMatch }: HitConditions, entry: Entry): boolean =>
  ifNoneMatch !== '' && matchesEtag(ifNoneMatch, etagOf(entry));

/** Returns the units of a hit. A 304 costs nothing for the bytes that it spares. */
export function hitUnitsOf(entry: Entry, conditions: HitConditions): number {
  if (conditions === UNCONDITIONAL) return entry.units;
  const units = isUnchanged(conditions, entry) ? BASE_UNITS : entry.units;
  return conditions.nonce === null ? units : units + NONCE_UNITS;
}
