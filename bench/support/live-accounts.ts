import { setTimeout as sleep } from 'node:timers/promises';
import { addressOfNumber } from '../../test/support/address-of-number.ts';
import type { NodeOptions } from '../processes/notifying-node.ts';
import { type LoadResult, runLoad, type TargetFile, writeTargets } from './load.ts';
import { type NodeProcess, startNode } from './node-process.ts';
import { type ServedProcess, startGatewayOver } from './server-process.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

/** A gateway over a node of its own, which keeps accounts live. */
export interface LiveAccounts {
  readonly gateway: ServedProcess;
  readonly node: NodeProcess;
  /** The targets that read each account. */
  readonly targets: TargetFile;
  /** Accounts that the gateway was subscribed to when the warm-up ended. */
  readonly live: number;
  /** Seconds from the first read until all were live. */
  readonly warmUpSeconds: number;
  stop(): void;
}

export interface LiveAccountsOptions {
  readonly accounts: number;
  readonly node?: Partial<NodeOptions>;
  readonly settings?: readonly string[];
  /** The target that reads an account. Default: its balance. */
  readonly targetOf?: (address: string) => string;
}

/** Connections of the warm-up: fewer than a caller may have reads in flight. */
const CONNECTIONS = 40;
const WARM_UP_LIMIT_MS = 600_000;

export const balanceOf = (address: string): string => `/api/v1/balance/${address}`;

/** Starts both, and reads each account again and again until all are live and answered from the cache. */
export async function startLiveAccounts(options: LiveAccountsOptions): Promise<LiveAccounts> {
  const { accounts, settings = [], targetOf = balanceOf } = options;
  const node = await startNode(options.node);
  const places = Math.max(10_000, Math.ceil(accounts * 1.1));
  const set = [`watch.accounts=${places}`, ...settings];
  const gateway = await startGatewayOver(node.upstream, makeTemporaryFolder(), set);
  const targets = writeTargets(Array.from({ length: accounts }, (_, n) => targetOf(addressOfNumber(n))));
  const startedMs = performance.now();
  let live = 0;
  let pass: LoadResult | undefined;
  while (performance.now() - startedMs < WARM_UP_LIMIT_MS) {
    const load = {
      targets,
      pick: 'turn',
      connections: CONNECTIONS,
      requests: accounts,
      expectsRefusals: true,
    } as const;
    pass = await runLoad(gateway.url, load);
    live = (await node.counts()).subscriptions;
    if (live >= accounts && pass.hits === accounts) break;
    await sleep(500); // a slot: reads in different slots make an account hot
  }
  const stop = (): void => {
    gateway.stop();
    node.stop();
  };
  return { gateway, node, targets, live, warmUpSeconds: (performance.now() - startedMs) / 1000, stop };
}
