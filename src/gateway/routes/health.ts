import * as z from 'zod';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { NodeStatus } from '../upstream/mesh/mesh.ts';
import { describeProblems } from '../upstream/mesh/node-problems.ts';
import { type Caller, localRoute, type Uses } from './routing/route.ts';
import { integer } from './routing/schemas.ts';

type HealthUses = Uses<
  | 'cache'
  | 'mesh'
  | 'operators'
  | 'clock'
  | 'version'
  | 'engine'
  | 'startedMs'
  | 'embedded'
  | 'vitals'
  | 'startupProblem'
  | 'problems'
  | 'isLeaving'
  | 'geyser'
>;

export const health = localRoute({
  path: '/health',
  summary: 'Whether the gateway is healthy: its slot, upstreams and cache',
  params: {},
  result: z.strictObject({
    status: z.enum(['ok', 'degraded']),
    cluster: z.string(), // the genesis hash that receipts are bound to
    slot: integer,
    slotAgeMs: integer,
    behindSlots: integer.nullable(),
    upstreams: z.array(
      z.strictObject({
        id: z.string(),
        operator: z.string().describe('Who runs the node: the nodes of one operator are one voice'),
        status: z.enum(['ok', 'behind', 'stalled', 'down']),
        slot: integer.nullable(),
        behindSlots: integer.nullable(),
        ws: z.enum(['up', 'down', 'idle']).describe('idle in followers, and where the server has none'),
      }),
    ),
    operators: z
      .strictObject({ count: integer, needed: integer.describe('Those that must give the same before it is `exact`') })
      .nullable()
      .describe('The operators of the nodes; null where there is one, whose word is then signed'),
    geyser: z
      .strictObject({
        id: z.string(),
        status: z.enum(['up', 'down']),
        version: z.string().nullable(),
        slot: integer.nullable().describe('The block up to which its accounts are known'),
        behindSlots: integer.nullable(),
        replaySlots: integer.nullable().describe('Blocks that it could send again when it was admitted'),
        accounts: integer,
        streams: integer,
        gaps: integer,
        reconnects: integer,
      })
      .nullable()
      .describe('The Geyser feed that keeps accounts live; null where none is configured'),
    cacheWarm: z.boolean(),
    problems: z.array(z.string()).describe('What is wrong with the gateway itself, which is then degraded'),
    embedded: z
      .strictObject({ rpc: z.string().describe('URL of its RPC; its WebSocket is on the same and on the next port') })
      .nullable()
      .describe('The embedded cluster; null over other nodes, and to callers on another machine'),
    version: z.string(),
    engine: z
      .strictObject({ name: z.string().describe('uws, uws-pack or node'), version: z.string() })
      .describe('The HTTP engine that serves'),
    uptimeSec: integer,
  }),
  envelope: 'bare',
  cacheControl: 'no-store',
  isMetered: false,
  errors: ['unhealthy'],

  answer(_, context: HealthUses, { isLoopback }: Caller) {
    const { cache, mesh, clock, version, engine, startedMs, embedded } = context;
    const why = unhealthyReason(context);
    const { genesisHash } = mesh;
    const problems = context.problems();
    const slotAgeMs = Math.round(cache.tipAgeMs);
    if (why !== undefined || genesisHash === undefined)
      throw new GatewayError('unhealthy', why ?? 'no node has named its cluster yet', {
        lastKnown: { cluster: genesisHash, slot: cache.tip, slotAgeMs },
      });
    const upstreams: readonly Omit<NodeStatus, 'problem'>[] = mesh.nodes().map(({ problem, ...shown }) => shown);
    const status: 'ok' | 'degraded' = isHealthy(context) && problems.length === 0 ? 'ok' : 'degraded';
    return {
      status,
      cluster: genesisHash,
      slot: cache.tip,
      slotAgeMs,
      behindSlots: upstreams.length > 1 ? slotsBehind(upstreams, cache.tip) : null,
      upstreams,
      operators: context.operators ?? null,
      geyser: context.geyser(),
      cacheWarm: isCacheWarm(context),
      problems,
      embedded: isLoopback ? embedded : null,
      version,
      engine,
      uptimeSec: Math.floor((clock.monotonic() - startedMs) / 1000),
    };
  },
});

/** Cache keys of the answers that the pipeline keeps current. */
const WARM_KEYS = ['/api/v1/slot', '/api/v1/epoch', '/api/v1/performance', '/api/v1/priority-fee', '/api/v1/network'];

const isCacheWarm = ({ cache }: Uses<'cache'>): boolean => WARM_KEYS.every((key) => cache.peek(key) !== undefined);

/** Returns true if the tip advances, every upstream is in order, and no read of the pipeline fails. */
export const isHealthy = ({ cache, vitals, mesh }: Uses<'cache' | 'vitals' | 'mesh'>): boolean =>
  !cache.isStalled && !vitals.isFailing && mesh.nodes().every(({ status, ws }) => status === 'ok' && ws !== 'down');

/** Returns why the answers can't be trusted, with what is wrong with each node; undefined if they can. */
export function unhealthyReason(context: Uses<'cache' | 'mesh' | 'startupProblem' | 'isLeaving'>): string | undefined {
  const { startupProblem, isLeaving } = context;
  if (isLeaving()) return 'the gateway is shutting down';
  return startupProblem() ?? tipProblem(context);
}

/** Returns why the newest slot can't be trusted, with what is wrong with each node; undefined if it can. */
export function tipProblem({ cache, mesh }: Uses<'cache' | 'mesh'>): string | undefined {
  const isExpired = cache.tipAgeMs > cache.maxStaleMs;
  if (cache.tip > 0 && !isExpired) return undefined;
  const what = cache.tip === 0 ? 'no slot was received yet' : `no new slot for ${Math.round(cache.tipAgeMs / 1000)} s`;
  return [what, ...describeProblems(mesh.nodes())].join('; ');
}

const slotsBehind = (upstreams: readonly Pick<NodeStatus, 'slot'>[], tip: number): number =>
  Math.max(0, Math.max(...upstreams.map(({ slot }) => slot ?? 0)) - tip);
