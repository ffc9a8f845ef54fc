import { setTimeout as sleep } from 'node:timers/promises';
import { Bench, interleave } from './support/bench.ts';
import { FIRST_BALANCE } from './support/live-accounts.ts';
import { type TargetFile, writeTargets } from './support/load.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';
import { startNode } from './support/node-process.ts';
import { issueKey, startGatewayOver, startServer } from './support/server-process.ts';
import { makeTemporaryFolder } from './support/temporary-folder.ts';

// Cache hits against the bare engine, which sends the same bytes: by address, by API key, of past slots, and at half of the full
// load.

const bench = new Bench({ rounds: 5, seconds: 3 });
const { rounds, seconds, settings } = bench;
const state = makeTemporaryFolder();
const headers = { 'x-api-key': issueKey(state) };
const node = await startNode();
const gateway = await startGatewayOver(node.upstream, { settings, state });
const targets = FIRST_BALANCE;
/** Past slots that are read in turn, and the time of one in milliseconds. */
const [PAST_SLOTS, SLOT_MS] = [16, 400];
const bare = await startServer('bench/processes/bare-engine.js', [`${gateway.url}${targets}`]);
const block = { targets: '/prebuilt', seconds };
for (const load of [{ targets }, { targets, headers }]) await warmUp(gateway, load);
await warmUp(bare, block);
const past = await pastTargets();

bench.title('64 connections, server and load on a core each');
const samples = await interleave(rounds, {
  'bare engine, the same bytes as one block': () => measureLoad(bare, block),
  'bare engine, headers one by one': () => measureLoad(bare, { targets: '/written', seconds }),
  '/balance by IP': () => measureLoad(gateway, { targets, seconds }),
  '/balance by key': () => measureLoad(gateway, { targets, seconds, headers }),
  '/slot by IP': () => measureLoad(gateway, { targets: '/api/v1/slot', seconds }),
  '/balance of past slots': () => measureLoad(gateway, { targets: past, pick: 'turn', seconds }),
});
bench.figures(samples);
const base = ['bare engine', samples['bare engine, the same bytes as one block']] as const;
const [byIp, byKey] = [samples['/balance by IP'], samples['/balance by key']];
bench.ratio('rate', ['/balance by IP', byIp], base, { atLeast: 0.88 });
bench.ratio('rate', ['/balance by key', byKey], base, { atLeast: 0.93 });
bench.ratio('rate', ['/slot by IP', samples['/slot by IP']], base);
bench.ratio('cpuUs', ['/balance by IP', byIp], base);
bench.ratio('cpuUs', ['/balance by key', byKey], base);
bench.ratio('cpuUs', ['/balance of past slots', samples['/balance of past slots']], ['/balance by IP', byIp]);

const rate = Math.round(Math.min(...byIp.map(({ rate }) => rate)) / 2);
bench.note(`at a constant rate of ${rate.toLocaleString('en')} req/s, half of the full load`);
const half = await interleave(rounds, {
  'bare engine at half': () => measureLoad(bare, { ...block, rate }),
  '/balance by IP at half': () => measureLoad(gateway, { targets, seconds, rate }),
  '/balance of past slots at half': () => measureLoad(gateway, { targets: past, pick: 'turn', seconds, rate }),
});
bench.figures(half);
const halfBase = ['bare engine', half['bare engine at half']] as const;
bench.ratio('p99Ms', ['/balance at half of the full load', half['/balance by IP at half']], halfBase, { atMost: 1.2 });
const ofPast = half['/balance of past slots at half'];
bench.value(
  '/balance of past slots at half, p99',
  'ms',
  ofPast.map(({ p99Ms }) => p99Ms),
  { atMost: 1 },
);
bench.end();

/** Returns requests for past slots of an account, once they are kept. */
async function pastTargets(): Promise<TargetFile> {
  const read = (target: string): Promise<Response> => fetch(`${gateway.url}${target}`);
  const newest = async (): Promise<number> => Number((await read(FIRST_BALANCE)).headers.get('x-slot'));
  const atSlot = (slot: number): string => `${FIRST_BALANCE}?slot=${slot}`;
  let first = await newest();
  for (; (await read(atSlot(first))).status !== 200; first = await newest()) await sleep(SLOT_MS);
  while ((await newest()) < first + PAST_SLOTS) await sleep(SLOT_MS);
  return writeTargets(Array.from({ length: PAST_SLOTS }, (_, i) => atSlot(first + i)));
}
