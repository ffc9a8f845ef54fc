import type { AnswerMeta } from './entry.ts';

/** The most different properties of answers that are shared: routes have few. */
const MAX_METAS = 1000;

/** The properties of answers, one object for all that are equal: each entry of the cache refers to it. */
export class SharedMetas {
  readonly #metas = new Map<string, AnswerMeta>();

  /** Returns the object for these properties. */
  share(meta: AnswerMeta): AnswerMeta {
    const text = JSON.stringify(meta);
    const shared = this.#metas.get(text) ?? meta;
    if (this.#metas.size < MAX_METAS) this.#metas.set(text, shared);
    return shared;
  }
}
