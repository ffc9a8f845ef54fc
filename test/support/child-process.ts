import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program that a test runs, and what it has written so far. */
export interface Child {
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Waits until the standard output holds `text`; fails when the process ends without it. */
  says(text: string): Promise<void>;
  /** Waits for the end and gives the exit code, or the name of the signal that killed it. */
  ended(): Promise<number | string>;
}

/** Runs a compiled module of this project. */
export function run(module: URL, args: readonly string[], env: NodeJS.ProcessEnv = {}): Child {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(module), ...args], {
    env: { PATH, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const end = once(child, 'close').then(([code, signal]: (number | string)[]) => code ?? signal ?? 'unknown');
  return {
    process: child,
    out: () => out,
    err: () => err,
    async says(text) {
      while (!out.includes(text)) {
        const ended = await Promise.race([once(child.stdout, 'data').then(() => false), end.then(() => true)]);
        if (ended && !out.includes(text)) throw new Error(`it ended without saying ${text}: ${out}${err}`);
      }
    },
    ended: () => end,
  };
}

/** Arguments of a gateway that gives its nodes all the time that a busy machine may take. */
export const PATIENT = ['startMs', 'timeoutMs', 'slowTimeoutMs'].flatMap((name) => [
  '--set',
  `upstream.${name}=120000`,
]);

/** Waits until a gateway in a process of its own listens; gives what it says then: where, and over which cluster. */
export async function listening(child: Child): Promise<{ readonly url: string; readonly cluster: string }> {
  await child.says('"listening"}\n');
  const line = child
    .out()
    .split('\n')
    .find((line) => line.endsWith('"listening"}'));
  return JSON.parse(line ?? '');
}
