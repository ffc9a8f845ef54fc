import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { CLOCK_SYSVAR } from '../../../../src/domain/well-known-addresses.ts';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { loopbackAddress } from '../../../support/raw-connection.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectSome, type Finding, info } from '../../findings.ts';
import { expectAll } from '../../wire/wire-row.ts';
import type { CostRow } from '../attack-row.ts';
import { MeasuredGateway } from '../measured-gateway.ts';
import { addressOf } from '../node-answers.ts';

/** Places for live accounts, fewer than by default, so that a short run can fill them. */
const PLACES = 150;
const ATTACKER = '127.0.0.2';
/** Messages a second that the free tier has handled on one socket. */
const MESSAGES_PER_SECOND = 10;
const SOCKETS = 2;
const ADDRESSES = 5;
const NEWCOMERS = 10;
const PATIENCE_MS = 5000;
/** Time in which the Clock's account changes a few times. */
const PUSHES_MS = 2500;

/** A stream client with the messages it got. */
class StreamClient {
  readonly socket: WebSocket;
  readonly messages: any[] = [];

  static async open(url: string, localAddress: string): Promise<StreamClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`, { localAddress });
    await once(socket, 'open');
    return new StreamClient(socket);
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.messages.push(JSON.parse(String(data))));
    socket.on('error', () => {});
  }

  send(message: object): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Waits for the answer to a message by its id; undefined if none comes. */
  async answerTo(id: string): Promise<any> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    while (performance.now() < deadlineMs) {
      const found = this.messages.find((message) => message.id === id);
      if (found !== undefined) return found;
      await sleep(10);
    }
  }

  count(type: string): number {
    return this.messages.filter((message) => message.type === type).length;
  }
}

/** Subscriptions that are ended at once, by one caller, within the limits of the free tier. */
export const subscriptionChurn: CostRow = {
  id: 'churn',
  title: `one caller subscribes and unsubscribes all the time, with ${PLACES} places for live accounts`,
  run: ({ main, isFull }) =>
    withTestScope(async (scope) => {
      const cluster = await startEmbeddedCluster({ transactionsPerSlot: 0 });
      scope.teardown(() => cluster.close());
      const upstream = `${cluster.url},${cluster.wsUrl}`;
      const gateway = await MeasuredGateway.start({ main, upstream, set: [`watch.accounts=${PLACES}`] });
      scope.teardown(() => gateway.close());
      const before = await StreamClient.open(gateway.url, loopbackAddress(900_000));
      scope.teardown(() => before.socket.terminate());
      before.send({ op: 'subscribe', topic: 'account', address: CLOCK_SYSVAR, id: 'clock' });
      await before.answerTo('clock');

      const churned = await churn(gateway.url, isFull ? 60_000 : 20_000);
      const pushesBefore = before.count('account');
      const outcomes: string[] = [];
      for (let i = 0; i < NEWCOMERS; i++) {
        const newcomer = await StreamClient.open(gateway.url, loopbackAddress(910_000 + i));
        newcomer.send({ op: 'subscribe', topic: 'balance', address: addressOf(`newcomer ${i}`), id: 'new' });
        const answer = await newcomer.answerTo('new');
        outcomes.push(answer?.type === 'subscribed' ? 'subscribed' : (answer?.error ?? 'no answer'));
        newcomer.socket.terminate();
      }
      await sleep(PUSHES_MS);
      const pushes = before.count('account') - pushesBefore;
      const refusals = outcomes.filter((outcome) => outcome !== 'subscribed');
      return [
        info('subscribed and unsubscribed', churned),
        expectAll('then others who could subscribe', NEWCOMERS - refusals.length, NEWCOMERS),
        ...(refusals.length > 0 ? [info('others got', [...new Set(refusals)].join())] : []),
        expectSome('pushes to who had subscribed before, since', pushes),
        expectOpen(before),
      ];
    }),
};

const expectOpen = ({ socket, messages }: StreamClient): Finding => {
  const errors = messages.filter(({ type }) => type === 'error');
  return {
    text: `whose stream is ${socket.readyState === WebSocket.OPEN ? 'open' : 'closed'}, with ${errors.length} errors`,
    isMet: socket.readyState === WebSocket.OPEN && errors.length === 0,
  };
};

/** Subscribes to new addresses and unsubscribes, as fast as the limits let; returns how many addresses were accepted. */
async function churn(url: string, durationMs: number): Promise<number> {
  const clients = await Promise.all(Array.from({ length: SOCKETS }, () => StreamClient.open(url, ATTACKER)));
  const endMs = performance.now() + durationMs;
  for (let round = 0; performance.now() < endMs; round++) {
    for (const op of ['subscribe', 'unsubscribe']) {
      for (const [i, client] of clients.entries())
        for (let each = 0; each < ADDRESSES; each++)
          client.send({ op, topic: 'balance', id: `${round}`, address: addressOf(`churned ${i} ${round} ${each}`) });
      await sleep((1050 * ADDRESSES) / MESSAGES_PER_SECOND);
    }
  }
  const accepted = clients.reduce((sum, client) => sum + client.count('subscribed'), 0);
  for (const { socket } of clients) socket.terminate();
  return accepted;
}
