import type { Command } from 'commander';
import { WebSocket } from 'ws';
import { createClient, SlotgateError, type Snapshot } from '../../client/index.ts';
import type { Config } from '../../config/config-schema.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { WatchScreen } from '../terminal/watch-screen.ts';
import { addGatewayOptions, type GatewayFlags, gatewayUrlOf, requestFailure, trustOf } from './gateway-options.ts';

interface WatchFlags extends GatewayFlags {
  readonly balance?: string;
}

interface WatchView {
  frame(body: string, snapshot: Snapshot): void;
  balance(body: string, sol: string, slot: number): void;
  lost(): void;
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
  let stop = (): void => {};
  try {
    await new Promise<void>((end, fail) => {
      stop = startFollowing(url, flags, end, fail);
    });
  } catch (thrown) {
    throw thrown instanceof StartError ? thrown : requestFailure(thrown, url);
  } finally {
    stop();
  }
}

function startFollowing(url: string, flags: WatchFlags, end: () => void, fail: (reason: unknown) => void): () => void {
  const { balance } = flags;
  const view: WatchView = process.stdout.isTTY
    ? new WatchScreen({ url, address: balance, end, clock: systemClock, write: (text) => process.stdout.write(text) })
    : pipeView(end);
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
      if (state === 'waiting') view.lost();
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
  return () => {
    stream.close();
    view.close();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end);
  };
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
    lost() {},
    close: () => process.stdout.removeListener('error', onError),
  };
}
