import type { Client } from '../../client/index.ts';
import { create } from '../browser/elements.ts';
import type { TrustedClient } from '../browser/trusted-client.ts';
import type { Part } from './part.ts';
import type { Showing } from './showing.ts';
import type { Title } from './title.ts';

export interface ViewContext {
  readonly client: Client;
  /** The gateway's time, in Unix milliseconds. */
  readonly now: () => number;
  readonly title: Title;
  readonly add: (...parts: readonly Part[]) => void;
  /** Begins work that ends when the view is left, and begins again when Back shows it; it returns how to end it. */
  readonly whileShown: (work: () => () => void) => void;
  /** What the URL says of the view besides its subject: a tab, a page. */
  readonly options: URLSearchParams;
  /** Writes an option of the view into the URL; one that is empty leaves it. */
  readonly setOption: (name: string, value: string) => void;
}

/** The longest time for which parts wait for those above them; one that loads later scrolls in the room that it has. */
const REVEAL_MS = 8000;

/** Returns what fills a view, which is below its title, for as long as it is shown. */
export function contextOf(
  { client, now }: TrustedClient<Client>,
  title: Title,
  view: HTMLElement,
  shown: Showing,
): ViewContext {
  let above: Promise<unknown> = Promise.resolve();
  const placedParts: Part[] = [];
  /** Adds parts to the view once those above have their height: nothing that is read moves. */
  const add = (...parts: readonly Part[]): void => {
    const isNarrow = matchMedia('(max-width: 60rem)').matches;
    if (parts.length > 1 && isNarrow) {
      for (const part of parts) add(part); // each is above the next one
      return;
    }
    const elements = parts.map(({ element }) => element);
    const block = elements.length === 1 ? (elements[0] ?? '') : create('div', { class: 'grid' }, ...elements);
    const placed = above.then(() => {
      if (!shown.isShown) return;
      for (const part of placedParts) part.keepRoom();
      view.append(block);
      placedParts.push(...parts);
    });
    const limit = new Promise((resolve) => setTimeout(resolve, REVEAL_MS));
    above = placed.then(() => Promise.race([limit, Promise.all(parts.map(({ settled }) => settled))]));
  };
  return {
    client,
    now,
    title,
    options: new URLSearchParams(location.search),
    setOption(name, value) {
      const url = new URL(location.href);
      if (value === '') url.searchParams.delete(name);
      else url.searchParams.set(name, value);
      history.replaceState(history.state, '', url);
    },
    add,
    whileShown: (work) => shown.add(work),
  };
}
