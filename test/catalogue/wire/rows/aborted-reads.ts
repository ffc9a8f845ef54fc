import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { RawConnection } from '../../../support/raw-connection.ts';
import { barrierOf } from '../../../support/raw-http.ts';
import { expectNone, info } from '../../findings.ts';
import { request } from '../http/raw-request.ts';
import { countFor, type WireRow } from '../wire-row.ts';
import { withWireTestbed } from '../wire-testbed.ts';

const CONCURRENT = 64;

export const abortedReads: WireRow = {
  id: 'aborted-reads',
  title: 'callers who reset the connection at any stage of a read',
  run: (_, runLength) =>
    // Closing waits for unfinished answers, so a quick end shows that there are none.
    withWireTestbed(['drainTimeoutMs=60000'], async ({ url, gateway, get }) => {
      const count = countFor(runLength, 600, 6000, 20_000);
      const fence = barrierOf(url);
      await forEachConcurrent(Array.from({ length: count }), CONCURRENT, async (_, i) => {
        const connection = await RawConnection.open(url);
        connection.write(request(`GET /api/v1/balance/${bs58.encode(randomBytes(32))}`));
        if (i % 3 === 1) await fence.wait();
        if (i % 3 === 2) await new Promise((resolve) => connection.socket.once('data', resolve).once('close', resolve));
        connection.reset();
      });
      const alive = (await get('/health')).status === 200;
      const beganMs = performance.now();
      const code = await gateway.terminate();
      const tookMs = performance.now() - beganMs;
      return [
        info('reset', count),
        expectNone('exits', alive ? 0 : 1),
        expectNone('defects in the log', gateway.defectLogLines.length),
        info('then ended by itself with', code),
        expectNone('unfinished answers', tookMs < 30_000 && code === 0 ? 0 : 1),
        info('after ms', tookMs),
      ];
    }),
};
