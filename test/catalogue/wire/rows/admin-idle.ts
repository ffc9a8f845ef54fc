import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import type { Finding } from '../../findings.ts';
import { statusOf } from '../status-of.ts';
import { countFor, expectAll, type WireRow } from '../wire-row.ts';

const PROBE_MS = 100;
const MAX_ANSWER_MS = 500;

export const adminIdle: WireRow = {
  id: 'admin-idle',
  title: 'idle connections to the admin listener, renewed each second',
  run: ({ node, cluster }, runLength, main) =>
    withTestScope(async (scope) => {
      const gateway = await GatewayProcess.start([`${node.url},${cluster.wsUrl}`], { main, isLimited: true });
      scope.teardown(() => gateway.close());
      const { admin } = gateway;
      const probes = countFor(runLength, 20, 100, 100);
      const findings: Finding[] = [];
      for (const count of [64, 200, 1000])
        findings.push(
          ...(await withIdleConnections(admin, count, () =>
            probeAll(admin, probes, `with ${count}`, runLength === 'full'),
          )),
        );
      const twice = await statusOf(admin, 'GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n');
      return [...findings, { text: `two Hosts get ${twice}`, isMet: twice === '400' }];
    }),
};

/** Holds `count` connections open that send nothing, each replaced within a second when it is closed. */
async function withIdleConnections<T>(url: string, count: number, body: () => Promise<T>): Promise<T> {
  const thread = new Worker(new URL('../idle-connections-thread.js', import.meta.url), { workerData: { url, count } });
  try {
    await once(thread, 'message');
    return await body();
  } finally {
    await thread.terminate();
  }
}

/** Probes as Kubernetes does, over a new connection each time. */
async function probeAll(url: string, count: number, label: string, isFull: boolean): Promise<readonly Finding[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < count; i++) {
    const beganMs = performance.now();
    const path = i % 2 === 0 ? '/livez' : '/readyz';
    const status = await statusOf(url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    if (status === '200') tookMs.push(performance.now() - beganMs);
    await sleep(PROBE_MS);
  }
  const quick = tookMs.filter((ms) => ms <= MAX_ANSWER_MS).length;
  return [
    expectAll(`${label}: answered`, tookMs.length, count),
    { ...expectAll(`within ${MAX_ANSWER_MS} ms`, quick, count), isTolerated: !isFull },
  ];
}
