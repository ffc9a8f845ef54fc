import { setTimeout as sleep } from 'node:timers/promises';
import { addressOfNumber } from '../../test/support/address-of-number.ts';
import type { NodeOptions } from '../processes/notifying-node.ts';
import { runLoad, type TargetFile, writeTargets } from './load.ts';
import { type NodeProcess, startNode } from './node-process.ts';
import { type GatewayOptions, type ServedProcess, startGatewayOver } from './server-process.ts';

/** A gateway over a node of its own, which keeps accounts live. */
export interface LiveAccounts extends WarmUp {
  readonly gateway: ServedProcess;
  readonly node: NodeProcess;
  readonly targets: TargetFile;
  stop(): void;
}

export interface LiveAccountsOptions extends GatewayOptions {
  readonly accounts: number;
  readonly node?: Partial<NodeOptions>;
}

interface WarmUp {
  /** Accounts that the gateway was subscribed to in the end. */
  readonly live: number;
  /** Seconds from the first read until all were live. */
  readonly warmUpSeconds: number;
}

/** Connections of the warm-up: fewer than a caller may have reads in flight. */
const CONNECTIONS = 40;
const WARM_UP_LIMIT_MS = 600_000;
/** Pause between two reads of an account: reads in different slots make it hot. */
const PAUSE_MS = 500;

export const FIRST_BALANCE = `/api/v1/balance/${addressOfNumber(0)}`;

export const targetsOf = (accounts: number, route = 'balance'): TargetFile =>
  writeTargets(Array.from({ length: accounts }, (_, n) => `/api/v1/${route}/${addressOfNumber(n)}`));

/**
 * Returns the settings under which this number of accounts is kept live. Their high request rate shortens the warm-up,
 * which isn't measured: the budget is for a real node.
 */
export const settingsFor = (accounts: number): readonly string[] => [
  `live.accounts=${Math.max(10_000, Math.ceil(accounts * 1.1))}`,
  'live.requestsPerSecond=1000',
];

/** Starts both, and reads each account again and again until all are live and answered from the cache. */
export async function startLiveAccounts(options: LiveAccountsOptions): Promise<LiveAccounts> {
  const { accounts, settings = [] } = options;
  const node = await startNode(options.node);
  const gateway = await startGatewayOver(node.upstream, {
    ...options,
    settings: [...settingsFor(accounts), ...settings],
  });
  const targets = targetsOf(accounts);
  const stop = (): void => {
    gateway.stop();
    node.stop();
  };
  return { gateway, node, targets, stop, ...(await makeLive(gateway.url, node, targets, accounts)) };
}

/** Reads accounts until a gateway is subscribed to all of them and answers them from its cache. */
export async function makeLive(url: string, node: NodeProcess, targets: TargetFile, accounts: number): Promise<WarmUp> {
  const startedMs = performance.now();
  const load = { targets, pick: 'turn', connections: CONNECTIONS, requests: accounts, expectsRefusals: true } as const;
  for (;;) {
    const { hits } = await runLoad(url, load);
    const live = (await node.counts()).subscriptions;
    const tookMs = performance.now() - startedMs;
    if ((live >= accounts && hits === accounts) || tookMs > WARM_UP_LIMIT_MS)
      return { live, warmUpSeconds: tookMs / 1000 };
    await sleep(PAUSE_MS);
  }
}
