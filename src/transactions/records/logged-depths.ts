import { asArray } from '../codec/json-fields.ts';
import type { Instruction } from './instruction.ts';

// A program's own lines begin with `Program log: ` or `Program data: `, so it can't write this one of the runtime.
const INVOKE_LINE = /^Program (\w{32,44}) invoke \[(\d{1,3})\]$/;

interface LoggedCall {
  readonly programId: string;
  readonly depth: number;
  readonly inner: LoggedCall[];
}

/** Returns instructions with the depths of inner ones that the record lacks, where the log has a line for each of them. */
export function withLoggedDepths(instructions: Instruction[], logs: unknown): Instruction[] {
  if (instructions.every(({ inner }) => inner.every(({ stackHeight }) => stackHeight !== null))) return instructions;
  const logged: LoggedCall[] = [];
  for (const line of asArray(logs)) {
    const [, programId, depth] = (typeof line === 'string' && INVOKE_LINE.exec(line)) || [];
    if (programId === undefined) continue;
    const call = { programId, depth: Number(depth), inner: [] };
    (call.depth === 1 ? logged : logged.at(-1)?.inner)?.push(call);
  }
  let at = 0;
  return instructions.map((call, place) => {
    const { programId, index, inner } = call;
    const isWithin = instructions[place + 1]?.index === index; // in a batch, which is one call
    if (isWithin || logged[at]?.programId !== programId) return call; // a precompiled program logs nothing
    const calls = logged[at++]?.inner ?? [];
    const isWhole =
      calls.length === (inner.at(-1)?.innerIndex ?? -1) + 1 &&
      inner.every((made) => calls[made.innerIndex ?? -1]?.programId === made.programId);
    if (!isWhole) return call;
    const withDepth = (made: Instruction): Instruction => ({
      ...made,
      stackHeight: made.stackHeight ?? calls[made.innerIndex ?? -1]?.depth ?? null,
    });
    return { ...call, inner: inner.map(withDepth) };
  });
}
