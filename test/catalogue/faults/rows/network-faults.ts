import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { waitFor } from '../../../support/harness.ts';
import { rpcRequest } from '../../../support/rpc-request.ts';
import { expectNone, expectSome, expectWithinMs, type FaultRow, info } from '../../findings.ts';
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
/** New accounts read under each fault. */
const COLD_ACCOUNTS = 3;
const SETTINGS = ['timeoutMs=400', 'silenceMs=600', 'ackMs=600', 'backoffMaxMs=300'].map((set) => `upstream.${set}`);
const ERRORS = new Set(['upstream_unavailable', 'upstream_error', 'upstream_timeout', 'stale']);

const portOf = (url: string): number => Number(new URL(url).port);

/** The embedded cluster without traffic, behind a faulty network. */
export const networkFaults: FaultRow = {
  id: 'network',
  title: 'the embedded cluster behind connections that are',
  async run(runLength) {
    const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
    const http = await FaultProxy.start(portOf(cluster.url));
    const ws = await FaultProxy.start(portOf(cluster.wsUrl));
    const gateway = await GatewayProcess.start([`http://127.0.0.1:${http.port},ws://127.0.0.1:${ws.port}`], SETTINGS);
    const api = `${await gateway.url()}/api/v1`;
    const get = async (path: string): Promise<any> => (await fetch(`${api}${path}`)).json();

    const wallets = WALLETS.map(({ address }) => address);
    let [answered, refused, unlike] = [0, 0, 0];
    const read = async (address = ''): Promise<void> => {
      const { result, error } = await get(`/balance/${address}`);
      if (ERRORS.has(error)) refused++;
      else if (result?.lamports === (await rpcRequest(cluster.url, 'getBalance', [address])).value) answered++;
      else unlike++;
    };
    const returnsMs: number[] = [];
    for (const fault of Object.values(FAULTS)) {
      for (const proxy of [http, ws]) proxy.apply(fault, { hidesEnds: fault === halfOpen });
      for (const address of wallets.splice(0, COLD_ACCOUNTS)) await read(address);
      for (const proxy of [http, ws]) proxy.heal();
      const beganMs = performance.now();
      const isAnswered = async (): Promise<boolean> => {
        const before = answered;
        await read(wallets[0]);
        return answered > before && (await get('/health')).result?.status === 'ok';
      };
      await waitFor(isAnswered, 'an answer in good health');
      returnsMs.push(performance.now() - beganMs);
    }
    await gateway.close();
    for (const proxy of [http, ws]) await proxy.close();
    await cluster.close();
    return [
      info('these', Object.keys(FAULTS).join(' ')),
      expectSome('answered', answered),
      expectSome('refused', refused),
      expectNone('false', unlike),
      expectWithinMs(runLength, 'recovered after', Math.max(...returnsMs), 5000),
    ];
  },
};
