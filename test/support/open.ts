import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/config/config-schema.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../src/gateway.ts';
import { createGenesis } from '../../src/localnet/cluster-genesis.ts';
import { type InThreadCluster, startInThreadCluster } from '../../src/localnet/in-thread-cluster.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { ManualClock } from './manual-clock.ts';
import { type OverriddenNode, overriddenNode } from './overridden-node.ts';
import type { Place } from './place.ts';

/** An HTTP answer, whole. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body, parsed: enough where no integer passes 2^53. */
  readonly json: any;
}

/** One line of the gateway's log. */
export interface Logged {
  readonly level: 'info' | 'warn' | 'error';
  readonly facts: any;
  readonly message: string;
}

/** A gateway that listens on a free port, with what a test needs to look at it. */
export interface World {
  readonly gateway: Gateway;
  readonly logged: readonly Logged[];
  /** Asks for `/api/v1` + path, or for a path that starts with `/api`. */
  get(path: string, init?: RequestInit): Promise<Got>;
  /** Asks `/rpc`; a body that is no text is sent as JSON. */
  rpc(body: unknown, init?: RequestInit): Promise<Got>;
}

/** The same over a cluster in this thread, both on a clock that the test moves. */
export interface SteppedWorld extends World {
  readonly cluster: InThreadCluster;
  /** What the gateway takes for the cluster's HTTP. */
  readonly node: OverriddenNode;
  readonly clock: ManualClock;
  /** Lets slots pass, `stride` at a time, and waits each time until the gateway has heard of them. */
  step(slots?: number, stride?: number): Promise<void>;
}

export interface Setting {
  /** As `--set` takes them. */
  readonly set?: readonly string[];
  readonly clock?: Clock;
  readonly state?: string;
  readonly random?: () => number;
  /** Default: a key that is thrown away; null: the one in the state folder. */
  readonly receiptKey?: GatewayOptions['receiptKey'] | null;
}

/** Most tests are about something else than how much one may ask, or how much a machine can do. */
const UNLIMITED = [
  'limits.free.requests=1000000',
  'limits.free.messages=1000000',
  'limits.connections=1000000',
  'limits.free.inFlight=10000',
  'limits.inFlight=10000',
  'limits.loopDelayMs=60000',
];

export interface SteppedSetting extends Omit<Setting, 'clock'> {
  readonly perSlot?: number;
  readonly skipEvery?: number;
  /** Puts something between the gateway and the node's HTTP; gives its URL. */
  readonly before?: (url: string) => Promise<string>;
}

const EPHEMERAL = { inline: 'ephemeral', production: false };

/** Waits, for a while that only a broken program needs, until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what} did not come about`);
    await sleep(5);
  }
}

/** Opens a gateway over nodes, and closes it when the test ends. */
export async function openGateway(
  t: Place,
  upstreams: readonly string[],
  { set = [], clock = systemClock, state = t.testdir(), random = () => 0, receiptKey = EPHEMERAL }: Setting = {},
): Promise<World> {
  const logged: Logged[] = [];
  const write =
    (level: Logged['level']) =>
    (facts: object, message: string): void => {
      logged.push({ level, facts, message });
    };
  const config = loadConfig({
    cwd: state,
    flags: { port: '0', state, upstream: upstreams, set: [...UNLIMITED, 'drainMs=200', ...set] },
  });
  const gateway = await createGateway({
    config,
    clock,
    random,
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    ...(receiptKey !== null && { receiptKey }),
  });
  t.teardown(() => gateway.close());
  return { gateway, logged, ...client(gateway.url) };
}

/** How a test asks. */
export function client(url: string): Pick<World, 'get' | 'rpc'> {
  const get = async (path: string, init: RequestInit = {}): Promise<Got> => {
    const response = await fetch(new URL(path.startsWith('/api') ? path : `/api/v1${path}`, url), init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get json() {
        return JSON.parse(text);
      },
    };
  };
  const rpc = (body: unknown, init: RequestInit = {}): Promise<Got> =>
    get('/rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
    });
  return { get, rpc };
}

/** The clock runs ahead of the sockets when a test moves it, so deadlines that it measures must be long. */
const PATIENT = ['timeoutMs', 'slowTimeoutMs', 'ackMs', 'pingMs', 'silenceMs'].map(
  (name) => `upstream.${name}=3600000`,
);

/** Opens a gateway over a cluster on the same clock, which is moved until it is open. */
export async function openOver(
  t: Place,
  upstream: string,
  clock: ManualClock,
  { set = [], ...setting }: Omit<Setting, 'clock'> = {},
): Promise<World> {
  let opened: World | undefined;
  const opening = openGateway(t, [upstream], { ...setting, clock, set: [...PATIENT, ...set] });
  opening.then(
    (world) => {
      opened = world;
    },
    () => {},
  );
  while (opened === undefined) {
    clock.advance(50); // the gateway's first frame needs a slot
    await Promise.race([sleep(5), opening]);
  }
  return opened;
}

/** Starts a cluster in this thread, and a gateway over it on the same clock. */
export async function openStepped(
  t: Place,
  { set = [], before = async (url) => url, ...setting }: SteppedSetting = {},
): Promise<SteppedWorld> {
  const clock = new ManualClock();
  const { perSlot: transactionsPerSlot = 2, skipEvery = 0 } = setting;
  const genesis = createGenesis(Buffer.alloc(32, 7), clock.now());
  const cluster = await startInThreadCluster(clock, genesis, { transactionsPerSlot, skipEvery });
  const node = await overriddenNode(t, cluster.url);
  t.teardown(() => cluster.close());
  const world = await openOver(t, `${await before(node.url)},${cluster.wsUrl}`, clock, { ...setting, set });
  const hears = async (): Promise<boolean> => {
    const { json } = await world.get('/health');
    return json.result?.slot === cluster.chain.slot('processed');
  };
  const step = async (slots = 1, stride = 1): Promise<void> => {
    for (let i = 0; i < slots; i += stride) {
      clock.advance(400 * stride);
      await until(hears, 'the slot');
    }
  };
  await step();
  return { ...world, cluster, node, clock, step };
}
