import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { addressOfNumber } from '../../../support/address-of-number.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { percentile } from '../../../support/percentile.ts';
import { MANY_SUBSCRIPTIONS } from '../../../support/pubsub-settings.ts';
import { rpcRequest } from '../../../support/rpc-request.ts';
import { startLiveCluster } from '../../../support/test-cluster.ts';
import {
  expectBelow,
  expectBelowAlways,
  expectNone,
  expectSome,
  type Finding,
  info,
  type Row,
  type RunLength,
} from '../../findings.ts';

const EACH = 10;
/** One address may open 112 connections in a few seconds while a gateway has many (connection-limiter.ts). */
const ADDRESSES = 200;
const CHANGED = 50;
/** The subscriptions that a gateway needs besides: those of slots, and the Clock of each connection. */
const OWN_SUBSCRIPTIONS = 12;
const PATIENCE_MS = 120_000;
/** The time in which a gateway has connected again, and in which two slots pass. */
const RECOVERY_MS = 3000;
/** The longest time until all clients have a change that comes while their node is gone. */
const CHANGE_MS = 15_000;
const POLL_MS = 20;
const SLOT_MS = 400;
const WANTED_SLOTS = 2;

/** One client, and what it was notified of. */
class Client {
  readonly socket: WebSocket;
  readonly lamports = new Map<number, number>();
  acknowledged = 0;
  refused = 0;
  isClosed = false;
  stepsBack = 0;
  readonly watched = new Set<number>();
  readonly #numbers = new Map<number, number>();
  readonly #slots = new Map<number, number>();

  constructor(url: string, localAddress: string) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/rpc`, { localAddress });
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    this.socket.on('message', (data) => this.#onMessage(JSON.parse(String(data))));
  }

  subscribe(number: number): void {
    this.watched.add(number);
    const params = [addressOfNumber(number), { commitment: 'confirmed' }];
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id: number, method: 'accountSubscribe', params }));
  }

  #onMessage({ id, result, params }: { id?: number; result?: number; params?: Notified }): void {
    if (params !== undefined) {
      const { subscription, result: notified } = params;
      if ((this.#slots.get(subscription) ?? 0) > notified.context.slot) this.stepsBack++;
      this.#slots.set(subscription, notified.context.slot);
      this.lamports.set(this.#numbers.get(subscription) ?? 0, notified.value.lamports);
    } else if (id !== undefined && result !== undefined) {
      this.acknowledged++;
      this.#numbers.set(result, id);
    } else this.refused++;
  }
}

interface Notified {
  readonly subscription: number;
  readonly result: { readonly context: { readonly slot: number }; readonly value: { readonly lamports: number } };
}

const sum = (clients: readonly Client[], of: (client: Client) => number): number =>
  clients.reduce((total, client) => total + of(client), 0);

/** Clients of Solana's pubsub share the accounts that they watch, and their node dies again and again. */
async function run(runLength: RunLength): Promise<readonly Finding[]> {
  const [count, accounts, kills] = runLength.isFull ? [10_000, 1000, 100] : [100, 200, 3];
  const cluster = await startLiveCluster({ slotMs: SLOT_MS, transactionsPerSlot: 0 });
  const gateway = await GatewayProcess.start([`${cluster.url},${cluster.wsUrl}`], { set: MANY_SUBSCRIPTIONS });
  const clients: Client[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const client = new Client(gateway.url, `127.0.1.${1 + (i % ADDRESSES)}`);
      clients.push(client);
      await once(client.socket, 'open');
      for (let k = 0; k < EACH; k++) client.subscribe(1 + ((i * 7 + k * 101) % accounts));
    }
    const untilMs = performance.now() + PATIENCE_MS;
    const answered = (): number => sum(clients, ({ acknowledged, refused }) => acknowledged + refused);
    while (answered() < count * EACH && performance.now() < untilMs) await sleep(50);
    await sleep(RECOVERY_MS);
    const upstream = (await cluster.control.subscriptionCounts()).reduce((total, each) => total + each, 0);
    const changeMs: number[] = [];
    const balanceOf = async (number: number): Promise<number> =>
      (
        await rpcRequest<{ value: number }>(cluster.url, 'getBalance', [
          addressOfNumber(number),
          { commitment: 'confirmed' },
        ])
      ).value;
    for (let kill = 0; kill < kills; kill++) {
      await cluster.control.dropWebSockets();
      const number = 1 + (kill % CHANGED);
      const before = await balanceOf(number);
      await rpcRequest(cluster.url, 'requestAirdrop', [addressOfNumber(number), 1_000_000]);
      let value = before;
      for (const untilMs = performance.now() + CHANGE_MS; value === before && performance.now() < untilMs; )
        value = await balanceOf(number);
      const beganMs = performance.now();
      const hasChange = ({ watched, lamports }: Client): boolean =>
        !watched.has(number) || lamports.get(number) === value;
      while (!clients.every(hasChange) && performance.now() - beganMs < CHANGE_MS) await sleep(POLL_MS);
      changeMs.push(performance.now() - beganMs);
    }
    const slowest = Math.max(...changeMs);
    let wrong = 0;
    let seen = 0;
    for (let number = 1; number <= Math.min(kills, CHANGED); number++) {
      const params = [addressOfNumber(number), { commitment: 'confirmed' }];
      const { value } = await rpcRequest<{ value: number }>(cluster.url, 'getBalance', params);
      for (const { watched, lamports } of clients) {
        if (!watched.has(number)) continue;
        const last = lamports.get(number);
        if (last === value) seen++;
        else wrong++;
      }
    }
    return [
      info('clients', count),
      expectNone(
        'subscriptions refused',
        sum(clients, ({ refused }) => refused),
      ),
      expectBelowAlways('subscriptions at the node', upstream, accounts + OWN_SUBSCRIPTIONS),
      info('deaths of the node', kills),
      info('ms until all clients have what changed then, p50', Math.round(percentile(changeMs, 0.5))),
      info(`within ${WANTED_SLOTS} slots`, changeMs.filter((ms) => ms <= WANTED_SLOTS * SLOT_MS).length),
      expectBelow(runLength, 'slowest, in slots', Math.round((10 * slowest) / SLOT_MS) / 10, WANTED_SLOTS),
      expectNone(
        'clients closed',
        sum(clients, ({ isClosed }) => Number(isClosed)),
      ),
      expectNone(
        'slots that went back',
        sum(clients, ({ stepsBack }) => stepsBack),
      ),
      expectSome('values notified', seen),
      expectNone('wrong', wrong),
    ];
  } finally {
    for (const { socket } of clients) socket.terminate();
    await gateway.close();
    await cluster.close();
  }
}

export const pubsubClients: Row = { id: 'pubsub-clients', title: 'clients of pubsub over a node that dies', run };
