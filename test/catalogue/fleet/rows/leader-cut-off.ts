import { hasLed } from '../../../support/fleet-gateway.ts';
import { upstreamOnPort } from '../../../support/gateway-process.ts';
import { waitFor } from '../../../support/harness.ts';
import { latency, stalled } from '../../faults/proxy/connection-faults.ts';
import { FaultProxy } from '../../faults/proxy/fault-proxy.ts';
import { expect, expectWithinMs, type Finding, info, type Row } from '../../findings.ts';
import { type FleetGateway, keysCommand, withFleet } from '../fleet-testbed.ts';

/** The time of a call to Redis and back from a gateway that is far away, in milliseconds: twice what a call may take. */
const FAR_MS = 500;

/** Calls to Redis have a quarter of a second, which on a busy machine is too little for most of them: then a leader comes late. */
const PATIENCE_MS = 600_000;

interface ReachableGateway extends FleetGateway {
  readonly name: string;
  readonly toRedis: FaultProxy;
  readonly toNode: FaultProxy;
}

const LEADS = 'this gateway leads the fleet"';

export const leaderCutOff: Row = {
  id: 'leader-cut-off',
  title: 'F3: the leader is far from Redis, Redis comes back empty, the node of the leader dies',
  run: (runLength) =>
    withFleet(async ({ redis, clusterUrl, start }) => {
      const proxies: FaultProxy[] = [];
      const openProxy = async (port: number): Promise<FaultProxy> => {
        const proxy = await FaultProxy.start(port);
        proxies.push(proxy);
        return proxy;
      };
      const startBehindProxies = async (name: string): Promise<ReachableGateway> => {
        const [toRedis, toNode] = [await openProxy(redis.port), await openProxy(Number(new URL(clusterUrl).port))];
        const redisUrl = `redis://127.0.0.1:${toRedis.port}`;
        const gateway = await start(name, [], { redisUrl, upstream: upstreamOnPort(toNode) });
        return { ...gateway, name, toRedis, toNode };
      };
      try {
        const gateways = await Promise.all([startBehindProxies('a'), startBehindProxies('b')]);
        await waitFor(() => gateways.some(({ child }) => hasLed(child)), 'a leader');
        const lastLedMs = ({ child }: FleetGateway): number => {
          const lines = child.stdout().split('\n');
          return new Date(JSON.parse(lines.findLast((line) => line.includes(LEADS)) ?? '{"time":0}').time).getTime();
        };
        const leading = (): ReachableGateway => gateways.reduce((a, b) => (lastLedMs(b) > lastLedMs(a) ? b : a));
        /** Cuts off whoever leads now: on a busy machine the lease may have passed on by itself. */
        const untilOtherLeads = async (
          cutOff: (leader: ReachableGateway) => void,
        ): Promise<readonly [ReachableGateway, number]> => {
          const leader = leading();
          const sinceMs = performance.now();
          cutOff(leader);
          await waitFor(() => leading() !== leader, 'the next leader', PATIENCE_MS);
          return [leader, performance.now() - sinceMs];
        };

        const [leader, takeoverMs] = await untilOtherLeads(({ toRedis }) => toRedis.apply(latency(FAR_MS)));
        const isNamed = async (): Promise<boolean> =>
          (await leader.get('/health')).text.includes("Redis can't be reached");
        await waitFor(isNamed, 'the problem in its /health');
        leader.toRedis.heal();
        leader.toRedis.resetConnections(); // what was late is lost

        const keys = keysCommand(redis, leader.state);
        const { out: key } = await keys('create', '--tier', 'scale', '--label', 'one');
        const listed = async ({ get }: FleetGateway): Promise<boolean> =>
          (await get('/slot', { headers: { 'x-api-key': key.trim() } })).headers.get('x-ratelimit-limit') !== null &&
          (await get('/slot', { headers: { 'x-api-key': key.trim() } })).status === 200;
        await waitFor(() => listed(leader), 'the key');
        await redis.command('FLUSHALL');
        let restored = await keys('restore');
        await waitFor(async () => {
          if (restored.code !== 0) restored = await keys('restore');
          return restored.code === 0;
        }, `keys restore: ${restored.err}`);

        const [, nodeDeadMs] = await untilOtherLeads(({ toNode }) => toNode.apply(stalled));
        const within = (label: string, ms: number, boundMs: number): Finding =>
          runLength.isFull
            ? expectWithinMs(runLength, label, ms, boundMs)
            : info(`${label} after`, `${Math.round(ms)} ms`);
        return [
          within('Redis far from the leader: the next leader', takeoverMs, 6000),
          expect(`keys restore gives an empty Redis ${restored.out.trim()}`, restored.code === 0),
          within('dead node of the leader: the next leader', nodeDeadMs, 20_000),
        ];
      } finally {
        await Promise.all(proxies.map((proxy) => proxy.close()));
      }
    }),
};
