import { formatSpan } from '../format/figures.ts';
import { figures } from './figures.ts';
import { linkTo } from './links.ts';
import { Part, type ViewContext } from './part.ts';
import { facts, shareBar } from './tables.ts';

/** Shows the slots of an epoch, and of the current one its progress. A path to a block names the first slot of another one. */
export function showEpoch({ client, title, add }: ViewContext, id: string, path: string): void {
  const part = new Part('Epoch', title.proofs);
  add(part);
  const slotLink = (slot: number): HTMLElement => linkTo(String(slot), figures.integer(slot));
  const request = () => client.get('/epoch');
  part.loadAnswer(request, ({ absoluteSlot, slotIndex, slotsInEpoch, estimatedEndTime, ...epoch }) => {
    const other = /\/block\/(\d+)$/.exec(path)?.[1];
    const first = other === undefined ? absoluteSlot - slotIndex : Number(other);
    const end = `${figures.time(estimatedEndTime)}, in ${formatSpan(estimatedEndTime * 1000 - Date.now())}`;
    // those by which a new cluster warms up are shorter
    const isWhole = first === Number(id) * slotsInEpoch || first >= slotsInEpoch;
    return [
      other === undefined && shareBar(epoch.epochProgress),
      facts([
        ['State', other === undefined ? 'current' : first > absoluteSlot ? 'still to come' : 'over'],
        ['Ends', other === undefined ? end : null],
        ['First slot', slotLink(first)],
        ['Newest slot', other === undefined ? slotLink(absoluteSlot) : null],
        ['Last slot', isWhole ? slotLink(first + slotsInEpoch - 1) : null],
        ['Current epoch', other === undefined ? null : linkTo(`epoch ${epoch.epoch}`, figures.integer(epoch.epoch))],
      ]),
    ];
  });
}
