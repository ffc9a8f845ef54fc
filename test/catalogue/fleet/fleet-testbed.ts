import { join } from 'node:path';
import { type ChildProgram, runModule, waitUntilListening } from '../../support/child-process.ts';
import { receiptKeyOf, writeReceiptKey } from '../../support/fleet-gateway.ts';
import { type GatewayHarness, httpClient } from '../../support/harness.ts';
import { createReceiptKey } from '../../support/receipts/receipt-key.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { runSlotgate, type SlotgateOutput } from '../../support/run-slotgate.ts';
import { withTestScope } from '../../support/test-scope.ts';

/** A gateway of the fleet, in a process of its own. */
export interface FleetGateway {
  readonly child: ChildProgram;
  readonly state: string;
  readonly url: string;
  readonly get: GatewayHarness['get'];
}

/** What a fleet has as its Redis. */
interface FleetRedis {
  readonly url: string;
  close(): Promise<void>;
}

export interface FleetTestbed<R extends FleetRedis = RedisServer> {
  readonly redis: R;
  /** The cluster, in a process of its own. */
  readonly cluster: ChildProgram;
  /** Returns the state folder of a gateway. */
  stateOf(name: string): string;
  /** The URL of the cluster. */
  readonly clusterUrl: string;
  /** Runs a gateway; `key` is another receipt key than that of the fleet. */
  run(name: string, options?: GatewaySettings & { readonly key?: string }): Promise<ChildProgram>;
  /** Starts a gateway and waits until it listens. */
  start(name: string, set?: readonly string[], ways?: GatewayWays): Promise<FleetGateway>;
}

/** Other ways than the direct ones from a gateway to what it needs. */
interface GatewayWays {
  readonly redisUrl?: string;
  readonly upstream?: string;
}

interface GatewaySettings extends GatewayWays {
  readonly set?: readonly string[];
}

const MAIN = new URL('../../../src/main.js', import.meta.url);

/** Settings for busy machines. */
const PATIENT = [
  'limits.free.units=1000000',
  'limits.loopDelayMs=60000',
  ...['startTimeoutMs', 'timeoutMs', 'slowTimeoutMs', 'idleTimeoutMs'].map((name) => `upstreamPolicy.${name}=60000`),
];

/** Slots are quick, because a new leader waits for a number of them until it signs. */
export const SLOT_MS = 50;

/** What a gateway logs when it begins to limit callers alone, and when it shares their limits again. */
export const ALONE = 'Redis does not count: this gateway limits callers';
export const SHARED = 'limits are shared with the fleet';

/** Returns how often each gateway has logged a message, at least. */
export const timesLogged = (gateways: readonly FleetGateway[], message: string): number =>
  Math.min(...gateways.map(({ child }) => child.timesLogged(message)));

/** Returns `slotgate keys …` on a machine of a fleet. */
export const keysCommand =
  (redis: RedisServer, state: string) =>
  (...args: string[]): Promise<SlotgateOutput> =>
    runSlotgate(['keys', ...args, '--state', state, '--upstream', 'http://none', '--redis', redis.url], {
      RECEIPT_KEY_FILE: receiptKeyOf(state),
    });

/** Runs `body` over a Redis, a cluster, and gateways with copies of one receipt key, and ends all of their processes. */
export const withFleet = <T>(
  body: (testbed: FleetTestbed) => Promise<T>,
  redisArgs: readonly string[] = [],
): Promise<T> => withFleetOn(() => RedisServer.start(redisArgs), body);

/** Does the same on a Redis of another kind. */
export const withFleetOn = <T, R extends FleetRedis>(
  startRedis: () => Promise<R>,
  body: (testbed: FleetTestbed<R>) => Promise<T>,
): Promise<T> =>
  withTestScope(async (scope) => {
    const redis = await startRedis();
    scope.teardown(() => redis.close());
    const fleetKey = createReceiptKey();
    const runMain = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProgram => {
      const child = runModule(MAIN, ['--port', '0', '--admin-port', 'null', ...args], env);
      scope.teardown(async () => {
        child.process.kill('SIGKILL');
        await child.exit();
      });
      return child;
    };
    const clusterSettings = ['embedded.port=0', `embedded.slotMs=${SLOT_MS}`].flatMap((path) => ['--set', path]);
    const cluster = runMain(['--state', join(scope.testdir(), 'cluster'), ...clusterSettings]);
    const { embedded } = await waitUntilListening(cluster);
    const stateOf = (name: string): string => join(scope.testdir(), name);

    const clusterUrl = embedded?.rpc ?? '';
    const run: FleetTestbed<R>['run'] = async (
      name,
      { key = fleetKey, set = [], redisUrl = redis.url, upstream = clusterUrl } = {},
    ) => {
      const state = stateOf(name);
      const settings = [...PATIENT, ...set].flatMap((path) => ['--set', path]);
      const args = ['--state', state, '--upstream', upstream, '--redis', redisUrl, ...settings];
      return runMain(args, { RECEIPT_KEY_FILE: writeReceiptKey(state, key) });
    };
    return body({
      redis,
      cluster,
      clusterUrl,
      run,
      stateOf,
      async start(name, set = [], ways = {}) {
        const child = await run(name, { set, ...ways });
        const { url } = await waitUntilListening(child);
        return { child, url, state: stateOf(name), get: httpClient(url).get };
      },
    });
  });
