/** What a top-level instruction wrote into the log, and the compute units that it used, if the log says so. */
export interface InstructionLog {
  readonly lines: readonly string[];
  readonly computeUnits: number | null;
}

/**
 * Divides the log of a transaction among its top-level instructions, of which `programIds` names the programs. Precompiled
 * programs write none. Lines that belong to none, and those after a cut of the log, are left out.
 */
export function logsOf(log: readonly string[], programIds: readonly string[]): readonly (InstructionLog | undefined)[] {
  const groups: { readonly program: string; readonly lines: string[] }[] = [];
  for (const line of log) {
    const [, program] = /^Program (\w+) invoke \[1\]$/.exec(line) ?? [];
    if (program !== undefined) groups.push({ program, lines: [] });
    groups.at(-1)?.lines.push(line);
  }
  let next = 0;
  return programIds.map((programId) => {
    const group = groups[next];
    if (group?.program !== programId) return undefined;
    next++;
    const used = new RegExp(`^Program ${programId} consumed (\\d+) of \\d+ compute units$`);
    const [consumed] = group.lines.flatMap((line) => used.exec(line)?.[1] ?? []).slice(-1);
    return { lines: group.lines, computeUnits: consumed === undefined ? null : Number(consumed) };
  });
}
