import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { addressOfNumber } from '../../../support/address-of-number.ts';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { rpcRequest } from '../../../support/rpc-request.ts';
import { stallPeers } from '../../../support/stalled-peers.ts';
import { openPeers } from '../../../support/websocket-peer.ts';
import { expect, expectNone, expectSome, info } from '../../findings.ts';
import { countFor, type WireRow } from '../wire-row.ts';
import { withWireTestbed } from '../wire-testbed.ts';

const HEAP_MIB = 256;
const CONCURRENT = 64;
const ACCOUNT_BYTES = 24_000;
const PROBE_MS = 20;
/** What a request may be answered with: a node that is late, a caller who waits for his turn, a gateway that is full. */
const PROPER: readonly number[] = [200, 429, 503, 504];

export const smallHeap: WireRow = {
  id: 'small-heap',
  title: `large accounts and stalled listeners, in a heap of ${HEAP_MIB} MiB and a cache of more`,
  run: (_, runLength) =>
    withWireTestbed(
      ['cache.bytes=1073741824'],
      async ({ url, gateway, node, cluster, get }) => {
        const data = Buffer.alloc(ACCOUNT_BYTES, 7).toString('base64');
        const account = `{"data":["${data}","base64"],"executable":false,"lamports":1,"owner":"${'1'.repeat(32)}","rentEpoch":18446744073709551615,"space":${ACCOUNT_BYTES}}`;
        node.overrides.set('getMultipleAccounts', async ([names]) => {
          const slot = await rpcRequest(cluster.url, 'getSlot', [{ commitment: 'confirmed' }]);
          const value = names.map(() => account).join();
          return { result: `{"context":{"slot":${slot},"apiVersion":"2.0.0"},"value":[${value}]}` };
        });
        const stalled = await openPeers(url, countFor(runLength, 5, 30, 100));
        await stallPeers(url, stalled);

        let isOver = false;
        let probes = 0;
        let unanswered = 0;
        const probing = (async () => {
          for (; !isOver; await sleep(PROBE_MS)) {
            probes++;
            if (!PROPER.includes((await get('/slot').catch(() => ({ status: 0 }))).status)) unanswered++;
          }
        })();
        const count = countFor(runLength, 15_000, 30_000, 100_000);
        const statuses = new Map<number, number>();
        const pool = new Pool(url, { connections: CONCURRENT });
        await forEachConcurrent(
          Array.from({ length: count }, (_, i) => addressOfNumber(i)),
          CONCURRENT,
          async (address) => {
            const statusCode = await pool
              .request({ method: 'GET', path: `/api/v1/account/${address}` })
              .then(async (answer) => {
                await answer.body.dump();
                return answer.statusCode;
              })
              .catch(() => 0);
            statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
          },
        );
        await pool.destroy();
        isOver = true;
        await probing;
        for (const { connection } of stalled) connection.reset();
        const improper = [...statuses].filter(([status]) => !PROPER.includes(status)).map(([, times]) => times);
        const { keptBytes } = gateway.exitReason === undefined ? await gateway.memory() : { keptBytes: Number.NaN };
        return [
          expectSome('accounts read', statuses.get(200) ?? 0),
          info('in all, MiB', Math.round((count * data.length) / 2 ** 20)),
          expectNone('requests without a proper answer', improper.reduce((sum, times) => sum + times, 0) + unanswered),
          info('reads of /slot beside them', probes),
          info('memory kept, MiB', Math.round(keptBytes / 2 ** 20)),
          expect('it runs', gateway.exitReason === undefined && (await get('/slot')).status === 200),
        ];
      },
      [`--max-old-space-size=${HEAP_MIB}`],
    ),
};
