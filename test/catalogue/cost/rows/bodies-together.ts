import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { percentile } from '../../../support/percentile.ts';
import { RawConnection } from '../../../support/raw-connection.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { Bystanders } from '../../bystanders.ts';
import { expectNone, type Finding, info, type Row } from '../../findings.ts';
import { expectAll, expectAtMost } from '../../wire/wire-row.ts';
import { CountingNode } from '../scripted-node.ts';

const ATTACKER = '127.0.0.2';
const MAX_TURN_MS = 20;
/** The time in which a gateway that is not stopped has read all but the last bytes. */
const ARRIVAL_MS = 200;
const PATIENCE_MS = 20_000;
/** Rounds of each kind before the measured ones: the first ones compile code. */
const WARM_UP_ROUNDS = 2;

/** What bodies of a kind have in them. `texts` makes a list of different texts. */
interface BodyKind {
  readonly name: string;
  readonly path: string;
  readonly bodies: number;
  readonly body: (i: number) => string;
}

const texts = (count: number, length: number, seed: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${seed}-${i}`.padEnd(length, 'x'));

const callOf = (param: string): string => `{"method":"getBalance","params":[${param}]}`;

const objectOf = (names: readonly string[]): string => `{${names.map((name) => `"${name}":1`).join()}}`;

const nested = (depth: number, inner: string): string => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

/** The dearest bodies to parse that `/rpc` accepts: different names cost the most. */
const KINDS: readonly BodyKind[] = [
  { name: '1,900 keys', path: '/rpc', bodies: 100, body: (i) => callOf(objectOf(texts(1900, 6, i))) },
  { name: '1,900 texts', path: '/rpc', bodies: 100, body: (i) => callOf(JSON.stringify(texts(1900, 6, i))) },
  {
    name: '60 levels',
    path: '/rpc',
    bodies: 100,
    body: (i) =>
      callOf(
        nested(
          60,
          texts(1800, 4, i)
            .map((text) => `"${text}"`)
            .join(),
        ),
      ),
  },
  { name: 'one of 64 KiB', path: '/rpc', bodies: 1, body: (i) => callOf(objectOf(texts(1900, 29, i))) },
  {
    name: 'explain',
    path: '/explain',
    bodies: 100,
    body: (i) => JSON.stringify({ tx: { meta: Object.fromEntries(texts(1900, 6, i).map((name) => [name, 1])) } }),
  },
];

export const bodiesTogether: Row = {
  id: 'bodies-together',
  title: 'the last bytes of 100 bodies arrive together',
  run: ({ main, isFull }) =>
    withTestScope(async (scope) => {
      const cluster = await startEmbeddedCluster({ transactionsPerSlot: 0 });
      scope.teardown(() => cluster.close());
      const node = await CountingNode.start(cluster.url);
      scope.teardown(() => node.close());
      const set = ['limits.loopDelayMs=60000'];
      const gateway = await GatewayProcess.start([`${node.url},${cluster.wsUrl}`], { main, set });
      scope.teardown(() => gateway.close());
      const bystanders = new Bystanders({ url: gateway.url, coldReads: 1 });
      scope.teardown(() => bystanders.stop());
      await sleep(1000);
      await bystanders.nextReport();
      await sleep(2000);
      const quiet = await bystanders.nextReport();
      const findings: Finding[] = [];
      for (const kind of KINDS) findings.push(...(await turnFindings(gateway, kind, isFull)));
      const under = await bystanders.nextReport();
      return [
        ...findings,
        info('hits of others p99 before', `${percentile(quiet.hits, 0.99).toFixed(1)} ms`),
        info('then', `${percentile(under.hits, 0.99).toFixed(1)} ms`),
        info('cold reads before', `${percentile(quiet.cold, 0.99).toFixed(1)} ms`),
        info('then', `${percentile(under.cold, 0.99).toFixed(1)} ms`),
        expectNone('failed', bystanders.failed),
      ];
    }),
};

/** Sends bodies of one kind in some rounds; the median of their longest turns counts. */
async function turnFindings(gateway: GatewayProcess, kind: BodyKind, isFull: boolean): Promise<readonly Finding[]> {
  const rounds = isFull ? 9 : 3;
  const longest: number[] = [];
  const statuses: Record<string, number> = {};
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const answers = await sendTogether(gateway, kind, round);
    const report = await gateway.report('measure', PATIENCE_MS);
    if (round < 0) continue;
    longest.push(report?.longestMs ?? Number.POSITIVE_INFINITY);
    for (const status of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  const answered = Object.values(statuses).reduce((sum, each) => sum + each, 0) - (statuses[''] ?? 0);
  const longestMs = percentile(longest, 0.5);
  return [
    {
      ...expectAtMost(`${kind.name}: longest turn`, longestMs, MAX_TURN_MS, ' ms'),
      isTolerated: !isFull && longestMs <= 3 * MAX_TURN_MS, // beside other work; before there was a budget it was 468 ms
    },
    info('each', longest.map((ms) => ms.toFixed(0)).join(' ')),
    expectAll('answered', answered, rounds * kind.bodies),
    info(
      'as',
      Object.entries(statuses)
        .map(([status, count]) => `${count} x ${status}`)
        .join(' '),
    ),
  ];
}

/** Sends bodies whose last bytes the gateway finds together: it is stopped until then. Returns the statuses. */
async function sendTogether(
  gateway: GatewayProcess,
  { path, bodies, body }: BodyKind,
  round: number,
): Promise<readonly string[]> {
  const { pid = 0 } = gateway.child.process;
  const texts = Array.from({ length: bodies }, (_, i) => body(1000 * (round + WARM_UP_ROUNDS) + i));
  const connections = await Promise.all(texts.map(() => RawConnection.open(gateway.url, ATTACKER)));
  for (const [i, connection] of connections.entries()) {
    const text = texts[i] ?? '';
    connection.write(
      `POST /api/v1${path} HTTP/1.1\r\nHost: gateway.example\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${text.length}\r\n\r\n${text.slice(0, -1)}`,
    );
  }
  await sleep(ARRIVAL_MS);
  await gateway.report('measure', PATIENCE_MS);
  process.kill(pid, 'SIGSTOP');
  for (const connection of connections) connection.write('}');
  await sleep(5);
  process.kill(pid, 'SIGCONT');
  const endMs = performance.now() + PATIENCE_MS;
  while (connections.some(({ text, closed }) => text === '' && !closed) && performance.now() < endMs) await sleep(5);
  for (const connection of connections) connection.reset();
  return connections.map(({ text }) => text.slice(9, 12));
}
