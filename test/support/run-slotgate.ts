import { runCommandLine } from '../../src/cli/program.ts';
import { StartError } from '../../src/domain/start-error.ts';

/** Output and exit code of a command. */
export interface SlotgateOutput {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a command of `slotgate` in this process, as main.ts does, since starting a process takes longer than the
 * command. It must end by itself and read no standard input.
 */
export async function runSlotgate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<SlotgateOutput> {
  const [out, err] = [captureWrites(process.stdout), captureWrites(process.stderr)];
  const before = { ...process.env };
  Object.assign(process.env, env);
  let failure: unknown;
  try {
    await runCommandLine(['node', 'slotgate', ...args]);
  } catch (thrown) {
    failure = thrown;
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
    out.end();
    err.end();
  }
  if (failure === undefined) return { code: 0, out: out.text(), err: err.text() };
  if (!(failure instanceof StartError)) throw failure;
  return { code: failure.exitCode, out: out.text(), err: `${err.text()}slotgate: ${failure.message}\n` };
}

/** Captures what is written to a stream. */
function captureWrites(stream: NodeJS.WriteStream): { text(): string; end(): void } {
  const { write } = stream;
  let text = '';
  stream.write = (chunk: Uint8Array | string) => {
    text += chunk;
    return true;
  };
  return {
    text: () => text,
    end() {
      stream.write = write;
    },
  };
}
