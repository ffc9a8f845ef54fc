import { hash } from 'node:crypto';

/** The digests of consensus data by name: nodes that have different ones under one name can't both be honest. */
export type Facts = ReadonlyMap<string, string>;

/** Returns the digest of the parts of a fact; one that is missing counts as empty. */
export const digestOf = (parts: readonly (string | undefined)[]): string => hash('sha256', parts.join('\n'), 'hex');

/** What a node gave, and what it should have given. */
export interface Contradiction {
  readonly digest: string;
  readonly expected: string;
}

/** Returns the first fact of two nodes that differs; undefined if they may both be honest. */
export function contradictionOf(given: Facts, expected: Facts): Contradiction | undefined {
  for (const [name, digest] of given) {
    const other = expected.get(name);
    if (other !== undefined && other !== digest) return { digest, expected: other };
  }
  return undefined;
}
