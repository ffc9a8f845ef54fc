import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { loopbackAddress } from '../../../support/raw-connection.ts';
import { exchange } from '../../../support/raw-http.ts';
import { WebSocketPeer } from '../../../support/websocket-peer.ts';
import { expectNone, info } from '../../findings.ts';
import { statuses } from '../http/http-case.ts';
import { HANDSHAKE_CASES } from '../websocket/handshake-cases.ts';
import { WEBSOCKET_CASES } from '../websocket/websocket-cases.ts';
import type { WireRow } from '../wire-row.ts';

/** Deviations of an engine. The row also fails if one of them begins to hold. */
const OF_NODE = [
  '1 framing: a length longer than it needs',
  '1 framing: a length of 64 bits that needs 16',
  '1 framing: a length with the highest bit',
];
const OF_UWEBSOCKETS = [
  '1 framing: no mask',
  '1 framing: a length longer than it needs',
  '1 framing: a length of 64 bits that needs 16',
  '7 close: code 3000',
  '7 close: code 3999',
];
const CONCURRENT = 16;

export const websocketConformance: WireRow = {
  id: 'websocket-conformance',
  title: `WebSocket: ${HANDSHAKE_CASES.length} handshakes, ${WEBSOCKET_CASES.length} cases after Autobahn's families`,
  async run({ url, get }) {
    const { engine } = (await get('/health')).json.result;
    const known = engine.name === 'node' ? OF_NODE : OF_UWEBSOCKETS;
    const failed: string[] = [];
    await forEachConcurrent(HANDSHAKE_CASES, CONCURRENT, async ({ title, packet, status, pattern }) => {
      const exchanged = await exchange(url, [packet]);
      const [got = 0] = statuses(exchanged);
      if (!status.includes(got) || !pattern.test(exchanged.text)) failed.push(`handshake: ${title}`);
    });
    await forEachConcurrent(WEBSOCKET_CASES, CONCURRENT, async ({ family, title, packets, holds }, i) => {
      const peer = await WebSocketPeer.open(url, '', loopbackAddress(i)); // the messages of one caller per second are limited
      await peer.send(...packets);
      const name = `${family}: ${title}`;
      if (!holds(peer)) failed.push(name);
      if (!holds(peer) && !known.includes(name)) {
        console.error(`   ${name}: ${peer.closeCode} ${peer.replies.map(({ opcode }) => opcode)}`);
      }
      peer.connection.reset();
    });
    const count = HANDSHAKE_CASES.length + WEBSOCKET_CASES.length;
    return [
      info('hold', `${count - failed.length}/${count}`),
      expectNone('fail and are not known to', failed.filter((name) => !known.includes(name)).length),
      expectNone('are known to fail and hold', known.filter((name) => !failed.includes(name)).length),
    ];
  },
};
