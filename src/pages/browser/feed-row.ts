import type { Figures } from '../format/figures.ts';
import type { Health } from '../live/health.ts';
import { create } from './elements.ts';

/** Returns the row of the Geyser feed that keeps accounts live, or that would if it could. */
export function feedRow(
  { id, status, behindSlots, accounts }: NonNullable<Health['geyser']>,
  isCurrent: boolean,
  figures: Figures,
): HTMLLIElement {
  const lag = behindSlots === null || behindSlots === 0 ? '' : `, ${figures.integer(behindSlots)} slots behind`;
  const isUp = status === 'up';
  const words = isUp ? `${figures.integer(accounts)} accounts${lag}` : 'down, accounts are live over WebSockets';
  const isGood = isUp && isCurrent;
  const text = create('span', { class: isGood ? 'good' : 'warn' }, `${isGood ? '●' : '▲'} ${words}`);
  return create('li', {}, `Feed of ${id} `, text);
}
