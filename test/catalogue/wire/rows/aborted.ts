import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { inTurn } from '../../../support/in-turn.ts';
import { Line } from '../../../support/line.ts';
import { fenceOf } from '../../../support/raw.ts';
import { none, shown } from '../../row.ts';
import { request } from '../http/message.ts';
import { type Row, times } from '../row.ts';
import { onStage } from '../stage.ts';

const AT_ONCE = 64;

/** Callers who are gone before, while or after the node is asked. */
export const aborted: Row = {
  id: '9',
  what: 'callers who reset the connection at any stage of a read',
  run: (_, pace) =>
    // Closing waits for whoever is owed an answer, so an end that comes at once tells that nobody is.
    onStage(['drainMs=60000'], async ({ url, gateway, get }) => {
      const count = times(pace, 600, 6000, 20_000);
      const fence = fenceOf(url);
      await inTurn(Array.from({ length: count }), AT_ONCE, async (_, i) => {
        const line = await Line.open(url);
        line.write(request(`GET /api/v1/balance/${bs58.encode(randomBytes(32))}`));
        if (i % 3 === 1) await fence.pass();
        if (i % 3 === 2) await new Promise((resolve) => line.socket.once('data', resolve).once('close', resolve));
        line.cut();
      });
      const alive = (await get('/health')).status === 200;
      const beganMs = performance.now();
      const code = await gateway.terminate();
      const tookMs = performance.now() - beganMs;
      return [
        shown('reset', count),
        none('exits', alive ? 0 : 1),
        none('defects in the log', gateway.defects.length),
        shown('then ended by itself with', code),
        none('answers still owed', tookMs < 30_000 && code === 0 ? 0 : 1),
        shown('after ms', tookMs),
      ];
    }),
};
