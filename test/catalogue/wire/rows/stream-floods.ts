import { setTimeout as sleep } from 'node:timers/promises';
import { frame, OP } from '../../../support/websocket-frame.ts';
import { WebSocketPeer } from '../../../support/websocket-peer.ts';
import { type Finding, info } from '../../findings.ts';
import { Bystander } from '../bystander.ts';
import { countFor, expectAll, expectBelowWhenQuiet, type WireRow } from '../wire-row.ts';

const ADDRESS = 'ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ';
const repeated = (packet: Buffer): Buffer => Buffer.concat(Array.from({ length: 200 }, () => packet));
const SUBSCRIBE = frame(OP.text, `{"op":"subscribe","topic":"balance","address":"${ADDRESS}"}`);

/** Packets sent repeatedly, and the close codes that must end the stream; without codes it may go on. */
const FLOODS: Readonly<Record<string, { readonly packet: Buffer; readonly codes?: readonly number[] }>> = {
  subscriptions: { packet: repeated(SUBSCRIBE), codes: [4429, 1006] },
  messages: { packet: repeated(frame(OP.text, '{"op":"ping"}')), codes: [4429, 1006] },
  'what is no message': { packet: repeated(frame(OP.text, 'x')), codes: [4403, 1006] },
  'messages of 64 KiB and one': { packet: frame(OP.text, ' '.repeat(65_537)), codes: [1009, 1006] },
  fragments: { packet: repeated(frame(OP.text, ' '.repeat(100), { fin: false })), codes: [1002, 1006] },
  pings: { packet: repeated(frame(OP.ping, 'a'.repeat(100))) },
};

/** Streams that send without a pause, while another caller reads over HTTP. */
export const streamFloods: WireRow = {
  id: '41',
  title: 'floods on the stream',
  async run({ url }, runLength) {
    const [streams, rounds] = [4, countFor(runLength, 20, 100, 500)];
    const bystander = new Bystander(url);
    await sleep(2000);
    const calmMs = await bystander.takeP99Ms();
    const findings: Finding[] = [];
    for (const [name, { packet, codes }] of Object.entries(FLOODS)) {
      const peers = await Promise.all(Array.from({ length: streams }, () => WebSocketPeer.open(url)));
      for (let round = 0; round < rounds; round++) {
        for (const { connection } of peers) if (connection.socket.writableLength < 1e6) connection.write(packet);
        await sleep(1);
      }
      const ended = peers.filter(
        ({ connection, closeCode = 0 }) => connection.closed && codes?.includes(closeCode) === true,
      ).length;
      findings.push(codes === undefined ? info(name, 'answered') : expectAll(`${name}: ended`, ended, streams));
      for (const { connection } of peers) connection.reset();
    }
    findings.push(
      expectBelowWhenQuiet(runLength, 'p99 of HTTP to the calm one', (await bystander.takeP99Ms()) / calmMs, 2),
    );
    await bystander.stop();
    findings.push(expectAll('good answers', bystander.requested - bystander.failed, bystander.requested));
    return findings;
  },
};
