import { runCommandLine } from '../../src/cli/program.ts';
import { StartError } from '../../src/shared/domain/start-error.ts';
import { visibleText } from '../../src/shared/domain/visible-text.ts';

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
  const [out, err] = [captureWrites('stdout'), captureWrites('stderr')];
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
  return { code: failure.exitCode, out: out.text(), err: `${err.text()}slotgate: ${visibleText(failure.message)}\n` };
}

/** Captures what is written to a stream. Its `write` can't be replaced under Node's test runner, so the stream is. */
function captureWrites(name: 'stdout' | 'stderr'): { text(): string; end(): void } {
  const before = Object.getOwnPropertyDescriptor(process, name) ?? {};
  let text = '';
  const write = (chunk: Uint8Array | string): boolean => {
    text += chunk;
    return true;
  };
  const value: NodeJS.WriteStream = Object.create(process[name], { write: { value: write } });
  Object.defineProperty(process, name, { configurable: true, value });
  return { text: () => text, end: () => void Object.defineProperty(process, name, before) };
}
