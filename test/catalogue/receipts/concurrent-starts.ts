import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const openerProgram = fileURLToPath(new URL('./key-opener-process.js', import.meta.url));

/** The result of processes that start simultaneously with an empty state folder. */
export interface ConcurrentStarts {
  /** The number of them that report having created the key. */
  readonly creators: number;
  readonly keys: ReadonlySet<string>;
  readonly errors: string;
}

/** Starts processes, and lets them load the key when all are ready. */
export async function startConcurrently(stateDir: string, count: number): Promise<ConcurrentStarts> {
  const children = Array.from({ length: count }, () => spawn(process.execPath, [openerProgram, stateDir], { env: {} }));
  const outputs = Promise.all(children.map((child) => text(child.stdout)));
  const errors = Promise.all(children.map((child) => text(child.stderr)));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.write('go');
  const results = (await outputs).map((out) => JSON.parse(out.split('\n')[1] ?? ''));
  return {
    creators: results.filter(({ created }) => created).length,
    keys: new Set(results.map(({ publicKey }) => publicKey)),
    errors: (await errors).join(''),
  };
}
