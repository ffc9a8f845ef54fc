import { setTimeout as sleep } from 'node:timers/promises';
import { frame, OP } from '../../../support/frame.ts';
import { Peer } from '../../../support/peer.ts';
import { type Finding, shown } from '../../row.ts';
import { Bystander } from '../bystander.ts';
import { all, calmly, type Row, times } from '../row.ts';

const ADDRESS = 'ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ';
const many = (packet: Buffer): Buffer => Buffer.concat(Array.from({ length: 200 }, () => packet));
const SUBSCRIBE = frame(OP.text, `{"op":"subscribe","topic":"balance","address":"${ADDRESS}"}`);

/** What each sends again and again, and the codes that end it; without any it may go on. */
const FLOODS: Readonly<Record<string, { readonly packet: Buffer; readonly codes?: readonly number[] }>> = {
  subscriptions: { packet: many(SUBSCRIBE), codes: [4429, 1006] },
  messages: { packet: many(frame(OP.text, '{"op":"ping"}')), codes: [4429, 1006] },
  'what is no message': { packet: many(frame(OP.text, 'x')), codes: [4403, 1006] },
  'messages of 64 KiB and one': { packet: frame(OP.text, ' '.repeat(65_537)), codes: [1009, 1006] },
  fragments: { packet: many(frame(OP.text, ' '.repeat(100), { fin: false })), codes: [1002, 1006] },
  pings: { packet: many(frame(OP.ping, 'a'.repeat(100))) },
};

/** Streams on which everything comes without a pause, while another caller reads over HTTP. */
export const flooded: Row = {
  id: '41',
  what: 'floods on the stream',
  async run({ url }, pace) {
    const [streams, rounds] = [4, times(pace, 20, 100, 500)];
    const bystander = new Bystander(url);
    await sleep(2000);
    const calmMs = await bystander.takeP99Ms();
    const findings: Finding[] = [];
    for (const [name, { packet, codes }] of Object.entries(FLOODS)) {
      const peers = await Promise.all(Array.from({ length: streams }, () => Peer.open(url)));
      for (let round = 0; round < rounds; round++) {
        for (const { line } of peers) if (line.socket.writableLength < 1e6) line.write(packet);
        await sleep(1);
      }
      const ended = peers.filter(({ line, code = 0 }) => line.closed && codes?.includes(code) === true).length;
      findings.push(codes === undefined ? shown(name, 'answered') : all(`${name}: ended`, ended, streams));
      for (const { line } of peers) line.cut();
    }
    findings.push(calmly(pace, 'p99 of HTTP to the calm one', (await bystander.takeP99Ms()) / calmMs, 2));
    await bystander.stop();
    findings.push(all('good answers', bystander.asked - bystander.failed, bystander.asked));
    return findings;
  },
};
