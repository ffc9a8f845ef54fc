import { runCommandLine } from '../../src/cli/program.ts';

/** What a command line wrote, and the exit code that it would have ended the process with. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `slotgate` with these arguments in this process. Nothing else may write meanwhile. */
export async function said(...args: string[]): Promise<Said> {
  const written = { stdout: '', stderr: '' };
  const streams = ['stdout', 'stderr'] as const;
  const own = streams.map((name) => process[name].write);
  for (const name of streams) {
    process[name].write = (text: string | Uint8Array): boolean => {
      written[name] += text;
      return true;
    };
  }
  let fault: { readonly exitCode?: number; readonly message?: string } | undefined;
  try {
    await runCommandLine(['node', 'slotgate', ...args]);
  } catch (thrown) {
    fault = Object(thrown);
  } finally {
    for (const [i, name] of streams.entries()) process[name].write = own[i] ?? process[name].write;
  }
  return {
    code: fault === undefined ? 0 : (fault.exitCode ?? -1),
    out: written.stdout,
    err: fault?.message ?? written.stderr,
  };
}
