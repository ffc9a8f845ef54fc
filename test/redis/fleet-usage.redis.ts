import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { appendUsage, usagePath } from '../../src/gateway/access/usage/usage-file.ts';
import type { UsageRow } from '../../src/gateway/access/usage/usage-line.ts';
import { prepareCompaction } from '../../src/gateway/access/usage/usage-tail.ts';
import { RedisConnection } from '../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { readFleetUsage } from '../../src/gateway/fleet/usage/fleet-usage.ts';
import { UsageReporter } from '../../src/gateway/fleet/usage/usage-reporter.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const today = new Date().toISOString().slice(0, 10);

const row = (key: string, answered: number): UsageRow => ({
  ...{ day: today, key, route: '/balance/:addr' },
  ...{ counts: [answered, 1, 0, 0], units: 2 * answered, givenBack: 0 },
});

t.test('F11: usage of all gateways is summed once, whatever is lost, repeated or replaced', async (t) => {
  const server = await RedisServer.start();
  t.teardown(() => server.close());
  const settings = { url: server.url, password: undefined, ca: undefined, clock: systemClock, random: Math.random };
  const redis = await RedisConnection.open({ ...settings, onReady: () => {} });
  t.teardown(() => redis.close());
  const untilReady = () => waitFor(() => redis.isReady, 'Redis');
  await untilReady();
  const folder = t.testdir({ a: {}, b: {} });
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  const problems: unknown[] = [];
  const open = (state: string) =>
    new UsageReporter({
      redis,
      prefix: 'x:',
      config: { dataDir: state },
      clock: systemClock,
      log: { warn: (fields) => problems.push(fields) },
      writes: { keep: (_, write) => write() },
    });
  const sums = async () =>
    (await readFleetUsage(redis, 'x:', Date.now())).map((row) => [row.key, ...row.counts, row.units - row.givenBack]);

  const [one, two] = [open(a), open(b)];
  appendUsage(usagePath(a), [row('k1', 3), row('k2', 5)]);
  appendUsage(usagePath(b), [row('k1', 10)]);
  await Promise.all([one.report(), two.report()]);
  await Promise.all([one.report(), two.report()]);
  const both = [
    ['k1', 13, 2, 0, 0, 26],
    ['k2', 5, 1, 0, 0, 10],
  ];
  t.same(await sums(), both, 'of both gateways');

  one.reportAll();
  await one.report();
  t.same(await sums(), both, 'reported again');

  (await prepareCompaction(usagePath(a), today))();
  appendFileSync(usagePath(a), '0000');
  await one.report();
  t.same(await sums(), both, 'another file with the same sums, and half a line');

  await server.signal('SIGKILL');
  appendUsage(usagePath(b), [row('k3', 1)]);
  await waitFor(() => !redis.isReady, 'the end of Redis');
  await two.report();
  await server.restart();
  await untilReady();
  await server.command('FLUSHALL');
  for (const reporter of [one, two]) {
    reporter.reportAll();
    await reporter.close();
  }
  t.same(await sums(), [...both, ['k3', 1, 1, 0, 0, 2]], 'after Redis has lost everything');

  appendUsage(usagePath(b), [{ ...row('k3', 0), counts: [0, 0, 0, 0], givenBack: 5 }]);
  const again = open(b);
  await again.close();
  t.same(await sums(), [...both, ['k3', 1, 1, 0, 0, -3]], 'a gateway that was started again, and gave units back');
  t.same(problems, []);
});
