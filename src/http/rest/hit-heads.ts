import type { Entry } from '../../cache/entry.ts';
import type { Coding } from './encoding.ts';
import { HitHead } from './head.ts';
import { cacheControlOf } from './wire.ts';

/** The heads of every kind of hit: nearly all take the same one, the rest are made when first needed. */
export class HitHeads {
  readonly #live = headOf('no-cache', 'identity');
  readonly #others = new Map<string, HitHead>();

  of(entry: Entry, coding: Coding): HitHead {
    if (coding === 'identity' && !entry.final) return this.#live;
    const cacheControl = cacheControlOf(entry);
    const name = `${coding} ${cacheControl}`;
    const head = this.#others.get(name) ?? headOf(cacheControl, coding);
    this.#others.set(name, head);
    return head;
  }
}

const headOf = (cacheControl: string, coding: Coding): HitHead =>
  new HitHead([
    ['X-Cache', 'HIT'],
    ['Cache-Control', cacheControl],
    ...(coding === 'identity' ? [] : [['Content-Encoding', coding] as const]),
  ]);
