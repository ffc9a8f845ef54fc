import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const starter = fileURLToPath(new URL('./key-opener-process.js', import.meta.url));

/** What processes that start at once over an empty state folder come to. */
export interface Starts {
  /** How many of them say that they made the key. */
  readonly makers: number;
  readonly keys: ReadonlySet<string>;
  readonly errors: string;
}

/** Starts so many, and lets them look for the key when all are ready. */
export async function startAtOnce(stateDir: string, count: number): Promise<Starts> {
  const children = Array.from({ length: count }, () => spawn(process.execPath, [starter, stateDir], { env: {} }));
  const said = Promise.all(children.map((child) => text(child.stdout)));
  const errors = Promise.all(children.map((child) => text(child.stderr)));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.write('go');
  const starts = (await said).map((out) => JSON.parse(out.split('\n')[1] ?? ''));
  return {
    makers: starts.filter(({ created }) => created).length,
    keys: new Set(starts.map(({ publicKey }) => publicKey)),
    errors: (await errors).join(''),
  };
}
