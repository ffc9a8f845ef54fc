import {
  expect,
  expectBelow,
  expectNone,
  expectWithinMs,
  type FaultRow,
  type Finding,
  type RunLength,
} from '../../findings.ts';
import { type FaultTestbed, withFaultTestbed } from '../fault-testbed.ts';
import type { Failure } from '../formula-chain/node-behaviour.ts';
import { randomAddress } from '../load-generator.ts';

/** Failures that another node may not have. */
const RETRIED_ELSEWHERE: readonly Failure[] = [
  '500 HTML',
  '502 HTML',
  '503 HTML',
  'empty body',
  'truncated JSON',
  'wrong id',
  -32005,
  -32007,
  '429',
  '429 with Retry-After',
];
/** Failures that every node would have, with the status of the gateway's answer. */
const PASSED_THROUGH: readonly (readonly [Failure, status: number])[] = [
  [-32009, 404],
  [-32015, 400],
  [-32602, 400],
];

/** Each class of error that a node can return. */
export const errorClasses: FaultRow = {
  id: '31',
  title: 'errors of each class from one of two nodes',
  run: async (pace) => [
    ...(await withFaultTestbed({ load: { requestsPerSecond: 0 }, verifyEvery: 1 }, checkErrorClasses)),
    ...(await withFaultTestbed({ nodes: 1, load: { requestsPerSecond: 0 } }, (testbed) =>
      checkCircuitBreaker(pace, testbed),
    )),
  ],
};

async function checkErrorClasses(testbed: FaultTestbed): Promise<readonly Finding[]> {
  const { load, nodes } = testbed;
  const missed: string[] = [];
  for (const failure of RETRIED_ELSEWHERE) {
    await nodes[0]?.configure({ failures: { getMultipleAccounts: failure } });
    const before = await accountReads(testbed);
    let refusals = 0;
    const isMet = async (): Promise<boolean> => {
      if ((await load.request(`/balance/${randomAddress()}`)).status !== 200) refusals++;
      return (await accountReads(testbed)) > before;
    };
    if ((await testbed.waitUntil(isMet, 15_000)) === Number.POSITIVE_INFINITY || refusals > 0)
      missed.push(`${failure}`);
    await nodes[0]?.configure({ failures: {} });
    await testbed.waitUntil(async () => (await testbed.health()).status === 'ok');
  }
  const unlike: string[] = [];
  for (const [index, [failure, status]] of PASSED_THROUGH.entries()) {
    for (const node of nodes) await node.configure({ failures: { getBlock: failure } });
    const before = await blockReads(testbed);
    for (let twice = 0; twice < 2; twice++) {
      const response = await fetch(`${testbed.url}/api/v1/rpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"method":"getBlock","params":[${1_000_000 + index}]}`,
      });
      const code = response.headers.get('x-rpc-error-code');
      if (response.status !== status || code !== `${failure}`) unlike.push(`${failure}`);
    }
    if ((await blockReads(testbed)) - before !== 1) unlike.push(`${failure}`);
  }
  const tally = load.takeTally();
  return [
    expect(
      `${RETRIED_ELSEWHERE.length - missed.length} of ${RETRIED_ELSEWHERE.length} classes made good by the other node ${missed}`,
      missed.length === 0,
    ),
    expect(
      `${PASSED_THROUGH.length - unlike.length} of ${PASSED_THROUGH.length} passed on and remembered ${unlike}`,
      unlike.length === 0,
    ),
    expectNone('wrong', tally.wrong),
    expectNone('leaked', tally.leaked),
  ];
}

/** Checks that a node which always fails gets only one probe per second. */
async function checkCircuitBreaker(pace: RunLength, testbed: FaultTestbed): Promise<readonly Finding[]> {
  const { load, nodes } = testbed;
  await nodes[0]?.configure({ failures: { getMultipleAccounts: '500 HTML' } });
  const before = await accountReads(testbed);
  for (let read = 0; read < 1000; read++) await load.request(`/balance/${randomAddress()}`);
  const { seconds } = load.takeTally();
  const asked = (await accountReads(testbed)) - before;
  await nodes[0]?.configure({ failures: {} });
  const backMs = await testbed.waitUntil(
    async () => (await load.request(`/balance/${randomAddress()}`)).status === 200,
  );
  return [
    expectBelow(pace, `of 1,000 reads in ${seconds.toFixed(1)} s a failing node got`, asked, 100),
    expectWithinMs(pace, 'circuit closed after', backMs, 1500),
  ];
}

const accountReads = async ({ nodes }: FaultTestbed): Promise<number> =>
  (await nodes[0]?.counts())?.['getMultipleAccounts'] ?? 0;

async function blockReads({ nodes }: FaultTestbed): Promise<number> {
  const counts = await Promise.all(nodes.map((node) => node.counts()));
  return counts.reduce((sum, { getBlock = 0 }) => sum + getBlock, 0);
}
