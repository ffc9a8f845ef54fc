import type { HttpResponse, WebSocket } from 'uWebSockets.js';
import type { Commitment } from '../../src/shared/domain/commitment.ts';
import type { Slot } from '../../src/shared/domain/slot.ts';
import { clockText } from '../../test/support/clock-text.ts';
import { loadRawEngine } from '../support/raw-engine.ts';

// Forked: a node that answers reads of accounts and notifies of their changes, to a hundred thousand subscriptions. What
// an account holds is a function of its address and the slot, so each answer agrees with each notification.
// argv: NodeOptions as JSON. It sends its port to the parent, then a SlotNotification for each slot and commitment, and
// a NodeCounts after each message; a message that is an object sets how often accounts change.

export interface NodeOptions {
  readonly slotMs: number;
  /** Slots between two changes of an account; 0: it never changes. */
  readonly changeEvery: number;
  /** What all accounts are: of the system program without data, or of the token program with 165 bytes. */
  readonly accounts: 'system' | 'token';
  /** Subscriptions that a WebSocket may have; further ones are refused as agave does. */
  readonly maxSubscriptions: number;
}

/** A message to the node: accounts change that often from the slot after the next one. */
export type NodeCommand = Pick<NodeOptions, 'changeEvery'> | 'counts';

/** A slot that subscribers are about to be notified of. */
export interface SlotNotification {
  readonly commitment: Commitment;
  readonly slot: Slot;
  readonly atMs: number;
}

export interface NodeCounts {
  readonly requests: Readonly<Record<string, number>>;
  /** Subscriptions to accounts, the Clock left out. */
  readonly subscriptions: number;
  /** WebSockets with subscriptions to accounts. */
  readonly accountSockets: number;
  readonly notifications: number;
}

interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

interface ReadOptions {
  readonly commitment?: Commitment;
  readonly minContextSlot?: Slot;
  readonly encoding?: string;
}

interface Subscription {
  readonly id: number;
  readonly socket: Socket;
  readonly address: string;
  /** Decides in which slots the account changes. */
  readonly phase: number;
  readonly commitment: Commitment;
}

interface SocketData {
  readonly subscriptions: Map<number, Subscription>;
}

type Socket = WebSocket<SocketData>;

/** From when on accounts change how often. */
interface Pace {
  readonly since: Slot;
  readonly every: number;
}

const options: NodeOptions = JSON.parse(process.argv[2] ?? '');
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const FIRST_SLOT = 1_000_000;
const SLOTS_PER_EPOCH = 432_000;
const BEHIND: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 32 };
/** Notifications that are sent in one turn of the event loop, so that reads don't wait for all. */
const BURST = 500;

let processed = FIRST_SLOT;
let lastId = 0;
let notifications = 0;
const paces: Pace[] = [{ since: FIRST_SLOT - 100, every: options.changeEvery }];
const requests = new Map<string, number>();
const sockets = new Set<Socket>();
const slotSubscriptions = new Map<Socket, number>();
const clockSubscriptions = new Set<Subscription>();
/** Subscriptions to accounts, the Clock left out. */
const subscriptions: Readonly<Record<Commitment, Set<Subscription>>> = {
  processed: new Set(),
  confirmed: new Set(),
  finalized: new Set(),
};

const slotAt = (commitment: Commitment): Slot => processed - BEHIND[commitment];

/** Returns a number that differs from address to address. */
function phaseOf(address: string): number {
  let value = 2_166_136_261;
  for (let i = 0; i < address.length; i++) value = Math.imul(value ^ address.charCodeAt(i), 16_777_619);
  return value >>> 0;
}

/** Returns the last slot up to `slot` in which an account changed. */
function lastChange(address: string, slot: Slot): Slot {
  let until = slot;
  for (const { since, every } of paces.toReversed()) {
    if (since > until) continue;
    const change = every === 0 ? since - 1 : until - ((until - (phaseOf(address) % every)) % every);
    if (change >= since) return change;
    until = since - 1;
  }
  return FIRST_SLOT - 100;
}

const SYSTEM_OWNER = '11111111111111111111111111111111';
const TOKEN_OWNER = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** The 165 bytes of a token account, which no reader of the benchmarks decodes. */
const TOKEN_DATA = Buffer.alloc(165, 1).toString('base64');

