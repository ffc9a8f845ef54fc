import { runCommandLine } from '../../src/cli/program.ts';

/** Output of a command line and the exit code that it would have ended the process with. */
export interface CommandOutput {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `slotgate` with these arguments in this process. Nothing else may write to standard output meanwhile. */
export async function runCommand(...args: string[]): Promise<CommandOutput> {
  const written = { stdout: '', stderr: '' };
  const streams = ['stdout', 'stderr'] as const;
  const originals = streams.map((name) => process[name].write);
  for (const name of streams) {
    process[name].write = (text: string | Uint8Array): boolean => {
      written[name] += text;
      return true;
    };
  }
  let failure: { readonly exitCode?: number; readonly message?: string } | undefined;
  try {
    await runCommandLine(['node', 'slotgate', ...args]);
  } catch (thrown) {
    failure = Object(thrown);
  } finally {
    for (const [i, name] of streams.entries()) process[name].write = originals[i] ?? process[name].write;
  }
  return {
    code: failure === undefined ? 0 : (failure.exitCode ?? -1),
    out: written.stdout,
    err: failure?.message ?? written.stderr,
  };
}
