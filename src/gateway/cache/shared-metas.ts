import type { AnswerMeta } from './entry.ts';

/** The most different properties of answers that are shared: routes have few. */
const MAX_METAS = 1000;

/** The properties of answers, one object for all that are equal: each entry of the cache refers to it. */
export class SharedMetas {
  readonly #metas = new Map<string, AnswerMeta>();

  share(meta: AnswerMeta): AnswerMeta {
    return this.parse(JSON.stringify(meta));
  }

  /** Returns the properties that another process has written as JSON. */
  parse(text: string): AnswerMeta {
    const shared = this.#metas.get(text);
    if (shared !== undefined) return shared;
    const meta: AnswerMeta = JSON.parse(text);
    if (this.#metas.size < MAX_METAS) this.#metas.set(text, meta);
    return meta;
  }
}
