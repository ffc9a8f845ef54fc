import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import t, { type Test } from 'tap';
import { CLOCK_SYSVAR } from '../../src/shared/domain/well-known-addresses.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import { PATIENT_ARGS, runModule, waitUntilListening } from '../support/child-process.ts';
import { GatewayProcess } from '../support/gateway-process.ts';
import { percentile } from '../support/percentile.ts';
import { pluck } from '../support/pluck.ts';
import { cpuSecondsOf, NODE_OPTIONS } from '../support/process-usage.ts';
import { MANY_SUBSCRIPTIONS } from '../support/pubsub-settings.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { CountingClients, type Subscription } from './counting-clients.ts';
import { type FundedWallet, openFundedWallet } from './funded-wallet.ts';
import { wsUrlOf } from './gateways-under-test.ts';

// Measures what a notification costs a real validator, whose URL is the last argument, and a gateway over it, while clients are
// subscribed at one of them, in turns: the CPU of the validator's threads of pubsub, and of the whole gateway, less what each
// uses in as many slots without clients. Then measures the memory of subscriptions that nothing is notified of.

const url = process.argv.at(-1) ?? '';
const CLIENTS = Number(process.env['CLIENTS'] ?? 1000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/** Slots of a window: a busy machine has fewer in a second, and a process its work in each slot. */
const SLOTS = Number(process.env['SLOTS'] ?? 20);
const POLL_MS = 100;
/** Until connections are closed, and new ones are notified of every change. */
const SETTLE_MS = 1500;
const PAY_MS = 400;
/** Views of one account, each a subscription of its own: many notifications in each slot. */
const SLICES = [0, 1, 2, 3, 4];
/** The threads of agave that only serve pubsub: the rest of a validator would hide them. */
const PUBSUB_THREADS = /^solRpc(PubSub|Noti)/;
const IDLE_CLIENTS = 1000;
const IDLE_EACH = 50;
const SHARED_ACCOUNTS = 1000;
/** Accounts of one client alone. */
const OWN_EACH = 10;

t.setTimeout(1_800_000);

const SIDES = ['node', 'gateway'] as const;

/** What both processes use, and what clients receive: since they began, or in a window. */
interface Usage {
  readonly seconds: number;
  readonly slots: number;
  /** CPU seconds. */
  readonly node: number;
  readonly gateway: number;
  readonly notified: number;
}

interface Window {
  readonly kind: string;
  readonly side: (typeof SIDES)[number];
  readonly notifiedPerSecond: number;
  /** CPU of a notification at the side that sends it, in microseconds. */
  readonly cost: number;
}

t.test('a notification costs a gateway less CPU than its node', async (t) => {
  const wallet = await openFundedWallet(url);
  const subscriptions: Readonly<Record<string, readonly Subscription[]>> = {
    account: (['processed', 'confirmed'] as const).flatMap((commitment) =>
      SLICES.map((offset) => [
        'accountSubscribe',
        CLOCK_SYSVAR,
        { encoding: 'base64', commitment, dataSlice: { offset, length: 40 } },
      ]),
    ),
    logs: [['logsSubscribe', { mentions: [wallet.signer.address] }, { commitment: 'confirmed' }]],
  };
  const gateway = await startWithoutProbe(t);
  const urls = { node: wsUrlOf(url), gateway: pubsubOf(gateway) };
  const nodePid = pidOfListener(Number(new URL(url).port));
  const measure = (clients?: CountingClients): Promise<Usage> =>
    useOfSlots(
      async () => ({
        slots: await rpcRequest<number>(url, 'getSlot', [{ commitment: 'processed' }]),
        seconds: performance.now() / 1000,
        node: cpuSecondsOf(nodePid, PUBSUB_THREADS),
        gateway: cpuSecondsOf(gateway.pid),
        notified: clients?.notified ?? 0,
      }),
      clients !== undefined,
    );
  const payments = new AbortController();
  const paid = payAll(wallet, payments.signal);
  const windows: Window[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const without = await measure();
    for (const [kind, each] of Object.entries(subscriptions))
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const clients = await CountingClients.open(urls[side], CLIENTS);
        await clients.subscribe(() => each);
        const used = await measure(clients);
        clients.assertWhole();
        clients.close();
        const cost = (1e6 * (used[side] - (without[side] * used.slots) / without.slots)) / used.notified;
        windows.push({ kind, side, notifiedPerSecond: used.notified / used.seconds, cost });
      }
  }
  payments.abort();
  await paid;
  t.comment(`${CLIENTS} clients, ${ROUNDS} windows of ${SLOTS} slots of each; µs of CPU a notification`);
  for (const kind of Object.keys(subscriptions)) {
    const [node, own] = SIDES.map((side) => windows.filter((each) => each.kind === kind && each.side === side));
    for (const ofSide of [node, own]) t.comment(rowOf(ofSide ?? []));
    const isCheaper = Math.min(...costsOf(own)) < Math.max(...costsOf(node));
    t.ok(isCheaper, `${kind}: a notification costs the gateway less than the node`);
  }
});

