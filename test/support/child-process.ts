import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestScope } from './test-scope.ts';

export interface ChildProgram {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Returns how often standard output contains `text`. */
  timesLogged(text: string): number;
  /** Waits until standard output contains `text`; fails when the process ends without it. */
  waitForOutput(text: string): Promise<void>;
  /** Waits for the end; returns the exit code or the name of the signal that killed it. */
  exit(): Promise<number | string>;
}

/** Runs a compiled module of this project, with at most `maxOpenFiles` file descriptors if that is given. */
export function runModule(
  module: URL,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  maxOpenFiles?: number,
): ChildProgram {
  const { PATH } = process.env;
  const command = [process.execPath, fileURLToPath(module), ...args];
  const bounded = ['/bin/sh', '-c', `ulimit -n ${maxOpenFiles}; exec "$@"`, 'sh', ...command];
  const [program = '', ...programArgs] = maxOpenFiles === undefined ? command : bounded;
  const child = spawn(program, programArgs, {
    env: { PATH, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const end = once(child, 'close').then(([code, signal]: (number | string)[]) => code ?? signal ?? 'unknown');
  return {
    process: child,
    stdout: () => out,
    stderr: () => err,
    timesLogged: (text) => out.split(text).length - 1,
    async waitForOutput(text) {
      while (!out.includes(text)) {
        const ended = await Promise.race([once(child.stdout, 'data').then(() => false), end.then(() => true)]);
        if (ended && !out.includes(text)) throw new Error(`it ended without saying ${text}: ${out}${err}`);
      }
    },
    exit: () => end,
  };
}

/** Runs `slotgate` of this build, which ends with the test at the latest. */
export function startMain(
  t: Pick<TestScope, 'teardown'>,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
  maxOpenFiles?: number,
): ChildProgram {
  const child = runModule(new URL('../../src/main.js', import.meta.url), args, env, maxOpenFiles);
  t.teardown(() => child.process.kill('SIGKILL'));
  return child;
}

/** Arguments of a gateway with long upstream timeouts, for busy machines, and a short end, whatever connections are left. */
export const PATIENT_ARGS = [
  ...['--admin-port', '0'],
  ...['--set', 'drainTimeoutMs=1000'],
  ...['startTimeoutMs', 'timeoutMs', 'slowTimeoutMs'].flatMap((name) => ['--set', `upstreamPolicy.${name}=120000`]),
];

/** What a gateway prints when it listens. */
export interface ListeningLine {
  readonly url: string;
  readonly cluster: string | null;
  readonly embedded?: { readonly rpc: string };
  readonly admin?: string;
}

/** Waits until a gateway in a child process listens; returns what it prints. */
export async function waitUntilListening(child: ChildProgram): Promise<ListeningLine> {
  await child.waitForOutput('"listening"}\n');
  const line = child
    .stdout()
    .split('\n')
    .find((line) => line.endsWith('"listening"}'));
  return JSON.parse(line ?? '');
}
