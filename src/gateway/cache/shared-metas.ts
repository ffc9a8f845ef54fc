import type { AnswerMeta } from './entry.ts';

/** The most different properties of answers that are shared: routes have few. */
const MAX_METAS = 1000;

/** The properties of answers, one object for all that are equal: each entry of the cache refers to it. */
export class SharedMetas {
  readonly #metas = new Map<string, AnswerMeta>();
  /** That of the last answer: most requests are for one route. */
  #last: AnswerMeta | undefined;

  share(meta: AnswerMeta): AnswerMeta {
    if (this.#last !== undefined && isEqual(meta, this.#last)) return this.#last;
    this.#last = this.#keep(JSON.stringify(meta), meta);
    return this.#last;
  }

  /** Returns the properties that another process has written as JSON. */
  parse(text: string): AnswerMeta {
    return this.#metas.get(text) ?? this.#keep(text, JSON.parse(text));
  }

  #keep(text: string, meta: AnswerMeta): AnswerMeta {
    const shared = this.#metas.get(text) ?? meta;
    if (this.#metas.size < MAX_METAS) this.#metas.set(text, shared);
    return shared;
  }
}

/** Every property that can differ: one that is missing here does not compile. */
const PROPERTIES = Object.keys({
  route: true,
  commitment: true,
  exact: true,
  claimNumber: true,
  finalFor: true,
  envelope: true,
  fromSnapshot: true,
  isPast: true,
  isSkipped: true,
} satisfies Record<keyof AnswerMeta, true>) as readonly (keyof AnswerMeta)[]; // the keys above

const isEqual = (meta: AnswerMeta, other: AnswerMeta): boolean =>
  PROPERTIES.every((property) => meta[property] === other[property]);
