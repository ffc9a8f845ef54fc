import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { waitFor } from '../../../support/harness.ts';
import { WebSocketPeer } from '../../../support/websocket-peer.ts';
import { expect, expectNone, expectSome, expectWithinMs, type FaultRow } from '../../findings.ts';
import { withFleet } from '../fleet-testbed.ts';

const DELAY_MS = 1000;
const DRAIN_MS = 3000;

/** SIGTERM of a gateway that is busy, behind a balancer that asks whether it is ready. */
export const gatewayEnded: FaultRow = {
  id: '43',
  title: 'F12: a busy gateway ends by SIGTERM, with no answer cut off',
  run: (runLength) =>
    withFleet(async ({ start }) => {
      const { child, url, get } = await start('a', [`drainDelayMs=${DELAY_MS}`, `drainMs=${DRAIN_MS}`]);
      const peer = await WebSocketPeer.open(url);
      const agent = new Agent({ keepAlive: true, maxSockets: 16 });
      let answered = 0;
      let cutOff = 0;
      let isOver = false;
      const read = (): Promise<void> =>
        new Promise((resolve) => {
          const sent = request(`${url}/api/v1/slot`, { agent }, (response) => {
            response.resume();
            response.on('end', () => {
              answered++;
              resolve();
            });
            response.on('error', () => {
              cutOff++;
              resolve();
            });
          });
          sent.on('error', (err: NodeJS.ErrnoException) => {
            if (err.code === 'ECONNREFUSED') isOver = true;
            else if (!sent.reusedSocket) cutOff++; // else it was sent into the end of an idle connection, and may be repeated
            resolve();
          });
          sent.end();
        });
      const reading = Array.from({ length: 16 }, async () => {
        while (!isOver) await read();
      });
      await waitFor(() => answered > 500, 'load');
      const sinceMs = performance.now();
      child.process.kill('SIGTERM');
      await waitFor(async () => (await get('/health')).status === 503, 'not ready');
      const notReadyMs = performance.now() - sinceMs;
      const stillServed = (await get('/slot')).status === 200;
      const before = answered;
      await Promise.all([...reading, once(child.process, 'exit')]);
      const endMs = performance.now() - sinceMs;
      agent.destroy();
      return [
        expectWithinMs(runLength, 'not ready', notReadyMs, DELAY_MS / 2),
        expect('still served meanwhile', stillServed),
        expectSome('answers after the signal', answered - before),
        expectNone('answers cut off', cutOff),
        expect('streams closed with 1001', peer.closeCode === 1001),
        expectWithinMs(runLength, 'ended', endMs, DELAY_MS + DRAIN_MS + 1000),
        expect('exit 0', child.process.exitCode === 0),
      ];
    }),
};
