import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { loadConfig } from '../../src/config/load-config.ts';
import { type Gateway, openGateway } from '../../src/gateway/composition/create-gateway.ts';
import type { GatewayOptions } from '../../src/gateway/composition/environment.ts';
import type { Engine } from '../../src/gateway/http/engine/engine.ts';
import type { GeyserFaults } from '../../src/localnet/geyser/geyser-faults.ts';
import type { Clock } from '../../src/shared/domain/clock.ts';
import { TARGET_SLOT_MS } from '../../src/shared/domain/slot-time.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import type { AnswerJson, JsonAt } from './answer-json.ts';
import { lastingPort } from './lasting-port.ts';
import { ManualClock } from './manual-clock.ts';
import { type RpcOverrideProxy, startRpcOverrideProxy } from './rpc-override-proxy.ts';
import { rpcRequest } from './rpc-request.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';
import type { TestScope } from './test-scope.ts';

export interface HttpAnswer<J = AnswerJson> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; exact for integers below 2^53. */
  readonly json: J;
}

interface LogFields {
  readonly requestId?: string;
  readonly node?: string;
  readonly cluster?: string;
  readonly source?: string;
  readonly accounts?: Readonly<Record<string, string>>;
  readonly err?: Error;
}

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: LogFields;
  readonly message: string;
}

export interface GatewayHarness {
  /** Its cluster is null only while a test starts it without any node. */
  readonly gateway: Gateway & { readonly cluster: string };
  readonly logged: readonly LogLine[];
  /** Requests `/api/v1` + path, or a path that starts with `/api`. */
  get<const T extends string>(path: T, options?: RequestOptions): Promise<HttpAnswer<JsonAt<T>>>;
  /** Posts to `/rpc`; a body other than text is sent as JSON. */
  rpc<R = unknown, E = string>(body: unknown, options?: RequestOptions): Promise<HttpAnswer<AnswerJson<R, E>>>;
}