/** Returns the JSON of an account at a slot, as agave writes it; in base64 where `isParsed` is false. */
function accountJson(address: string, slot: Slot, isParsed: boolean, hasData = false): string {
  if (address === CLOCK) return clockText(slot);
  const amount = 1_000_000_000 + lastChange(address, slot);
  if (options.accounts === 'system') return accountText('["","base64"]', amount, SYSTEM_OWNER, 0);
  const data = isParsed
    ? `{"parsed":{"info":{"isNative":false,"mint":"${MINT}","owner":"${address}","state":"initialized",` +
      `"tokenAmount":{"amount":"${amount}","decimals":6,"uiAmount":${amount / 1e6},"uiAmountString":"${amount / 1e6}"}},"type":"account"},"program":"spl-token","space":165}`
    : `["${hasData ? TOKEN_DATA : ''}","base64"]`;
  return accountText(data, 2_039_280, TOKEN_OWNER, 165);
}

const accountText = (data: string, lamports: number, owner: string, space: number): string =>
  `{"data":${data},"executable":false,"lamports":${lamports},"owner":"${owner}","rentEpoch":18446744073709551615,"space":${space}}`;

/** Returns the result of a call over HTTP; undefined for a method that the node doesn't have. */
function resultOf({ method, params = [] }: Request, slot: Slot): string | undefined {
  switch (method) {
    case 'getGenesisHash':
      return `"${GENESIS}"`;
    case 'getHealth':
      return '"ok"';
    case 'getSlot':
      return `${slot}`;
    case 'getBlocks': {
      const [from, to] = params as readonly [Slot, Slot]; // as the method is documented
      const last = Math.min(to, slot);
      return JSON.stringify(Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => from + i));
    }
    case 'getEpochInfo':
      return `{"absoluteSlot":${slot},"blockHeight":${slot},"epoch":${Math.floor(slot / SLOTS_PER_EPOCH)},"slotIndex":${slot % SLOTS_PER_EPOCH},"slotsInEpoch":${SLOTS_PER_EPOCH},"transactionCount":${slot * 1000}}`;
    case 'getRecentPerformanceSamples':
      return `[{"slot":${slot},"numTransactions":1500,"numNonVoteTransactions":500,"numSlots":150,"samplePeriodSecs":60}]`;
    case 'getRecentPrioritizationFees':
      return `[{"slot":${slot},"prioritizationFee":0}]`;
    case 'getBalance':
      return `{"context":{"slot":${slot}},"value":${1_000_000_000 + lastChange(String(params[0]), slot)}}`;
    case 'getAccountInfo': {
      const [address, { encoding }] = params as readonly [string, ReadOptions]; // as the method is documented
      const account = accountJson(address, slot, encoding === 'jsonParsed', true);
      return `{"context":{"apiVersion":"4.2.2","slot":${slot}},"value":${account}}`;
    }
    case 'getMultipleAccounts': {
      const [addresses, { encoding }] = params as readonly [readonly string[], ReadOptions]; // as the method is documented
      const accounts = addresses.map((address) => accountJson(address, slot, encoding === 'jsonParsed'));
      return `{"context":{"apiVersion":"4.2.2","slot":${slot}},"value":[${accounts.join()}]}`;
    }
    default:
      return undefined;
  }
}

function respond(request: Request): string {
  requests.set(request.method, (requests.get(request.method) ?? 0) + 1);
  const { commitment = 'finalized', minContextSlot = 0 } = (request.params?.at(-1) ?? {}) as ReadOptions;
  const slot = slotAt(commitment);
  const result = slot < minContextSlot ? undefined : resultOf(request, slot);
  const error =
    slot < minContextSlot
      ? '{"code":-32016,"message":"Minimum context slot has not been reached"}'
      : '{"code":-32601,"message":"Method not found"}';
  const outcome = result === undefined ? `"error":${error}` : `"result":${result}`;
  return `{"jsonrpc":"2.0",${outcome},"id":${JSON.stringify(request.id)}}`;
}

function subscribe(socket: Socket, { id, method, params = [] }: Request): string {
  const ends = method.endsWith('Unsubscribe');
  const own = socket.getUserData().subscriptions;
  if (ends) remove(own.get(Number(params[0])));
  else if (own.size >= options.maxSubscriptions) {
    const message = 'Internal Error: Subscription refused. Node subscription limit reached';
    return `{"jsonrpc":"2.0","error":{"code":-32603,"message":"${message}"},"id":${id}}`;
  } else if (method === 'slotSubscribe') slotSubscriptions.set(socket, ++lastId);
  else {
    const [address, { commitment = 'finalized' } = {}] = params as readonly [string, ReadOptions?]; // of accountSubscribe
    const subscription: Subscription = { id: ++lastId, socket, address, phase: phaseOf(address), commitment };
    own.set(subscription.id, subscription);
    (address === CLOCK ? clockSubscriptions : subscriptions[commitment]).add(subscription);
  }
  return `{"jsonrpc":"2.0","result":${ends ? true : lastId},"id":${id}}`;
}

function remove(subscription: Subscription | undefined): void {
  if (subscription === undefined) return;
  subscription.socket.getUserData().subscriptions.delete(subscription.id);
  drop(subscription);
}