t.test('an idle subscription costs little memory', async (t) => {
  const gateway = await GatewayProcess.start([`${url},${wsUrlOf(url)}`], {
    set: MANY_SUBSCRIPTIONS,
    nodeOptions: NODE_OPTIONS,
  });
  t.teardown(() => gateway.close());
  const report = async (what: string, count: number, open: () => Promise<void>): Promise<void> => {
    const before = await gateway.memory();
    await open();
    await sleep(SETTLE_MS);
    const after = await gateway.memory();
    const [kept, resident] = (['keptBytes', 'residentBytes'] as const).map((of) =>
      Math.round((after[of] - before[of]) / count),
    );
    t.comment(`${count} ${what}: ${kept} bytes each in heap and buffers, ${resident} resident`);
  };
  let clients: CountingClients | undefined;
  t.teardown(() => clients?.close());
  const subscribeTo = (count: number, accountOf: (client: number, i: number) => number) => async () =>
    clients?.subscribe((client) =>
      Array.from({ length: count }, (_, i) => [
        'accountSubscribe',
        addressOfNumber(accountOf(client, i)),
        { commitment: 'confirmed' },
      ]),
    );
  await report('connections', IDLE_CLIENTS, async () => {
    clients = await CountingClients.open(pubsubOf(gateway), IDLE_CLIENTS);
  });
  const shared = subscribeTo(IDLE_EACH, (client, i) => (client * 7 + i) % SHARED_ACCOUNTS);
  await report(`subscriptions to ${SHARED_ACCOUNTS} accounts`, IDLE_CLIENTS * IDLE_EACH, shared);
  const own = subscribeTo(OWN_EACH, (client, i) => SHARED_ACCOUNTS + client * OWN_EACH + i);
  await report('subscriptions to an account each', IDLE_CLIENTS * OWN_EACH, own);
  clients?.assertWhole();
  t.equal(clients?.notified, 0, 'nothing was notified');
});

const costsOf = (windows: readonly Window[] = []): readonly number[] => windows.map(({ cost }) => cost);

function rowOf(windows: readonly Window[]): string {
  const costs = costsOf(windows);
  const median = percentile(costs, 0.5);
  const sent = percentile(pluck(windows, 'notifiedPerSecond'), 0.5);
  return [
    `${windows[0]?.kind} ${windows[0]?.side}: ${median.toFixed(1)} (${costs.map((cost) => cost.toFixed(1)).join(' ')})`,
    `${Math.round(1e6 / median)} a second for each core`,
    `${Math.round(sent)} a second were sent`,
  ].join(', ');
}

/** Starts a gateway in a process of its own; the probe of {@link GatewayProcess} uses CPU itself. */
async function startWithoutProbe(t: Test): Promise<{ readonly url: string; readonly pid: number }> {
  const set = ['limits.free.units=10000000', 'limits.connections=1000000', ...MANY_SUBSCRIPTIONS];
  const child = runModule(
    new URL('../../src/main.js', import.meta.url),
    [
      ...['--port', '0', '--state', t.testdir(), '--upstream', `${url},${wsUrlOf(url)}`, ...PATIENT_ARGS],
      ...set.flatMap((setting) => ['--set', setting]),
    ],
    { NODE_OPTIONS: NODE_OPTIONS.join(' ') },
  );
  t.teardown(async () => {
    child.process.kill('SIGKILL');
    await child.exit();
  });
  return { url: (await waitUntilListening(child)).url, pid: child.process.pid ?? 0 };
}

const pubsubOf = ({ url }: { readonly url: string }): string => `${url.replace('http', 'ws')}/api/v1/rpc`;

/** Returns what is used in a window, in which clients are notified: a busy node confirms some slots together, and late. */
async function useOfSlots(read: () => Promise<Usage>, hasClients: boolean): Promise<Usage> {
  await sleep(SETTLE_MS);
  const before = await read();
  let after = before;
  while (after.slots < before.slots + SLOTS || (hasClients && after.notified === before.notified)) {
    await sleep(POLL_MS);
    after = await read();
  }
  const useOf = (name: keyof Usage): number => after[name] - before[name];
  return {
    seconds: useOf('seconds'),
    slots: useOf('slots'),
    node: useOf('node'),
    gateway: useOf('gateway'),
    notified: useOf('notified'),
  };
}

/** Pays some accounts again and again, so that there are transactions to be notified of. */
async function payAll(wallet: FundedWallet, end: AbortSignal): Promise<void> {
  const accounts = Array.from({ length: 3 }, () => bs58.encode(randomBytes(32)));
  for (let amount = 1_000_000; !end.aborted; amount += accounts.length) {
    await wallet.pay(accounts, amount);
    await sleep(PAY_MS);
  }
}

/** Returns the process that listens on a port of loopback. */
function pidOfListener(port: number): number {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n');
  const listening = rows
    .map((row) => row.trim().split(/\s+/))
    .find(([, local, , state]) => local?.endsWith(end) && state === '0A');
  const socket = `socket:[${listening?.[9]}]`;
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  const pid = pids.find((each) => linksOf(`/proc/${each}/fd`).includes(socket));
  if (pid === undefined) throw new Error(`no process of this user listens on port ${port}`);
  return pid;
}

function linksOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => linkOf(`${folder}/${name}`));
  } catch {
    return []; // the process has ended, or is of another user
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // it was closed
  }
}