/** What a test says of its request. A body that is coded is decoded, but none is requested: most of the time would go into that. */
export interface RequestOptions {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** A gateway over a cluster in this thread, both on a clock that the test moves. */
export interface SteppedHarness extends GatewayHarness {
  readonly cluster: TestCluster;
  /** Proxy that the gateway uses as the cluster's HTTP endpoint. */
  readonly node: RpcOverrideProxy;
  readonly clock: ManualClock;
  /** Advances the cluster by slots, `stride` at a time, and waits each time until the gateway has seen the newest. */
  step(slots?: number, stride?: number): Promise<void>;
}

export interface HarnessOptions {
  /** Settings, as `--set` accepts them. */
  readonly set?: readonly string[];
  readonly clock?: Clock;
  /** Port to listen on. Default: a free one. */
  readonly port?: number;
  readonly state?: string;
  readonly random?: () => number;
  /** Default: a throw-away key; null: the key in the state folder. */
  readonly receiptKey?: GatewayOptions['receiptKey'] | null;
  readonly isAdminPortChosen?: boolean;
  /** URL of the Geyser feed of the first node. Default: none. */
  readonly geyser?: string | undefined;
  readonly joinWatch?: GatewayOptions['joinWatch'];
  /** Default: the one that `http.engine` names. */
  readonly engine?: Engine;
}

/** Limits that no test reaches unless it is about them. */
const UNLIMITED = [
  'limits.free.units=1000000',
  'limits.free.messages=1000000',
  'limits.connections=1000000',
  'limits.free.inFlight=10000',
  'limits.inFlight=10000',
  'limits.loopDelayMs=60000',
];

/** Waits for the first node, on a busy machine too, and for no connection at the end. */
const PATIENT = ['upstreamPolicy.startTimeoutMs=120000', 'drainTimeoutMs=0'];

/** Takes no port that another process of the machine may have. */
const PRIVATE = ['embedded.port=0', 'admin.port=null'];

export interface SteppedHarnessOptions extends Omit<HarnessOptions, 'clock'> {
  /** Transactions per slot on average. Default: none, since each takes milliseconds of CPU. */
  readonly perSlot?: number;
  readonly skipEvery?: number;
  /** Faults of the cluster's Geyser feed, which the gateway then follows. Default: it follows none. */
  readonly feed?: Partial<GeyserFaults>;
  /** Slot time of the cluster in milliseconds. Default: {@link TARGET_SLOT_MS}. */
  readonly slotMs?: number;
  /** Starts a proxy between the gateway and the node's HTTP endpoint; returns its URL. */
  readonly proxyUrl?: (url: string) => Promise<string>;
  /** Starts a proxy between the gateway and the node's WebSocket endpoint; returns its URL. */
  readonly proxyWsUrl?: (url: string) => Promise<string>;
  /** Whether the gateway reads from the cluster a second time, past the proxy, as from another node. Default: false. */
  readonly hasSecondNode?: boolean;
}

const EPHEMERAL = { inline: 'ephemeral', production: false };

/** Longest pause between two checks of a condition: what is waited for on the system clock may take seconds. */
const LONGEST_PAUSE_MS = 20;

/** Waits until a condition holds, checked less and less often; fails after three minutes, or another time. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  description = 'it',
  withinMs = 180_000, // on a machine with other work
  longestPauseMs = LONGEST_PAUSE_MS,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (let pauseMs = 1; !(await condition()); pauseMs = Math.min(pauseMs * 1.3, longestPauseMs)) {
    if (performance.now() > deadlineMs) throw new Error(`${description} did not come about`);
    await sleep(pauseMs);
  }
}

/** Returns the part of a gateway's environment that chooses its HTTP engine, where the one of the tests chooses it. */
export function engineEnvironment(): Readonly<Record<string, string>> {
  const engine = process.env['SLOTGATE_HTTP_ENGINE'];
  return engine === undefined ? {} : { SLOTGATE_HTTP_ENGINE: engine };
}

/** Starts a gateway over nodes, and closes it when the test ends. */
export async function startGateway(
  t: TestScope,
  upstreams: readonly string[],
  {
    set = [],
    clock = systemClock,
    port = 0,
    state = t.testdir(),
    random = () => 0,
    receiptKey = EPHEMERAL,
    geyser,
    ...options
  }: HarnessOptions = {},
): Promise<GatewayHarness> {
  const logged: LogLine[] = [];
  const write =
    (level: LogLine['level']) =>
    (fields: object, message: string): void => {
      logged.push({ level, fields, message });
    };
  const config = loadConfig({
    cwd: state,
    env: engineEnvironment(),
    flags: {
      port: String(port),
      dataDir: state,
      ...(upstreams.length > 0 && { upstream: upstreams }), // without: those of a setting
      set: [...UNLIMITED, ...PATIENT, ...PRIVATE, ...set],
      ...(geyser !== undefined && { geyser }),
    },
  });
  const gateway = await openGateway({
    ...options,
    config,
    clock,
    random,
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    ...(receiptKey !== null && { receiptKey }),
  });
  t.teardown(() => gateway.close());
  return { gateway: gateway as GatewayHarness['gateway'], logged, ...httpClient(gateway.url) };
}

const DECODERS: Readonly<Record<string, (bytes: ArrayBuffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

export function httpClient(url: string): Pick<GatewayHarness, 'get' | 'rpc'> {
  const get = async <J>(path: string, options: RequestOptions = {}): Promise<HttpAnswer<J>> => {
    const answer = await request(new URL(path.startsWith('/api') ? path : `/api/v1${path}`, url), options);
    const fields = Object.entries(answer.headers).flatMap(([name, value = []]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    const decode = DECODERS[`${answer.headers['content-encoding']}`];
    const text = decode === undefined ? await answer.body.text() : String(decode(await answer.body.arrayBuffer()));
    return {
      status: answer.statusCode,
      headers: new Headers(fields),
      text,
      get json() {
        return JSON.parse(text);
      },
    };
  };
  const rpc = <R, E>(body: unknown, options: RequestOptions = {}): Promise<HttpAnswer<AnswerJson<R, E>>> =>
    get('/rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...options,
    });
  return { get, rpc };
}

/** Upstream timeouts that a moved clock never reaches: it runs ahead of the sockets. */
const LONG_TIMEOUTS = ['startTimeoutMs', 'timeoutMs', 'slowTimeoutMs', 'ackTimeoutMs', 'pingMs', 'idleTimeoutMs'].map(
  (name) => `upstreamPolicy.${name}=3600000`,
);

/** Time without news of slots, by the moved clock, after which a gateway is tested without. */
const LONGEST_WAIT_FOR_SLOT_MS = 10_000;

/** Starts a gateway over a cluster on the same clock, and moves the clock until the gateway is ready. */
export async function startGatewayOver(
  t: TestScope,
  upstreams: string | readonly string[],
  clock: ManualClock,
  { set = [], ...setting }: Omit<HarnessOptions, 'clock'> = {},
): Promise<GatewayHarness> {
  let harness: GatewayHarness | undefined;
  const opening = startGateway(t, [upstreams].flat(), { ...setting, clock, set: [...LONG_TIMEOUTS, ...set] });
  opening.then(
    (world) => {
      harness = world;
    },
    () => {},
  );
  while (harness === undefined) {
    clock.advance(50); // what fails at first is tried again
    await Promise.race([sleep(5), opening]);
  }
  const { gateway } = harness;
  const slots = (): string =>
    gateway
      .nodes()
      .flatMap(({ slot }) => slot ?? [])
      .join();
  const firstSlots = slots();
  for (let ms = 0; firstSlots !== '' && slots() === firstSlots && ms < LONGEST_WAIT_FOR_SLOT_MS; ms += 50) {
    clock.advance(50); // news of slots is to come, so that a test misses none
    await sleep(5);
  }
  return harness;
}

/** Starts a cluster in this thread and a gateway over it, on the same clock. */
export async function startStepped(
  t: TestScope,
  {
    set = [],
    proxyUrl = async (url) => url,
    proxyWsUrl = async (url) => url,
    hasSecondNode = false,
    feed,
    ...setting
  }: SteppedHarnessOptions = {},
): Promise<SteppedHarness> {
  const clock = new ManualClock();
  const { perSlot: transactionsPerSlot = 0, skipEvery = 0, slotMs = TARGET_SLOT_MS } = setting;
  const cluster = await startTestCluster(clock, Buffer.alloc(32, 7), {
    slotMs,
    transactionsPerSlot,
    skipEvery,
    geyserPort: feed === undefined ? null : 0,
    ...lastingPort(),
  });
  await cluster.control.injectGeyser(feed ?? {});
  const node = await startRpcOverrideProxy(t, cluster.server.handle);
  t.teardown(() => cluster.close());
  const first = `${await proxyUrl(node.url)},${await proxyWsUrl(cluster.wsUrl)}`;
  const upstreams = hasSecondNode ? [first, `${cluster.url},${cluster.wsUrl}`] : [first];
  const world = await startGatewayOver(t, upstreams, clock, { ...setting, set, geyser: cluster.geyserUrl });
  const hasSlot = async (): Promise<boolean> => {
    const slot = cluster.chain.slot('processed');
    if (!world.gateway.nodes().some((seen) => seen.slot === slot)) return false; // which costs less than a request
    return (await world.get('/health')).json.result?.slot === slot;
  };
  const step = async (slots = 1, stride = 1): Promise<void> => {
    for (let i = 0; i < slots; i += stride) {
      clock.advance(slotMs * stride);
      await waitFor(hasSlot, 'the slot');
    }
  };
  await step();
  await untilIdle(world, cluster);
  return { ...world, cluster, node, clock, step };
}

/**
 * Waits until the reads that are under way are over: while the clock stands still no others follow. A request to the gateway and
 * one to its node are answered after all that was on its way before, so several rounds without another call are the end.
 */
export async function untilIdle({ get }: GatewayHarness, { url, control }: TestCluster): Promise<void> {
  const calls = async (): Promise<number> => {
    const { getHealth: _own, ...counts } = await control.requestCounts();
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  };
  for (let idle = 0, before = -1; idle < IDLE_ROUNDS; ) {
    await get('/health');
    await rpcRequest(url, 'getHealth');
    const now = await calls();
    idle = now === before ? idle + 1 : 0;
    before = now;
  }
}

const IDLE_ROUNDS = 3;
