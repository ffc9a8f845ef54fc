import { crc32 } from 'node:zlib';

/** The outcomes of a request: answered, refused (4xx), over a limit (429), failed (5xx). */
export const REQUEST_OUTCOMES = ['answered', 'refused', 'limited', 'failed'] as const;

export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

export const DAY_MS = 86_400_000;

export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10);

/** The requests of a key on one route in one day (UTC), by {@link REQUEST_OUTCOMES}. */
export interface UsageRow {
  readonly day: string;
  readonly key: string;
  readonly route: string;
  readonly counts: readonly number[];
  readonly units: number;
  /** Units that requests paid, also of the day before, and got back: two numbers only grow, their difference does not. */
  readonly givenBack: number;
}

/** Returns what operators read of a row: its counts by name, and the units that were not given back. */
export const shownUsage = ({ counts, units, givenBack, ...row }: UsageRow) => ({
  ...row,
  ...Object.fromEntries(REQUEST_OUTCOMES.map((outcome, i) => [outcome, counts[i] ?? 0])),
  units: units - givenBack,
});

/** Formats one line of the usage file: a checksum, and rows that add to the rows above. */
export function formatUsageLine(rows: readonly UsageRow[]): string {
  const json = JSON.stringify(
    rows.map(({ day, key, route, counts, units, givenBack }) => [day, key, route, ...counts, units, givenBack]),
  );
  return `${checksum(json)} ${json}\n`;
}

/** Parses a line without its line end; returns undefined unless its checksum matches. */
export function parseUsageLine(line: string): readonly UsageRow[] | undefined {
  const json = line.slice(9);
  if (line.slice(0, 9) !== `${checksum(json)} `) return undefined;
  const rows = JSON.parse(json) as [string, string, string, ...number[]][]; // the checksum proves that we wrote it
  return rows.map(([day, key, route, ...numbers]) => {
    const counts = numbers.slice(0, REQUEST_OUTCOMES.length);
    // lines from before units were counted have none: each request counted one, unless it was over a limit
    const atLeast = counts.reduce((sum, n, i) => (i === LIMITED ? sum : sum + n), 0);
    // and those from before what was given back have the difference, below 0 too
    const [units = atLeast, givenBack = Math.max(0, -units)] = numbers.slice(REQUEST_OUTCOMES.length);
    return { day, key, route, counts, units: Math.max(0, units), givenBack };
  });
}

const LIMITED = REQUEST_OUTCOMES.indexOf('limited');

const checksum = (json: string): string => crc32(json).toString(16).padStart(8, '0');
