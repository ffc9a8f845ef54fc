import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import bs58 from 'bs58';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { httpClient, waitFor } from '../../../support/harness.ts';
import { rpcRequest } from '../../../support/rpc-request.ts';
import {
  expect,
  expectBelow,
  expectNone,
  expectSome,
  expectWithinMs,
  type Finding,
  info,
  type Row,
  type RunLength,
} from '../../findings.ts';
import {
  type ConnectionFault,
  garbled,
  halfOpen,
  latency,
  reset,
  stalled,
  throttled,
  truncated,
} from '../proxy/connection-faults.ts';
import { FaultProxy } from '../proxy/fault-proxy.ts';

const FAULTS: Readonly<Record<string, ConnectionFault>> = {
  late: latency(100),
  stalled,
  'half-open': halfOpen,
  truncated: truncated(300),
  garbled: garbled(211),
  reset,
  slow: throttled(2000),
};
/** Faults under which a read may pass all of its time at a silent node, whatever other node there is. */
const SILENT = ['stalled', 'half-open', 'healed'];
/** Faults under which the only node answers nothing: the others make it slower. */
const HARMFUL = ['stalled', 'half-open', 'truncated', 'garbled', 'reset'];
/** New accounts read under each fault. */
const COLD_ACCOUNTS = 3;
/** Short waits, and bounds that are soon met: what is held up to them is no growth. */
const SETTINGS = [
  ...['timeoutMs=400', 'idleTimeoutMs=600', 'ackTimeoutMs=600', 'backoffMaxMs=300'].map(
    (set) => `upstreamPolicy.${set}`,
  ),
  'cache.bytes=4194304',
  'live.accounts=1000',
];
const ERRORS = new Set(['upstream_unavailable', 'upstream_error', 'upstream_timeout', 'stale']);
/** The time for which the faults of a lone node are repeated in a full run. */
const FULL_MS = 3_600_000;
const MIB = 1 << 20;
/** Growth that the last third of the samples may show over the middle one. */
const MAX_GROWTH = 1.2;

/** What a gateway has in use after a round of faults. */
interface Sample {
  readonly keptMib: number;
  readonly residentMib: number;
  readonly handles: number;
}

const portOf = (url: string): number => Number(new URL(url).port);

export const networkFaults: Row = {
  id: 'network-faults',
  title: 'the embedded cluster behind connections that are',
  async run(runLength) {
    const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
    const proxies = await Promise.all([cluster.url, cluster.wsUrl].map((url) => FaultProxy.start(portOf(url))));
    const [http, ws] = proxies.map(({ port }) => port);
    const faulty = `http://127.0.0.1:${http},ws://127.0.0.1:${ws}`;
    const good = `${cluster.url},${cluster.wsUrl}`;
    try {
      return [
        info('these', Object.keys(FAULTS).join(' ')),
        ...(await runOver([faulty], proxies, cluster, runLength)),
        ...(await runOver([faulty, good], proxies, cluster, runLength)),
      ];
    } finally {
      for (const proxy of proxies) await proxy.close();
      await cluster.close();
    }
  },
};

/** Applies each fault to the way to the first of the nodes, and reads during it until all is well again. */
async function runOver(
  nodes: readonly string[],
  proxies: readonly FaultProxy[],
  cluster: EmbeddedCluster,
  runLength: RunLength,
): Promise<readonly Finding[]> {
  const isAlone = nodes.length === 1;
  const gateway = await GatewayProcess.start(nodes, { set: SETTINGS });
  const { get } = httpClient(gateway.url);
  const wallets = WALLETS.map(({ address }): string => address);
  let [answered, unlike] = [0, 0];
  let current = '';
  const refused = new Map<string, number>();
  const read = async (address: string): Promise<void> => {
    const { result, error } = (await get(`/balance/${address}`)).json;
    if (ERRORS.has(error)) refused.set(current, (refused.get(current) ?? 0) + 1);
    else if (result?.lamports === (await rpcRequest<{ value: number }>(cluster.url, 'getBalance', [address])).value)
      answered++;
    else unlike++;
  };
  const returnsMs: number[] = [];
  const samples: Sample[] = [];
  const endMs = performance.now() + (runLength.isFull && isAlone ? FULL_MS : 0);
  do {
    for (const [name, fault] of Object.entries(FAULTS)) {
      current = name;
      for (const proxy of proxies) proxy.apply(fault, { hidesEnds: fault === halfOpen });
      for (let i = 0; i < COLD_ACCOUNTS; i++) await read(wallets.shift() ?? bs58.encode(randomBytes(32)));
      for (const proxy of proxies) proxy.heal();
      current = 'healed';
      const beganMs = performance.now();
      const isAnswered = async (): Promise<boolean> => {
        const before = answered;
        await read(WALLETS[WALLETS.length - 1]?.address ?? '');
        return answered > before && (await get('/health')).json.result?.status === 'ok';
      };
      await waitFor(isAnswered, 'an answer in good health');
      returnsMs.push(performance.now() - beganMs);
    }
    samples.push(await sampleOf(gateway));
  } while (performance.now() < endMs);
  const hasEnded = gateway.exitReason !== undefined;
  await gateway.close();
  const findings = [
    info(isAlone ? 'the only node: faults' : 'one of two nodes: faults', returnsMs.length),
    expectSome('answered', answered),
    info('refused', [...refused].map(([name, count]) => `${count} ${name}`).join(' ')),
    isAlone
      ? expectNone('faults without effect', HARMFUL.filter((name) => !refused.has(name)).length)
      : expectNone(
          'refused though a node was well',
          [...refused.keys()].filter((name) => !SILENT.includes(name)).length,
        ),
    expectNone('false', unlike),
    expectNone('ends of the gateway', hasEnded ? 1 : 0),
    expectWithinMs(runLength, 'recovered after', Math.max(...returnsMs), 5000),
  ];
  return runLength.isFull && isAlone ? [...findings, ...growthFindings(runLength, samples)] : findings;
}

async function sampleOf(gateway: GatewayProcess): Promise<Sample> {
  const { keptBytes, residentBytes } = await gateway.memory();
  const handles = readdirSync(`/proc/${gateway.child.process.pid}/fd`).length;
  return { keptMib: keptBytes / MIB, residentMib: residentBytes / MIB, handles };
}

/** Compares the most of the last third of the samples with that of the one before. */
function growthFindings(runLength: RunLength, samples: readonly Sample[]): readonly Finding[] {
  const third = Math.floor(samples.length / 3);
  const most = (of: keyof Sample, part: 1 | 2): number =>
    Math.max(...samples.slice(part * third, (part + 1) * third).map((sample) => sample[of]));
  return [
    expectBelow(runLength, 'kept memory grows by', most('keptMib', 2) - most('keptMib', 1), 2, ' MiB'),
    ...(['residentMib', 'handles'] as const).map((of) =>
      expect(
        `${of}: ${most(of, 1).toFixed(0)}, then ${most(of, 2).toFixed(0)}`,
        most(of, 2) <= MAX_GROWTH * most(of, 1),
      ),
    ),
  ];
}
