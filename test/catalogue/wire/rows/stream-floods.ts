import { setTimeout as sleep } from 'node:timers/promises';
import { frame, OP } from '../../../support/websocket-frame.ts';
import { WebSocketPeer } from '../../../support/websocket-peer.ts';
import { expectNone, type Finding, info } from '../../findings.ts';
import { Bystander } from '../bystander.ts';
import { countFor, expectAll, expectAtMost, expectBelowWhenQuiet, type WireRow } from '../wire-row.ts';

const ADDRESS = 'ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ';
const repeated = (packet: Buffer): Buffer => Buffer.concat(Array.from({ length: 200 }, () => packet));
const SUBSCRIBE = frame(OP.text, `{"op":"subscribe","topic":"balance","address":"${ADDRESS}"}`);

const MANY = JSON.stringify({ op: 'subscribe', topic: 'balance', addresses: Array(80).fill(ADDRESS) });
const SUBSCRIBE_MANY = frame(OP.text, MANY);

/** Packets sent repeatedly, and the close codes that must end the stream; without codes it may go on. */
const FLOODS: Readonly<Record<string, { readonly packet: Buffer; readonly codes?: readonly number[] }>> = {
  subscriptions: { packet: repeated(SUBSCRIBE), codes: [4429, 1006] },
  messages: { packet: repeated(frame(OP.text, '{"op":"ping"}')), codes: [4429, 1006] },
  'messages about 80 accounts': { packet: repeated(SUBSCRIBE_MANY), codes: [4429, 1006] },
  'what is no message': { packet: repeated(frame(OP.text, 'x')), codes: [4403, 1006] },
  'messages of 64 KiB and one': { packet: frame(OP.text, ' '.repeat(65_537)), codes: [1009, 1006] },
  fragments: { packet: repeated(frame(OP.text, ' '.repeat(100), { fin: false })), codes: [1002, 1006] },
  pings: { packet: repeated(frame(OP.ping, 'a'.repeat(100))) },
};

/** Messages a second that are over the pace of ten, but fewer than fifty in five seconds. */
const HASTY_RATE = 18;
const HASTY_SECONDS = 6;

/** Sends somewhat too fast: all messages of the pace are answered, the others refused, and the stream stays open. */
async function sendHastily(url: string): Promise<readonly Finding[]> {
  const peer = await WebSocketPeer.open(url);
  const texts = (): readonly string[] => peer.replies.map(({ payload }) => String(payload));
  const count = (pattern: RegExp): number => texts().filter((text) => pattern.test(text)).length;
  for (let second = 0, id = 0; second < HASTY_SECONDS; second++) {
    const startedMs = performance.now();
    const messages = Array.from({ length: HASTY_RATE }, () => frame(OP.text, `{"op":"ping","id":${++id}}`));
    await peer.send(Buffer.concat(messages));
    await sleep(1050 - (performance.now() - startedMs)); // a second of the gateway begins with a message
  }
  await sleep(1100); // the frame about the last refusals
  const refused = texts().flatMap((text) => JSON.parse(text).ids ?? []).length;
  const findings = [
    expectAll('hasty: answered', count(/^{"type":"pong"}$/), 10 * HASTY_SECONDS),
    expectAll('hasty: refused by id', refused, (HASTY_RATE - 10) * HASTY_SECONDS),
    expectAtMost('hasty: error frames', count(/"rate_limited"/), HASTY_SECONDS + 2),
    expectNone('hasty: closed', peer.closeCode === undefined ? 0 : 1),
  ];
  peer.connection.reset();
  return findings;
}

/** Streams that send without a pause, while another caller reads over HTTP. */
export const streamFloods: WireRow = {
  id: '41',
  title: 'floods on the stream',
  async run({ url }, runLength) {
    const [streams, rounds] = [4, countFor(runLength, 20, 100, 500)];
    const bystander = new Bystander(url);
    await sleep(2000);
    const calmMs = await bystander.takeP99Ms();
    const findings: Finding[] = [...(await sendHastily(url))];
    for (const [name, { packet, codes }] of Object.entries(FLOODS)) {
      const peers = await Promise.all(Array.from({ length: streams }, () => WebSocketPeer.open(url)));
      for (let round = 0; round < rounds; round++) {
        for (const { connection } of peers) if (connection.socket.writableLength < 1e6) connection.write(packet);
        await sleep(1);
      }
      for (let i = 0; codes !== undefined && i < 200 && peers.some(({ connection }) => !connection.closed); i++)
        await sleep(10); // what was sent is still being read
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
