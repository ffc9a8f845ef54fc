import type { IncomingMessage } from 'node:http';
import type { Command } from 'commander';
import { WebSocket } from 'ws';
import { createClient, isTransient, requireSuccess, SlotgateError, type Snapshot } from '../../client/index.ts';
import type { HealthReport } from '../../pages/index.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { WatchScreen } from '../terminal/watch-screen.ts';
import { examples } from './examples.ts';
import {
  addGatewayOptions,
  type ChosenGateway,
  chooseGateway,
  type GatewayFlags,
  requestFailure,
} from './gateway-options.ts';

interface WatchFlags extends GatewayFlags {
  readonly balance?: string;
  readonly json?: true;
}

interface WatchView {
  frame(body: string, snapshot: Snapshot): void;
  balance(body: string, sol: string, slot: number): void;
  lost(): void;
  close(): void;
}

/** Declares `slotgate watch`, which follows the network and perhaps one account; it ends at the first unproven frame. */
export function declareWatch(watch: Command): void {
  watch
    .option('--balance <address>', 'follow the balance of an account, too')
    .option('--json', 'print one JSON a line, as in a pipe');
  addGatewayOptions(watch)
    .addHelpText(
      'after',
      examples(
        'slotgate watch --url https://GATEWAY',
        'slotgate watch --balance ADDRESS',
        'slotgate watch --json | jq .result.slot',
      ),
    )
    .action(async (flags: WatchFlags, command: Command) => follow(await chooseGateway(flags, command), flags));
}

/** Follows a gateway until the user or the reader of the pipe ends it. Rejects with a StartError if it can't go on. */
async function follow(gateway: ChosenGateway, flags: WatchFlags): Promise<void> {
  let stop = (): void => {};
  try {
    await new Promise<void>((end, fail) => {
      stop = startFollowing(gateway, flags, end, fail);
    });
  } catch (thrown) {
    throw requestFailure(thrown, gateway.url);
  } finally {
    stop();
  }
  setTimeout(() => process.exit(), CLOSE_MS).unref(); // `ws` waits for the other end of a close for half a minute
}

/** The time that a gateway has to close a connection, in milliseconds. */
const CLOSE_MS = 1000;

function startFollowing(
  gateway: ChosenGateway,
  { balance, json }: WatchFlags,
  end: () => void,
  fail: (reason: unknown) => void,
): () => void {
  const { url } = gateway;
  const write = (text: string): boolean => process.stdout.write(text);
  const isForPeople = process.stdout.isTTY && json === undefined;
  const view: WatchView = isForPeople
    ? new WatchScreen({
        url,
        address: balance,
        end,
        clock: systemClock,
        write,
        rows: () => process.stdout.rows,
        input: process.stdin,
        readNodes: () => readNodes(gateway),
      })
    : pipeView;
  /** Why the gateway has refused the last connection. */
  let refusal: SlotgateError | undefined;
  const client = createClient({
    ...gateway,
    openSocket(target, headers) {
      refusal = undefined;
      const socket = new WebSocket(target, { headers });
      return socket.on('unexpected-response', async (_, response) => {
        refusal = await refusalOf(response, target);
        if (!isTransient(refusal)) fail(refusal);
        socket.terminate();
      });
    },
  });
  /** Goes on where only the gateway did not say what to trust: it may do so with the next frame. */
  const onError = (thrown: unknown): void => {
    const isForNow = thrown instanceof SlotgateError && isTransient(thrown) && thrown.code !== 'rate_limited';
    if (isForNow) view.lost();
    else fail(thrown); // `rate_limited` ends a subscription
  };
  let failures = 0;
  const stream = client.stream({
    receipts: true,
    onSnapshot(snapshot, { body }) {
      failures = 0;
      view.frame(body, snapshot);
    },
    onState(state) {
      if (state !== 'waiting') return;
      view.lost();
      if (++failures > MAX_FAILURES) fail(refusal ?? new SlotgateError('network', "the gateway can't be reached"));
    },
    onError,
  });
  if (balance !== undefined)
    stream.subscribe('balance', balance, {
      onUpdate: ({ body, result, slot }) => view.balance(body, result.sol, slot),
      onError,
    });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  return () => {
    stream.close();
    view.close();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end);
  };
}

/** Reads why a gateway has refused a WebSocket. */
async function refusalOf(response: IncomingMessage, url: string): Promise<SlotgateError> {
  const { statusCode: status = 0 } = response;
  const headers = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
  const chunks = response[Symbol.asyncIterator](); // its first one has the whole error
  const { value: body = new Uint8Array() } = await chunks.next().catch(() => ({ value: undefined }));
  try {
    requireSuccess({ status, headers, body }, systemClock.now(), url);
  } catch (thrown) {
    if (thrown instanceof SlotgateError) return thrown;
  }
  return new SlotgateError('unreadable', `status ${status} in place of a WebSocket`, { status });
}

/** Reads what a gateway says of its nodes, also while it is not healthy; undefined if it does not answer. */
async function readNodes(gateway: ChosenGateway): Promise<HealthReport | undefined> {
  try {
    const { result: health } = await createClient({ ...gateway, attempts: 1 }).get('/health');
    const { cluster, slot, slotAgeMs } = health;
    return { cluster, slot, slotAgeMs, health, message: '' };
  } catch (thrown) {
    const message = thrown instanceof SlotgateError && thrown.code === 'unhealthy' ? thrown.message : undefined;
    return message === undefined
      ? undefined
      : { cluster: undefined, slot: 0, slotAgeMs: 0, health: undefined, message };
  }
}

/** The connections in a row without a frame after which a watch ends: a node, for example, opens one and sends nothing. */
const MAX_FAILURES = 5;

const writeLine = (body: string): void => {
  process.stdout.write(`${body}\n`);
};

/** Writes each body as a line. */
const pipeView: WatchView = { frame: writeLine, balance: writeLine, lost() {}, close() {} };