function drop(subscription: Subscription): void {
  subscriptions[subscription.commitment].delete(subscription);
  clockSubscriptions.delete(subscription);
}

const notificationOf = ({ address, id }: Subscription, slot: Slot): string =>
  `{"jsonrpc":"2.0","method":"accountNotification","params":{"result":{"context":{"slot":${slot}},"value":${accountJson(address, slot, true)}},"subscription":${id}}}`;

/** Notifies of one slot at one commitment: of the Clock, then of the changed accounts. */
function notify(commitment: Commitment, slot: Slot, changed: readonly Subscription[]): void {
  const notification: SlotNotification = { commitment, slot, atMs: Number(process.hrtime.bigint()) / 1e6 };
  for (const clock of clockSubscriptions)
    if (clock.commitment === commitment) clock.socket.send(notificationOf(clock, slot));
  sendBurst(changed, 0, slot);
  setImmediate(() => process.send?.(notification)); // after the subscribers
}

/** Sends a part of the notifications, those that follow each other on a WebSocket in one system call. */
function sendBurst(changed: readonly Subscription[], from: number, slot: Slot): void {
  const end = Math.min(from + BURST, changed.length);
  for (let i = from; i < end; ) {
    const socket = changed[i]?.socket;
    const first = i;
    while (i < end && changed[i]?.socket === socket) i++;
    if (socket === undefined || !sockets.has(socket)) continue;
    socket.cork(() => {
      for (const subscription of changed.slice(first, i)) socket.send(notificationOf(subscription, slot));
    });
  }
  notifications += end - from;
  if (end < changed.length) setImmediate(sendBurst, changed, end, slot);
}

function advance(): void {
  processed++;
  for (const [socket, id] of slotSubscriptions) {
    const root = slotAt('finalized');
    const result = `{"slot":${processed + 1},"parent":${processed},"root":${root}}`;
    socket.send(`{"jsonrpc":"2.0","method":"slotNotification","params":{"result":${result},"subscription":${id}}}`);
  }
  for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
    const slot = slotAt(commitment);
    const { every } = paces.findLast(({ since }) => since <= slot) ?? { every: 0 };
    const isChanged = ({ phase }: Subscription): boolean => (slot - (phase % every)) % every === 0;
    notify(commitment, slot, every === 0 ? [] : [...subscriptions[commitment]].filter(isChanged));
  }
}

/** Reads the body of a request. The answer is dropped if the caller has gone. */
function readBody(response: HttpResponse, onBody: (text: string, send: (answer: string) => void) => void): void {
  const chunks: Buffer[] = [];
  let isAborted = false;
  response.onAborted(() => {
    isAborted = true;
  });
  const send = (answer: string): void => {
    if (!isAborted) response.cork(() => response.end(answer));
  };
  response.onData((chunk, isLast) => {
    chunks.push(Buffer.from(Buffer.from(chunk)));
    if (isLast) onBody(Buffer.concat(chunks).toString(), send);
  });
}

const { App, us_listen_socket_close, us_socket_local_port } = await loadRawEngine();
App()
  .post('/*', (response) => readBody(response, (text, send) => send(respond(JSON.parse(text)))))
  .ws<SocketData>('/*', {
    maxBackpressure: 256 * 1024 * 1024,
    idleTimeout: 0,
    upgrade: (response, request, context) =>
      response.upgrade(
        { subscriptions: new Map() },
        request.getHeader('sec-websocket-key'),
        request.getHeader('sec-websocket-protocol'),
        request.getHeader('sec-websocket-extensions'),
        context,
      ),
    open: (socket) => void sockets.add(socket),
    message: (socket, message) => void socket.send(subscribe(socket, JSON.parse(Buffer.from(message).toString()))),
    close: (socket) => {
      sockets.delete(socket);
      slotSubscriptions.delete(socket);
      for (const subscription of socket.getUserData().subscriptions.values()) drop(subscription);
    },
  })
  .listen('127.0.0.1', 0, (listener) => {
    if (!listener) throw new Error('the node has no port');
    setInterval(advance, options.slotMs);
    process.send?.(us_socket_local_port(listener));
    process.on('disconnect', () => {
      us_listen_socket_close(listener);
      process.exit();
    });
  });

process.on('message', (command: NodeCommand) => {
  if (command !== 'counts') paces.push({ since: processed + 2, every: command.changeEvery });
  const counts: NodeCounts = {
    requests: Object.fromEntries(requests),
    subscriptions: Object.values(subscriptions).reduce((sum, { size }) => sum + size, 0),
    accountSockets: new Set(Object.values(subscriptions).flatMap((all) => [...all].map(({ socket }) => socket))).size,
    notifications,
  };
  process.send?.(counts);
});
