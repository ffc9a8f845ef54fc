import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import { localRoute, type Uses } from '../routing/route.ts';
import { integer } from '../routing/schemas.ts';
import type { Mesh, NodeStatus } from '../upstream/mesh/mesh.ts';

export interface Health {
  readonly status: 'ok' | 'degraded';
  /** Genesis hash that receipts are bound to. */
  readonly cluster: string;
  readonly slot: number;
  readonly slotAgeMs: number;
  readonly behindSlots: number | null;
  readonly upstreams: readonly Omit<NodeStatus, 'refusedFor'>[];
  readonly cacheWarm: boolean;
  readonly version: string;
  readonly uptimeSec: number;
}

type HealthUses = Uses<'cache' | 'mesh' | 'clock' | 'version' | 'startedMs' | 'vitals' | 'isDraining'>;

export const health = localRoute({
  path: '/health',
  summary: 'Whether the gateway is healthy: its slot, upstreams and cache',
  params: {},
  result: z.strictObject({
    status: z.enum(['ok', 'degraded']),
    cluster: z.string(),
    slot: integer,
    slotAgeMs: integer,
    behindSlots: integer.nullable(),
    upstreams: z.array(
      z.strictObject({
        id: z.string(),
        status: z.enum(['ok', 'behind', 'stalled', 'down']),
        slot: integer.nullable(),
        behindSlots: integer.nullable(),
        ws: z.enum(['up', 'down']),
      }),
    ),
    cacheWarm: z.boolean(),
    version: z.string(),
    uptimeSec: integer,
  }),
  envelope: 'bare',
  cacheControl: 'no-store',
  isMetered: false,
  errors: ['unhealthy'],

  answer(_, context: HealthUses): Health {
    const { cache, mesh, clock, version, startedMs } = context;
    const why = downReason(context);
    if (why !== undefined) throw new GatewayError('unhealthy', why);
    const upstreams = mesh.nodes().map(({ refusedFor, ...shown }) => shown);
    return {
      status: isHealthy(context) ? 'ok' : 'degraded',
      cluster: mesh.genesisHash,
      slot: cache.tip,
      slotAgeMs: Math.round(cache.tipAgeMs),
      behindSlots: upstreams.length > 1 ? slotsBehind(upstreams, cache.tip) : null,
      upstreams,
      cacheWarm: isCacheWarm(context),
      version,
      uptimeSec: Math.floor((clock.monotonic() - startedMs) / 1000),
    };
  },
});

/** Cache keys of the answers that the pipeline keeps current. */
const WARM_KEYS = ['/api/v1/slot', '/api/v1/epoch', '/api/v1/performance', '/api/v1/priority-fee', '/api/v1/network'];

const isCacheWarm = ({ cache }: Uses<'cache'>): boolean => WARM_KEYS.every((key) => cache.peek(key) !== undefined);

/** Returns true if the tip advances, every upstream is in order, and no read of the pipeline fails. */
export const isHealthy = ({ cache, vitals, mesh }: Uses<'cache' | 'vitals' | 'mesh'>): boolean =>
  !cache.isStalled && !vitals.isFailing && mesh.nodes().every(({ status, ws }) => status === 'ok' && ws === 'up');

function downReason({ cache, mesh, isDraining }: Uses<'cache' | 'mesh' | 'isDraining'>): string | undefined {
  if (isDraining()) return 'the gateway is shutting down';
  if (cache.tip === 0) return 'no slot was received yet';
  if (cache.tipAgeMs > cache.maxStaleMs)
    return [`no new slot for ${Math.round(cache.tipAgeMs / 1000)} s`, ...exclusionReasons(mesh)].join('; ');
  return undefined;
}

/** Returns the id of each node that is not read from, with the reason. */
const exclusionReasons = (mesh: Mesh): readonly string[] =>
  mesh.nodes().flatMap(({ id, refusedFor }) => (refusedFor === null ? [] : [`${id} ${refusedFor}`]));

const slotsBehind = (upstreams: readonly Pick<NodeStatus, 'slot'>[], tip: number): number =>
  Math.max(0, Math.max(...upstreams.map(({ slot }) => slot ?? 0)) - tip);
