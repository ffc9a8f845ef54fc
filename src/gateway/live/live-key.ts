import type { Commitment } from '../../shared/domain/commitment.ts';
import { ownText } from '../../shared/runtime/own-text.ts';

/** Returns the key of what is kept live. At the commitment that is read most it is the address itself. */
export const liveKeyOf = (address: string, commitment: Commitment): string =>
  commitment === 'confirmed' ? address : `${commitment}/${address}`;

/** Returns the key in one piece of memory, or the text of the address, which is kept anyway. */
export const ownKeyOf = (address: string, commitment: Commitment): string =>
  commitment === 'confirmed' ? address : ownText(liveKeyOf(address, commitment));
