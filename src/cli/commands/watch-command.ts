import type { Command } from 'commander';
import { WebSocket } from 'ws';
import { createClient } from '../../client/client.ts';
import { SlotgateError } from '../../client/slotgate-error.ts';
import type { Config } from '../../config/config-schema.ts';
import { StartError } from '../../domain/start-error.ts';
import { WatchScreen } from '../terminal/watch-screen.ts';
import { addGatewayOptions, type GatewayFlags, gatewayUrlOf, requestFailure, trustOf } from './gateway-options.ts';

interface WatchFlags extends GatewayFlags {
  readonly balance?: string;
}

/** What a watch shows of what arrives; all of it is verified. */
interface WatchView {
  frame(body: string, snapshot: object): void;
  balance(body: string, sol: string, slot: number): void;
  state(state: string): void;
  close(): void;
}

/** Adds `slotgate watch`, which follows the network and perhaps one account; it ends at the first unproven frame. */
export function addWatchCommand(program: Command, configOf: (command: Command) => Config): void {
  const watch = program
    .command('watch')
    .description('follow the network live, verified frame by frame; one JSON a line in a pipe');
  addGatewayOptions(watch)
    .option('--balance <address>', 'follow the balance of an account, too')
    .action(async (flags: WatchFlags, command: Command) => {
      const url = gatewayUrlOf(flags, () => configOf(command));
      await follow(url, flags);
    });
}

/** Follows a gateway until the user or the reader of the pipe ends it. Rejects with a StartError if it can't go on. */
async function follow(url: string, flags: WatchFlags): Promise<void> {
  const { balance } = flags;
  const { promise: ended, resolve: end, reject: fail } = withResolvers<void>();
  const view: WatchView = process.stdout.isTTY ? new WatchScreen(url, balance, end) : pipeView(end);
  const client = createClient({
    url,
    ...trustOf(flags),
    openSocket: (target, headers) => new WebSocket(target, { headers }),
  });
  let failures = 0;
  const stream = client.stream({
    receipts: true,
    onSnapshot: (snapshot, { body }) => view.frame(body, snapshot),
    onState(state) {
      view.state(state);
      failures = state === 'open' ? 0 : state === 'waiting' ? failures + 1 : failures;
      if (failures > MAX_FAILURES) fail(new SlotgateError('network', "the gateway can't be reached"));
    },
    onError: fail,
  });
  if (balance !== undefined)
    stream.subscribe('balance', balance, {
      onUpdate: ({ body, result, slot }) => view.balance(body, result.sol, slot),
      onError: fail,
    });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    await ended;
  } catch (thrown) {
    throw thrown instanceof StartError ? thrown : requestFailure(thrown, url);
  } finally {
    stream.close();
    view.close();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end);
  }
}

/** The failed connections in a row after which a watch ends. */
const MAX_FAILURES = 5;

/** Writes each body as a line. A reader who has read enough closes the pipe, which is no error. */
function pipeView(end: () => void): WatchView {
  const write = (body: string): void => {
    process.stdout.write(`${body}\n`);
  };
  const onError = (): void => end();
  process.stdout.on('error', onError);
  return {
    frame: write,
    balance: write,
    state() {},
    close: () => process.stdout.removeListener('error', onError),
  };
}

function withResolvers<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
