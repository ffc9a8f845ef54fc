import { below, type Finding, holds, none, type Pace, type Row, within } from '../../row.ts';
import type { Failure } from '../formula-chain/habits.ts';
import { newAddress } from '../load.ts';
import { onStage, type Stage } from '../stage.ts';

/** What another node may do better at. */
const ELSEWHERE: readonly Failure[] = [
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
/** What would be the same everywhere, with the status of the answer. */
const THROUGH: readonly (readonly [Failure, status: number])[] = [
  [-32009, 404],
  [-32015, 400],
  [-32602, 400],
];

/** Each class of error that a node can answer with. */
export const refused: Row = {
  id: '31',
  what: 'errors of each class from one of two nodes',
  run: async (pace) => [
    ...(await onStage({ load: { rate: 0 }, verifyEvery: 1 }, classes)),
    ...(await onStage({ nodes: 1, load: { rate: 0 } }, (stage) => circuit(pace, stage))),
  ],
};

async function classes(stage: Stage): Promise<readonly Finding[]> {
  const { load, nodes } = stage;
  const missed: string[] = [];
  for (const failure of ELSEWHERE) {
    await nodes[0]?.take({ failures: { getMultipleAccounts: failure } });
    const before = await reads(stage);
    let refusals = 0;
    const isMet = async (): Promise<boolean> => {
      if ((await load.read(`/balance/${newAddress()}`)).status !== 200) refusals++;
      return (await reads(stage)) > before;
    };
    if ((await stage.until(isMet, 15_000)) === Number.POSITIVE_INFINITY || refusals > 0) missed.push(`${failure}`);
    await nodes[0]?.take({ failures: {} });
    await stage.until(async () => (await stage.health()).status === 'ok');
  }
  const unlike: string[] = [];
  for (const [index, [failure, status]] of THROUGH.entries()) {
    for (const node of nodes) await node.take({ failures: { getBlock: failure } });
    const before = await blocks(stage);
    for (let twice = 0; twice < 2; twice++) {
      const response = await fetch(`${stage.url}/api/v1/rpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"method":"getBlock","params":[${1_000_000 + index}]}`,
      });
      const code = response.headers.get('x-rpc-error-code');
      if (response.status !== status || code !== `${failure}`) unlike.push(`${failure}`);
    }
    if ((await blocks(stage)) - before !== 1) unlike.push(`${failure}`);
  }
  const tally = load.take();
  return [
    holds(
      `${ELSEWHERE.length - missed.length} of ${ELSEWHERE.length} classes made good by the other node ${missed}`,
      missed.length === 0,
    ),
    holds(
      `${THROUGH.length - unlike.length} of ${THROUGH.length} passed on and remembered ${unlike}`,
      unlike.length === 0,
    ),
    none('wrong', tally.wrong),
    none('leaked', tally.leaked),
  ];
}

/** A node that fails all the time is left alone, but for a try each second. */
async function circuit(pace: Pace, stage: Stage): Promise<readonly Finding[]> {
  const { load, nodes } = stage;
  await nodes[0]?.take({ failures: { getMultipleAccounts: '500 HTML' } });
  const before = await reads(stage);
  for (let read = 0; read < 1000; read++) await load.read(`/balance/${newAddress()}`);
  const { seconds } = load.take();
  const asked = (await reads(stage)) - before;
  await nodes[0]?.take({ failures: {} });
  const backMs = await stage.until(async () => (await load.read(`/balance/${newAddress()}`)).status === 200);
  return [
    below(pace, `of 1,000 reads in ${seconds.toFixed(1)} s a failing node got`, asked, 100),
    within(pace, 'circuit closed after', backMs, 1500),
  ];
}

const reads = async ({ nodes }: Stage): Promise<number> => (await nodes[0]?.counts())?.['getMultipleAccounts'] ?? 0;

async function blocks({ nodes }: Stage): Promise<number> {
  const counts = await Promise.all(nodes.map((node) => node.counts()));
  return counts.reduce((sum, { getBlock = 0 }) => sum + getBlock, 0);
}
