import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import t from 'tap';
import { Pool } from 'undici';
import { type EmbeddedCluster, startEmbedded } from '../../src/cluster/embedded.ts';
import { verifyReceipt } from '../../src/receipt/verify.ts';
import { run } from '../child.ts';
import { ask } from '../cluster/ask.ts';

// One of two nodes is killed and started again, ten times, while a gateway over them serves RATE requests a second. Each
// answer is held against what the nodes hold, and each slot against the one before. Takes two minutes of the wall
// clock; not a part of `npm test`.

const CYCLES = Number(process.env['CYCLES'] ?? 10);
/** Requests a second. */
const RATE = Number(process.env['RATE'] ?? 5000);
const DOWN_MS = 4000;
const UP_MS = 3000;
/** Of so many requests one is for an account that nobody has asked for before. */
const COLD = 20;
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

t.setTimeout(CYCLES * (DOWN_MS + UP_MS + 15_000) + 60_000);

t.test('one of two nodes killed again and again under load is missed by nobody', async (t) => {
  const folder = t.testdir({ cluster: {}, gateway: {} });
  const start = (port = 0) => startEmbedded({ state: `${folder}/cluster`, slotMs: 400, perSlot: 0, port });
  const stays = await start();
  let killed: EmbeddedCluster = await start();
  const port = Number(new URL(killed.url).port);
  t.teardown(() => Promise.all([stays.close(), killed.close()]));

  // Nothing happens on this chain, so an account has one balance whichever node tells it.
  const accounts: { pubkey: string; account: { lamports: number } }[] = await ask(stays.url, 'getProgramAccounts', [
    TOKEN_PROGRAM,
    { encoding: 'base64' },
  ]);
  const balances = new Map(accounts.slice(0, 20).map(({ pubkey, account }) => [pubkey, account.lamports]));
  const upstreams = [killed, stays].flatMap(({ url, wsUrl }) => ['--upstream', `${url},${wsUrl}`]);
  const gateway = run(new URL('../../src/main.js', import.meta.url), [
    ...['--port', '0', '--state', `${folder}/gateway`, ...upstreams],
    ...['--set', 'limits.free.requests=10000000'],
  ]);
  t.teardown(() => gateway.process.kill('SIGKILL'));
  await gateway.says('"listening"');
  const url = /"url":"([^"]+)"/.exec(gateway.out())?.[1] ?? '';
  const pool = new Pool(url, { connections: 128 });
  t.teardown(() => pool.destroy());
  const get = async (path: string): Promise<any> => (await fetch(`${url}/api/v1${path}`)).json();
  const { publicKey } = await get('/pubkey');

  const count = { asked: 0, answered: 0, failed: 0, skipped: 0, wrong: 0, regressed: 0, verified: 0 };
  const failures = new Map<string, number>();
  const newest = new Map<string, number>();
  let waiting = 0;
  let slowestMs = 0;
  /** When a read that no cache could answer was last answered. */
  let coldMs = 0;

  const check = (path: string, text: string, address: string | undefined): void => {
    const { slot, result }: { slot: number; result: any } = JSON.parse(text);
    if (slot < (newest.get(path) ?? 0)) count.regressed++;
    if (balances.has(address ?? '') || address === undefined) newest.set(path, slot);
    if (address !== undefined && result.lamports !== (balances.get(address) ?? 0)) count.wrong++;
    if (count.answered % 1000 !== 0) return;
    const time = { nowMs: Date.now(), maxAgeMs: 60_000 };
    const request = `GET /api/v1${path}`;
    try {
      verifyReceipt(text, { publicKeys: [publicKey], cluster: stays.genesisHash, request, time });
      count.verified++;
    } catch {
      count.wrong++;
    }
  };
  const read = async (path: string, address?: string): Promise<void> => {
    const beganMs = performance.now();
    count.asked++;
    waiting++;
    try {
      const { statusCode, body } = await pool.request({ method: 'GET', path: `/api/v1${path}` });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${statusCode} ${text.slice(0, 80)}`);
      count.answered++;
      if (address !== undefined && !balances.has(address)) coldMs = performance.now();
      check(path, text, address);
    } catch (thrown) {
      count.failed++;
      const what = String(thrown);
      failures.set(what, (failures.get(what) ?? 0) + 1);
    } finally {
      waiting--;
      slowestMs = Math.max(slowestMs, performance.now() - beganMs);
    }
  };
  const warm = [
    '/slot',
    '/epoch',
    '/performance',
    '/priority-fee',
    ...[...balances.keys()].map((key) => `/balance/${key}`),
  ];
  let due = 0;
  let lastMs = performance.now();
  const load = setInterval(() => {
    const now = performance.now();
    due += ((now - lastMs) * RATE) / 1000;
    lastMs = now;
    for (; due >= 1; due--) {
      if (waiting > 2000) {
        count.skipped++; // the load would only measure itself
        continue;
      }
      if (count.asked % COLD === 0) {
        const address = bs58.encode(randomBytes(32));
        void read(`/balance/${address}`, address);
      } else {
        const path = warm[count.asked % warm.length] ?? '/slot';
        void read(path, path.split('/balance/')[1]);
      }
    }
  }, 5);
  t.teardown(() => clearInterval(load));

  const failoversMs: number[] = [];
  const returnsMs: number[] = [];
  await sleep(UP_MS);
  const began = performance.now();
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await killed.kill();
    const killedMs = performance.now();
    let gapMs = 0; // the longest time in which nothing was read from a node
    for (let last = coldMs; performance.now() - killedMs < DOWN_MS; last = coldMs) {
      await sleep(1);
      gapMs = Math.max(gapMs, coldMs - last);
    }
    failoversMs.push(gapMs);
    killed = await start(port);
    const listeningMs = performance.now();
    for (let back = false; !back; ) {
      await sleep(20);
      const [first] = (await get('/health')).result?.upstreams ?? [];
      back = first?.status === 'ok' && first?.ws === 'up';
      if (performance.now() - listeningMs > 15_000) {
        t.comment(JSON.stringify(await get('/health')), gateway.out().slice(-3000));
        break;
      }
    }
    returnsMs.push(performance.now() - listeningMs);
    await sleep(UP_MS);
  }
  const seconds = (performance.now() - began) / 1000;
  clearInterval(load);
  while (waiting > 0) await sleep(10);

  const whole = (values: readonly number[]) => values.map((value) => Math.round(value));
  t.comment(JSON.stringify({ ...count, rate: Math.round(count.answered / seconds), slowestMs: Math.round(slowestMs) }));
  t.comment(JSON.stringify({ failoversMs: whole(failoversMs), returnsMs: whole(returnsMs) }));
  t.comment(JSON.stringify([...failures]));
  t.equal(count.wrong, 0, 'no wrong answer');
  t.equal(count.regressed, 0, 'no slot goes back');
  t.ok(count.verified > 0, 'receipts were verified');
  t.ok(count.failed / count.asked < 0.001, 'less than one request in a thousand fails');
  t.ok(Math.max(...failoversMs) < 1000, 'the other node takes over within a second');
  t.ok(Math.max(...returnsMs) < 5000, 'a node that returns is in again within 5 s');
});
