import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../src/config/load-config.ts';
import { appendUsage, usagePath } from '../../src/gateway/access/usage/usage-file.ts';
import type { Channel } from '../../src/gateway/fleet/channel.ts';
import { RedisFleet } from '../../src/gateway/fleet/redis/redis-fleet.ts';
import { fleetSecretOfText } from '../../src/gateway/fleet/transport/redis/fleet-secret.ts';
import { DurableWrites } from '../../src/shared/runtime/durable-writes.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';
import { runSlotgate } from '../support/run-slotgate.ts';

const GENESIS = 'G'.repeat(44);

async function startRedis(t: Test): Promise<RedisServer> {
  const server = await RedisServer.start();
  t.teardown(() => server.close());
  return server;
}

/** Creates the part of a gateway in a fleet, over a state folder that may not be one. */
function createGateway(t: Test, url: string, { state = join(t.testdirName, 'state') } = {}) {
  const log = { info() {}, warn() {}, error() {}, debug() {} };
  const writes = new DurableWrites({ clock: systemClock, onProblem() {}, onRecovery() {} });
  const keysPath = join(t.testdirName, 'fleet-keys.json');
  const gateway = { isLeading: false, isFollowing: false };
  const fleet = new RedisFleet({
    settings: { url, password: undefined, ca: undefined },
    config: { ...loadConfig({ cwd: '/' }), dataDir: state },
    log,
    clock: systemClock,
    random: Math.random,
    guard: { confineTo() {} },
    tip: () => 1000,
    writes,
    kids: () => ['kid'],
    secret: fleetSecretOfText('secret'),
    counters: undefined,
    flushUsage() {},
    keysPath,
  });
  fleet.watch = {
    open(channel: Channel) {
      channel.subscribe({
        snapshot: () => [],
        onJoined() {
          gateway.isFollowing = true;
        },
        onEvent() {},
        onLost() {
          gateway.isFollowing = false;
        },
      });
    },
    lead(isLeading) {
      gateway.isLeading = isLeading;
    },
  };
  t.teardown(async () => {
    await fleet.close();
    writes.close();
  });
  const problems = (): string => fleet.problems().join('; ');
  return Object.assign(gateway, { fleet, writes, problems });
}

type Gateway = ReturnType<typeof createGateway>;

const untilInFleet = (gateways: readonly Gateway[]): Promise<unknown> =>
  waitFor(
    () => gateways.every((gateway) => (gateway.isLeading || gateway.isFollowing) && gateway.problems() === ''),
    'all in the fleet',
  );

