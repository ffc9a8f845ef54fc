import { connect, type Socket } from 'node:net';
import { expect, expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { type FaultTestbed, withFaultTestbed } from '../fault-testbed.ts';
import { randomAddress } from '../load-generator.ts';

const CLIENTS = 5000;
/** Connections opened at a time. */
const BATCH = 250;

/** Many clients request the same uncached account at once. */
export const thunderingHerd: FaultRow = {
  id: '37',
  title: `${CLIENTS.toLocaleString('en')} clients request one account at once`,
  run: (runLength) =>
    withFaultTestbed({ nodes: 1, load: { requestsPerSecond: 0 } }, async (testbed) => {
      const [node] = testbed.nodes;
      await node?.configure({ delayMs: 1000 });
      const sockets = await connectClients(testbed);
      const before = (await node?.counts())?.['getMultipleAccounts'] ?? 0;
      const beganMs = performance.now();
      const request = `GET /api/v1/balance/${randomAddress()} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
      const answers = await Promise.all(sockets.map((socket) => sendRequest(socket, request)));
      const tookMs = performance.now() - beganMs;
      const asked = ((await node?.counts())?.['getMultipleAccounts'] ?? 0) - before;
      const good = answers.filter((answer) => answer.startsWith('HTTP/1.1 200')).length;
      const bodies = new Set(answers.map((answer) => answer.slice(answer.indexOf('\r\n\r\n'))));
      for (const socket of sockets) socket.destroy();
      return [
        expect(`${good} answered with 200`, good === CLIENTS),
        expect(`${bodies.size} body`, bodies.size === 1),
        expect(`${asked} upstream request`, asked === 1),
        expectWithinMs(runLength, 'all within', tookMs, 3000),
        info('of which the node took ms', 1000),
      ];
    }),
};

async function connectClients({ url }: FaultTestbed): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  while (sockets.length < CLIENTS) {
    const opening = Array.from({ length: BATCH }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {}); // a missing answer is counted
      return new Promise<Socket>((resolve) => socket.once('connect', () => resolve(socket)));
    });
    sockets.push(...(await Promise.all(opening)));
  }
  return sockets;
}

/** Sends a request; returns the answer, or the part of it that arrived before the connection ended. */
function sendRequest(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const checkComplete = (): void => {
      const body = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (body > 3 && text.length - body >= length) resolve(text.replace(/^date:.*$/im, ''));
    };
    socket.on('data', (chunk) => {
      text += chunk;
      checkComplete();
    });
    socket.on('close', () => resolve(text));
    socket.write(request);
  });
}
