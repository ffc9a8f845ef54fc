import { setTimeout as sleep } from 'node:timers/promises';
import { readUsage, usagePath } from '../../../../src/access/usage/usage-file.ts';
import { waitFor } from '../../../support/harness.ts';
import { expect, expectNone, expectSome, type FaultRow, info } from '../../findings.ts';
import { type FleetGateway, keysCommand, withFleet } from '../fleet-testbed.ts';

/** The time for which a gateway has counts only in memory. */
const UNWRITTEN_MS = 1200;

/** Requests with an API key while gateways and Redis are killed: what the fleet has counted, and what was answered. */
export const usageCounted: FaultRow = {
  id: '46',
  title: 'F11: usage is counted once, though gateways and Redis are killed',
  run: ({ isFull }) =>
    withFleet(async ({ redis, start, stateOf }) => {
      const names = ['a', 'b'] as const;
      const gateways = new Map<string, FleetGateway>();
      for (const name of names) gateways.set(name, await start(name));
      const keys = keysCommand(redis, stateOf('a'));
      const key = (await keys('create', '--tier', 'scale', '--label', 'x')).out.trim();
      const init = { headers: { 'x-api-key': key } };
      await waitFor(async () => {
        const answers = await Promise.all([...gateways.values()].map(({ get }) => get('/health', init)));
        return answers.every(({ status }) => status === 200);
      }, 'the key everywhere');

      let answered = 0;
      let mayBeLost = 0;
      let sinceMs = performance.now();
      const request = async (count: number): Promise<void> => {
        for (let i = 0; i < count; i++)
          for (const { get } of gateways.values()) if ((await get('/slot', init)).status === 200) answered++;
      };
      for (let round = 0; round < (isFull ? 20 : 1); round++) {
        await request(50);
        await sleep(UNWRITTEN_MS);
        sinceMs = performance.now();
        const before = answered;
        await request(20);
        const name = names[round % names.length] ?? 'a';
        const gateway = gateways.get(name);
        gateway?.child.process.kill('SIGKILL');
        await gateway?.child.exit();
        if (performance.now() - sinceMs < UNWRITTEN_MS) mayBeLost += (answered - before) / gateways.size;
        gateways.delete(name);
        await redis.signal('SIGKILL');
        await request(20);
        await redis.restart();
        gateways.set(name, await start(name));
      }
      await request(10);
      await sleep(UNWRITTEN_MS);
      const inFiles = (): number => sumOf(names.flatMap((name) => readUsage(usagePath(stateOf(name)))));
      const counted = async (): Promise<number> =>
        Number(
          (await keys('usage')).out
            .split('\n')
            .map((line) => / \/slot +(\d+) /.exec(line)?.[1] ?? 0)
            .reduce<number>((sum, count) => sum + Number(count), 0),
        );
      await waitFor(async () => (await counted()) === inFiles(), 'all that stands in the files');
      const atRedis = await counted();
      return [
        expectSome('answers', answered),
        info('in memory of a killed gateway', mayBeLost),
        expectNone('counted twice', Math.max(0, atRedis - answered)),
        expect(`all else is counted: ${atRedis}`, atRedis >= answered - mayBeLost),
      ];
    }),
};

const sumOf = (rows: ReturnType<typeof readUsage>): number =>
  rows.filter(({ route }) => route === '/slot').reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0);
