import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../src/shared/runtime/require-free-port.ts';
import { NODE_OPTIONS } from '../test/support/process-usage.ts';
import { atExit } from './support/at-exit.ts';
import { Bench, interleave } from './support/bench.ts';
import { startNode } from './support/node-process.ts';
import { DIST } from './support/server-process.ts';
import { makeTemporaryFolder } from './support/temporary-folder.ts';

// Time from the command to the first signed answer: with the embedded cluster and over a node, by npm and without. A new
// state folder each time, so a signing key is made, too.

const POLL_MS = 5;
const LIMIT_MS = 60_000;

interface Start {
  readonly ms: number;
  readonly refused: number;
}

const bench = new Bench({ rounds: 5, seconds: 1 });
const node = await startNode();
const npm = ['npm', 'start', '--silent', '--'];
const direct = [process.execPath, '--enable-source-maps', ...NODE_OPTIONS, join(DIST, 'src/main.js')];
const over = ['--upstream', node.upstream];

console.log('from the command to the first signed 200');
const starts = await interleave(bench.rounds, {
  npm: () => start([...npm, '--set', 'embedded.port=0']),
  direct: () => start([...direct, '--set', 'embedded.port=0']),
  npmOverNode: () => start([...npm, ...over]),
  directOverNode: () => start([...direct, ...over]),
});
const ms = (list: readonly Start[]): number[] => list.map((start) => start.ms);
bench.value('npm start, embedded cluster', 'ms', ms(starts.npm), { atMost: 1500 });
bench.value('node dist/src/main.js, embedded cluster', 'ms', ms(starts.direct));
bench.value('npm start, over a node', 'ms', ms(starts.npmOverNode), { atMost: 1500 });
bench.value('node dist/src/main.js, over a node', 'ms', ms(starts.directOverNode));
const refused = Object.values(starts).flatMap((list: readonly Start[]) => list.map((start) => start.refused));
bench.value('answers 503 once the port listens', '', [Math.max(...refused)], { atMost: 0 });
bench.end();

/** Starts a gateway, polls until an answer is signed, and ends it. */
async function start(command: readonly string[]): Promise<Start> {
  const port = await findFreePort('127.0.0.1');
  const [program = '', ...args] = [...command, '--port', `${port}`, '--state', makeTemporaryFolder(), ...bench.set];
  const startedMs = performance.now();
  const child = spawn(program, args, { cwd: join(DIST, '..'), stdio: 'ignore', detached: true });
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL'); // npm's child, too
  };
  atExit(end);
  const url = `http://127.0.0.1:${port}/api/v1/slot`;
  let refused = 0;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined); // it doesn't listen yet
    const text = await answer?.text();
    const ms = performance.now() - startedMs;
    if (answer?.status === 503) refused++;
    if (answer?.status === 200 && text?.includes('"receipt"') === true) {
      end();
      await once(child, 'exit');
      return { ms, refused };
    }
    if (ms > LIMIT_MS || child.exitCode !== null) throw new Error(`no signed answer: ${answer?.status} ${text}`);
    await sleep(POLL_MS);
  }
}
