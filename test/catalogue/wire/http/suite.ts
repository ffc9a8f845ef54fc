import { exchange } from '../../../support/raw.ts';
import type { Case } from './case.ts';
import { CONNECTION } from './connection.ts';
import { FIELDS } from './fields.ts';
import { FRAMING } from './framing.ts';
import { REQUEST_LINE } from './request-line.ts';
import { SEMANTICS } from './semantics.ts';

/** What RFC 9110 and 9112 say of a server, as far as raw bytes can ask. */
export const SUITE: readonly Case[] = [...REQUEST_LINE, ...FIELDS, ...FRAMING, ...CONNECTION, ...SEMANTICS];

export const nameOf = ({ rule, what }: Case): string => `${rule}: ${what}`;

/** Plays all cases, and gives those that do not hold. */
export async function failures(url: string): Promise<readonly Case[]> {
  const held = await Promise.all(
    SUITE.map(async ({ packets, answers, holds }) => holds(await exchange(url, packets, { answers }))),
  );
  return SUITE.filter((_, i) => !held[i]);
}