t.test('a Redis that answers and refuses is named, also by a gateway that joins then', async (t) => {
  const server = await startRedis(t);
  t.testdir({ state: {} });
  const gateways = [createGateway(t, server.url), createGateway(t, server.url)];
  for (const { fleet } of gateways) await fleet.join(GENESIS);
  await untilInFleet(gateways);
  const refusals = [
    ['OOM', ['CONFIG', 'SET', 'maxmemory', '100kb'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['READONLY', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ] as const;
  for (const [code, refuse, accept] of refusals) {
    await server.command(...refuse);
    const isNamed = ({ problems }: Gateway): boolean =>
      problems().startsWith(`nothing is signed as exact: Redis refuses: “${code} `);
    await waitFor(() => gateways.every(isNamed) && !gateways.some(({ isLeading }) => isLeading), code);
    const late = createGateway(t, server.url);
    await late.fleet.join(GENESIS);
    t.match(late.problems(), new RegExp(`^this gateway is in no fleet: Redis refuses: “${code} `));
    await server.command(...accept);
    gateways.push(late);
    await untilInFleet(gateways);
  }
});

t.test('what has the name of a key of the fleet is named, as long as it is there', async (t) => {
  const server = await startRedis(t);
  t.testdir({ state: {} });
  const gateway = createGateway(t, server.url);
  await gateway.fleet.join(GENESIS);
  await untilInFleet([gateway]);
  const today = new Date().toISOString().slice(0, 10);
  const row = { day: today, key: 'k', route: '/slot', counts: [1, 0, 0, 0], units: 1, givenBack: 0 };
  for (const [key, problem] of [
    [`usage:${today}`, 'the fleet does not count the usage of this gateway: Redis refuses: “WRONGTYPE '],
    ['members', 'the number of gateways may have changed, by which limits are shared: Redis refuses: “WRONGTYPE '],
  ] as const) {
    const name = `slotgate:{${GENESIS.slice(0, 8)}}:${key}`;
    await server.command('DEL', name);
    await server.command('RPUSH', name, 'x');
    appendUsage(usagePath(join(t.testdirName, 'state')), [row]);
    await waitFor(() => gateway.problems().startsWith(problem), key);
    await server.command('DEL', name);
    await untilInFleet([gateway]);
  }
});

t.test('a gateway whose state folder can not be written is in its fleet, and names that', async (t) => {
  const server = await startRedis(t);
  t.testdir({ file: '' });
  const state = join(t.testdirName, 'file', 'state');
  const gateway = createGateway(t, server.url, { state });
  await gateway.fleet.join(GENESIS);
  await untilInFleet([gateway]);
  await waitFor(() => gateway.writes.problems().length > 0, 'the problem');
  t.match(gateway.writes.problems(), [/^the name under which the fleet counts the usage .* ENOTDIR$/]);
  t.match(await server.command('HLEN', `slotgate:{${GENESIS.slice(0, 8)}}:members`), ':1');
});

t.test('a user of Redis without rights to channels can join no fleet, and one that loses them is named', async (t) => {
  const server = await startRedis(t);
  t.testdir({ state: {} });
  await server.command('ACL', 'SETUSER', 'user', 'on', '>password', '~*', '+@all', 'resetchannels');
  const url = server.url.replace('//', '//user:password@');
  await t.rejects(createGateway(t, url).fleet.join(GENESIS), {
    exitCode: 78,
    message: /^redis.url: Redis refuses: “NOPERM/,
  });
  await server.command('ACL', 'SETUSER', 'user', 'allchannels');
  const gateway = createGateway(t, url);
  await gateway.fleet.join(GENESIS);
  await untilInFleet([gateway]);
  await server.command('ACL', 'SETUSER', 'user', 'resetchannels');
  const problem = 'no message of other gateways arrives here: Redis refuses: “NOPERM ';
  await waitFor(() => gateway.problems().startsWith(problem), 'the problem');
  await server.command('ACL', 'SETUSER', 'user', 'allchannels');
  await untilInFleet([gateway]);
});

t.test('doctor names what a fleet cannot use of a Redis', async (t) => {
  const server = await startRedis(t);
  const examine = async (url: string): Promise<object> => {
    const args = ['doctor', '--json', '--port', '0', '--admin-port', '0', '--data-dir', `${t.testdirName}/state`];
    const node = ['--upstream', 'http://127.0.0.1:1', '--redis', url]; // nothing listens there
    const { findings } = JSON.parse((await runSlotgate([...args, ...node])).out);
    return findings.find(({ name }: { readonly name: string }) => name === 'Redis');
  };
  t.match(await examine(server.url), { verdict: 'ok', finding: `${server.url} can be used` });
  await server.command('ACL', 'SETUSER', 'user', 'on', 'nopass', '~*', '+@all', 'resetchannels');
  const withoutChannels = await examine(server.url.replace('//', '//user@'));
  t.match(withoutChannels, { verdict: 'fail', finding: /^Redis refuses: “NOPERM/ });
  await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
  t.match(await examine(server.url), { verdict: 'fail', finding: /maxmemory-policy is allkeys-lru/ });
  await server.close();
  t.match(await examine(server.url), { verdict: 'warn', finding: /^redis\.url: .*ECONNREFUSED/ });
});
