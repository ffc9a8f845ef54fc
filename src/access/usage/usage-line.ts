import { crc32 } from 'node:zlib';

/** How a request ended: answered, refused (4xx), over a limit (429), failed (5xx). */
export const REQUEST_OUTCOMES = ['answered', 'refused', 'limited', 'failed'] as const;

export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

/** Requests of a key on one route in one day (UTC), by {@link REQUEST_OUTCOMES}. */
export interface UsageRow {
  readonly day: string;
  readonly key: string;
  readonly route: string;
  readonly counts: readonly number[];
}

/** One line of the usage file: a checksum, and rows that add to what stands above. */
export function formatUsageLine(rows: readonly UsageRow[]): string {
  const json = JSON.stringify(rows.map(({ day, key, route, counts }) => [day, key, route, ...counts]));
  return `${checksum(json)} ${json}\n`;
}

/** The rows of a line without its end; undefined when not every byte of it is as it was written. */
export function parseUsageLine(line: string): readonly UsageRow[] | undefined {
  const json = line.slice(9);
  if (line.slice(0, 9) !== `${checksum(json)} `) return undefined;
  const rows = JSON.parse(json) as [string, string, string, ...number[]][]; // the checksum says that we wrote it
  return rows.map(([day, key, route, ...counts]) => ({ day, key, route, counts }));
}

const checksum = (json: string): string => crc32(json).toString(16).padStart(8, '0');
