import { anchorDiscriminator, discriminatorOf, namesInTables } from './program-instruction.ts';

const TOP_CALL = /^Program (\w{32,44}) invoke \[1\]$/;
const NAME = /^Program log: Instruction: (.{1,64})$/;

/**
 * Returns what programs call their top-level instructions in the logs, by place among the instructions: their own words.
 * Precompiled programs log no call, so one may be missing between others.
 */
export function loggedNamesOf(logs: readonly string[], programIds: readonly string[]): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  let next = 0;
  for (const [i, line] of logs.entries()) {
    const [, program] = line.endsWith('[1]') ? (TOP_CALL.exec(line) ?? []) : [];
    const place = program === undefined ? -1 : programIds.indexOf(program, next);
    if (place < 0) continue;
    next = place + 1;
    const [, name] = NAME.exec(logs[i + 1] ?? '') ?? [];
    if (name !== undefined) names.set(place, name);
  }
  return names;
}

/** Programs in whose tables a name stands that counts as a common one. */
const LEAST_PROGRAMS = 3;

let commonNames: ReadonlyMap<string, string> | undefined;

/** Returns the common name by which Anchor makes the discriminator of a call; null if there is none. */
export function commonNameOf(data: string | null): string | null {
  commonNames ??= new Map(
    [...namesInTables()]
      .filter(([, programs]) => programs >= LEAST_PROGRAMS)
      .map(([name]) => [anchorDiscriminator(name), name]),
  );
  return commonNames.get(discriminatorOf(data)) ?? null;
}
