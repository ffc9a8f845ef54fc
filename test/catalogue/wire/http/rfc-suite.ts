import { exchange } from '../../../support/raw-http.ts';
import { CONNECTION_CASES } from './connection-cases.ts';
import { FIELD_CASES } from './field-cases.ts';
import { FRAMING_CASES } from './framing-cases.ts';
import type { HttpCase } from './http-case.ts';
import { REQUEST_LINE_CASES } from './request-line-cases.ts';
import { SEMANTICS_CASES } from './semantics-cases.ts';

/** Cases of RFC 9110 and 9112 that raw bytes can check. */
export const RFC_SUITE: readonly HttpCase[] = [
  ...REQUEST_LINE_CASES,
  ...FIELD_CASES,
  ...FRAMING_CASES,
  ...CONNECTION_CASES,
  ...SEMANTICS_CASES,
];

export const nameOf = ({ rule, title }: HttpCase): string => `${rule}: ${title}`;

/** Runs all cases; returns those that fail. */
export async function failedCases(url: string): Promise<readonly HttpCase[]> {
  const held = await Promise.all(
    RFC_SUITE.map(async ({ packets, responses, holds }) => holds(await exchange(url, packets, { responses }))),
  );
  return RFC_SUITE.filter((_, i) => !held[i]);
}
