import { firstSlotOfEpoch } from '../../shared/domain/epoch-info.ts';
import { formatSpan } from '../format/figures.ts';
import { figures, timeOf } from './figures.ts';
import { linkTo } from './links.ts';
import { Part } from './part.ts';
import { facts, shareBar } from './tables.ts';
import { ticking } from './title.ts';
import type { ViewContext } from './view-context.ts';

/** Shows the slots of an epoch, and of the current one its progress. */
export function showEpoch({ client, now, title, add, whileShown }: ViewContext, id: string): void {
  const part = new Part('Epoch', title.proofs);
  add(part);
  const slotLink = (slot: number): HTMLElement => linkTo(String(slot), figures.integer(slot));
  part.loadAnswer(
    () => client.get('/epoch'),
    (current) => {
      const { epoch, absoluteSlot, estimatedEndTime, epochProgress } = current;
      const shown = Number(id);
      const isCurrent = shown === epoch;
      const end = (): string => `${timeOf(estimatedEndTime)}, in ${formatSpan(estimatedEndTime * 1000 - now())}`;
      return [
        isCurrent && shareBar(epochProgress),
        facts([
          ['State', isCurrent ? 'current' : shown > epoch ? 'still to come' : 'over'],
          ['Ends', isCurrent && ticking(end, whileShown)],
          ['First slot', slotLink(firstSlotOfEpoch(current, shown))],
          ['Newest slot', isCurrent && slotLink(absoluteSlot)],
          ['Last slot', slotLink(firstSlotOfEpoch(current, shown + 1) - 1)],
          ['Current epoch', !isCurrent && linkTo(`epoch ${epoch}`, figures.integer(epoch))],
        ]),
      ];
    },
  );
}
