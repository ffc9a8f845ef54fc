import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { createKeyFile, readKeyFile } from '../../src/receipt/key-file.ts';
import { parseKey } from '../../src/receipt/key-format.ts';

const creator = fileURLToPath(new URL('./key-creator.js', import.meta.url));
const bare = { execArgv: [], env: {} }; // without the test runner's hooks, which take longer than the work

t.test('a key file appears once, whole and private, and is never replaced', async (t) => {
  const dir = join(t.testdir(), 'deep', 'state');
  const path = join(dir, 'key.pem');
  t.equal(readKeyFile(path), undefined);
  t.equal(createKeyFile(path), true);
  const text = readKeyFile(path);
  parseKey(text ?? '');
  t.equal(createKeyFile(path), false);
  t.equal(readKeyFile(path), text);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(statSync(dir).mode & 0o777, 0o700);
  t.same(readdirSync(dir), ['key.pem'], 'no draft is left');
});

t.test('of fifty who make the key at once one does, and all read the same', async (t) => {
  const dir = join(t.testdir(), 'state');
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { path: join(dir, 'key.pem'), gate };
  const workers = Array.from({ length: 50 }, () => new Worker(creator, { workerData, ...bare }));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const ends = workers.map((worker) => once(worker, 'message'));
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  const said = (await Promise.all(ends)).map(([message]) => message);
  t.equal(said.filter(({ created }) => created).length, 1, 'one creator');
  t.equal(new Set(said.map(({ text }) => text)).size, 1, 'one key');
  t.same(readdirSync(dir), ['key.pem']);
  await Promise.all(workers.map((worker) => worker.terminate()));
});

t.test('a kill at any moment leaves a whole key or none', async (t) => {
  const dir = t.testdir();
  const killed = Array.from({ length: 6 }, async (_, i) => {
    const folder = join(dir, `${i}`);
    const child = spawn(process.execPath, [creator, folder], { stdio: ['ignore', 'pipe', 'inherit'], ...bare });
    await once(child.stdout, 'data');
    await sleep(20 + 7 * i);
    child.kill('SIGKILL');
    await once(child, 'exit');
    return folder;
  });
  let whole = 0;
  for (const folder of await Promise.all(killed)) {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const text = readKeyFile(join(folder, name, 'key.pem'));
      if (text === undefined) continue;
      parseKey(text);
      whole++;
    }
  }
  t.ok(whole > 0, `${whole} keys`);
});
