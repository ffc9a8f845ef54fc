/** A part of a description. */
export interface Clause {
  readonly text: string;
  /** What may stand for it where room is short: nothing for a gain. Losses and rights have none and are never shortened. */
  readonly short?: string;
}

/** Joins clauses to a text that fits in `room`, as far as they can be shortened. Two clauses of the actor name it once. */
export function joinClauses(clauses: readonly Clause[], actor: string, room = Number.POSITIVE_INFINITY): string {
  const texts = clauses.map(({ text }) => text);
  let joined = join(texts, actor);
  for (const [place, { short }] of [...clauses.entries()].reverse()) {
    if (joined.length <= room) break;
    if (short === undefined) continue;
    texts[place] = short;
    const gains = texts.filter((text) => text === '').length;
    const note = gains === 0 ? [] : [gains === 1 ? 'one gain is left out' : `${gains} gains are left out`];
    joined = join([...texts.filter((text) => text !== ''), ...note], actor);
  }
  return joined;
}

const join = (texts: readonly string[], actor: string): string =>
  texts.reduce((joined, text, place) =>
    texts[place - 1]?.startsWith(`${actor} `) && text.startsWith(`${actor} also `)
      ? `${joined}, and also ${text.slice(`${actor} also `.length)}`
      : `${joined}; ${text}`,
  );
