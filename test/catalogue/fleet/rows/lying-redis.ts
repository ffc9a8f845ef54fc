import { setTimeout as sleep } from 'node:timers/promises';
import { COUNT, NUMBERS_PER_ANSWER } from '../../../../src/gateway/fleet/counters/count-script.ts';
import { LEAD } from '../../../../src/gateway/fleet/leadership/lead-script.ts';
import { hasLed } from '../../../support/fleet-gateway.ts';
import { waitFor } from '../../../support/harness.ts';
import { RedisServer } from '../../../support/redis-server.ts';
import { expect, expectNone, expectSome, type Finding, type Row } from '../../findings.ts';
import { ExactReaders } from '../exact-readers.ts';
import { type FleetGateway, withFleetOn } from '../fleet-testbed.ts';
import { type Lie, LyingRedis } from '../lying-redis.ts';

/** The tip of the gateway that calls: the last argument of the script. */
const tipOf = (args: readonly string[]): number => Number(args.at(-1));

/** Answers by which two gateways could sign `exact` for one slot. */
const LIES: readonly (readonly [name: string, lie: Lie])[] = [
  ['each leads in a range that was given out', ([, epoch = 0, , upTo = 0]) => [1, epoch + 1, upTo - 64, upTo]],
  ['each is elected below the tip', ([, epoch = 0], args) => [1, epoch + 1, 0, tipOf(args) + 64]],
  ['each may sign far above the tip', ([, epoch = 0], args) => [1, epoch, -1, tipOf(args) + 1_000_000]],
  ['an epoch that is over', ([, , above = 0, upTo = 0]) => [1, 0, above, upTo]],
];

const LIMIT = 200;
const WINDOW_SECONDS = 60;

/** Answers by which a caller could have more units than its limit. */
const COUNT_LIES: readonly (readonly [name: string, lie: (numbers: number[]) => readonly number[]])[] = [
  ['a total below 0', ([, window = 0, endsInMs = 0, counted = 0]) => [-1_000_000, window, endsInMs, counted]],
  [
    'a total far above the limit',
    ([, window = 0, endsInMs = 0, counted = 0]) => [1_000_000, window, endsInMs, counted],
  ],
  ['a total that forgets', ([, window = 0, endsInMs = 0, counted = 0]) => [0, window, endsInMs, counted]],
  ['a million units prepaid', ([total = 0, window = 0, endsInMs = 0]) => [total, window, endsInMs, 1_000_000]],
  ['a window that never ends', ([total = 0, window = 0, , counted = 0]) => [total, window, 1e12, counted]],
  ['windows that end in a moment', ([total = 0, window = 0, , counted = 0]) => [total, window, 1, counted]],
  ['too few numbers', ([total = 0]) => [total]],
];

/** Those that stay possible, and change nothing. */
const HARMLESS = ['a million units prepaid', 'windows that end in a moment'];

export const lyingRedis: Row = {
  id: 'lying-redis',
  title: 'F3: a Redis lies about which gateway may sign exact, and about limits',
  run: (runLength) =>
    withFleetOn(
      async () => {
        const redis = await RedisServer.start();
        const liar = await LyingRedis.start(redis.port);
        const close = async (): Promise<void> => {
          await liar.close();
          await redis.close();
        };
        return { url: liar.url, liar, close };
      },
      async ({ redis: { liar }, start }) => {
        const set = ['limits.free.units=10000000'];
        const gateways: FleetGateway[] = await Promise.all([start('a', set), start('b', set)]);
        await waitFor(() => gateways.some(({ child }) => hasLed(child)), 'a leader');
        const findings: Finding[] = [];
        const readers = new ExactReaders(gateways);
        for (const [name, lie] of runLength.isFull ? LIES : LIES.slice(0, 2)) {
          await readers.readUntilExact();
          liar.change(LEAD, lie);
          const isNamed = async ({ get }: FleetGateway): Promise<boolean> =>
            (await get('/health')).text.includes('Redis is not believed');
          await waitFor(async () => (await Promise.all(gateways.map(isNamed))).every(Boolean), `${name}: a problem`);
          await sleep(1200); // the former leader may go on for a second
          await readers.readAll();
          const before = readers.newestExact; // what was signed before may be served again
          await readers.readFor(1000);
          findings.push(expectNone(`${name}: slots signed exact`, readers.newestExact - before));
          liar.change(LEAD, undefined);
        }
        findings.push(expectSome('answers that were lies', liar.lied));

        const limited = await start('c', [
          `limits.free.units=${LIMIT}`,
          `limits.free.windowSeconds=${WINDOW_SECONDS}`,
          'trustedProxies=127.0.0.1',
        ]);
        for (const [i, [name, lie]] of COUNT_LIES.entries()) {
          const headers = { 'x-forwarded-for': `192.0.2.${i}` }; // another caller, and so another window
          liar.change(COUNT, (numbers) =>
            Array.from({ length: numbers.length / NUMBERS_PER_ANSWER }, (_, i) =>
              lie(numbers.slice(i * NUMBERS_PER_ANSWER, (i + 1) * NUMBERS_PER_ANSWER)),
            ).flat(),
          );
          let admitted = 0;
          let problem = '';
          for (let i = 0; i < 5 * LIMIT; i++) if ((await limited.get('/slot', { headers })).status === 200) admitted++;
          if (!HARMLESS.includes(name)) problem = (await limited.get('/health')).text;
          liar.change(COUNT, undefined);
          findings.push(expect(`${name}: ${admitted} of ${LIMIT} admitted`, admitted >= 2 && admitted <= 1.5 * LIMIT));
          if (!HARMLESS.includes(name))
            findings.push(expect(`${name}: /health names it`, /not believed|Redis can't be reached/.test(problem)));
        }
        return [...readers.findings(), ...findings];
      },
    ),
};
