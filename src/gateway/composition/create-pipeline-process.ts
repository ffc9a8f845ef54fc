import type { LimitsSettings } from '../../config/limits-schema.ts';
import { parseTarget } from '../../shared/domain/canonical-request.ts';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { GATEWAY_CALLER, type RequestCost } from '../../shared/domain/units.ts';
import { Deferred } from '../../shared/runtime/deferred.ts';
import type { Admit } from '../../shared/runtime/fair-semaphore.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import type { Tier } from '../access/limits/tiers.ts';
import { WorkerFigures } from '../admin/worker-figures.ts';
import { MemoryStore } from '../fleet/counters/memory-store.ts';
import type { AnswerRequest } from '../fleet/rpc/messages.ts';
import type { PipelineFacts } from '../fleet/supervisor/member-messages.ts';
import { PipelineEnd, type PipelineEndOptions, type PipelineService } from '../fleet/workers/pipeline-end.ts';
import { matchRoute } from '../routes/index.ts';
import { paramsOfKey, type ReadRequest, readAnswer } from '../routes/routing/route-read-through.ts';
import { rpc } from '../routes/rpc/rpc.ts';
import type { Environment, GatewayOptions } from './environment.ts';
import { addressOf } from './open-answers.ts';
import { openRedisStore } from './open-counters.ts';
import { closerOf, openProcess } from './open-process.ts';
import { reloadReceiptKeys } from './open-state.ts';
import { follow, openParts, type Parts } from './parts.ts';

/** Windows that are counted for each address: those of principals, and of addresses within them, come besides. */
const WINDOWS_PER_IDENTITY = 2;

/** The clock of all processes of the machine: its monotonic time goes on over their ends. */
const machineClock = { ...systemClock, monotonic: () => Number(process.hrtime.bigint()) / 1e6 };

export interface FleetProcess {
  reload(): void;
  /** Makes it not ready: the gateway closes soon. */
  leave(): void;
  close(): Promise<void>;
}

/** Returns the end of a process among others: their supervisor has waited already. */
export const endOf = (env: Environment): Pick<FleetProcess, 'leave' | 'close'> => ({
  leave() {
    env.leaving.hasBegun = true;
  },
  close: closerOf(env, 0),
});

export interface PipelineProcess extends FleetProcess {
  readonly facts: PipelineFacts;
  /** Counts settings that were read again by its supervisor and could not be applied. */
  countFailedReload(): void;
}

/** Opens the pipeline process: all of a gateway save its listener, for workers that serve copies of what its cache shows. */
export function createPipelineProcess(
  options: GatewayOptions,
  fleet: Omit<PipelineEndOptions, 'clock'>,
): Promise<PipelineProcess> {
  return openProcess(options, async (env) => {
    const end = new PipelineEnd({ ...fleet, clock: env.clock });
    env.disposals.defer(() => end.close());
    const figures = new WorkerFigures();
    const redisStore = openRedisStore(env);
    const parts = await openParts(env, options, {
      redisStore,
      onLeasesAdvanced: () => end.publishWatermarks(),
      workers: figures,
    });
    const { state, server } = parts;
    const { mesh } = parts.upstream;
    for (const commitment of COMMITMENTS) mesh.onTip(commitment, (...tip) => end.onTip(commitment, ...tip));
    const started = new Deferred();
    const capacity = env.config.limits.trackedAddresses * WINDOWS_PER_IDENTITY;
    const counterStore = redisStore ?? new MemoryStore(capacity, machineClock);
    await end.open({ started: started.promise, figures, counterStore, ...serviceOf(env, parts) });
    await follow(env, parts);
    started.resolve();
    const reload = (): void => {
      reloadReceiptKeys(env, state, server.sealer);
      end.reloadReceiptKeys();
    };
    const countFailedReload = (): void => {
      env.failedReloads.settings++;
    };
    return { reload, countFailedReload, ...endOf(env), facts: factsOf(parts) };
  });
}

function serviceOf(env: Environment, parts: Parts): Omit<PipelineService, 'started' | 'figures' | 'counterStore'> {
  const { startup, signing } = parts;
  const { mesh, embedded } = parts.upstream;
  const { cache, context, readEvents, readThrough, liveAccounts, liveLogs } = parts.answers;
  const { admission, authenticator } = parts.state.access;
  const tier = authenticator.tierOf(undefined);
  const admitFor = ({ caller, hasPriority }: RequestCost): Admit =>
    caller === GATEWAY_CALLER
      ? (work) => admission.enterOwn(work)
      : (work) => admission.enter({ key: caller, tier: overWorkers(tier, hasPriority, env.config.limits) }, work);
  return {
    cache,
    guard: signing.guard,
    sealer: parts.server.sealer,
    liveAccounts,
    liveLogs,
    readEvents,
    vitals: () => ({
      nodes: mesh.nodes(),
      isFailing: env.vitals.isFailing,
      slotTimeMs: mesh.slotTimeMs,
      startupProblem: startup.problem ?? null,
      problems: context.problems(),
      genesisHash: mesh.genesisHash ?? null,
      apiVersion: mesh.apiVersion ?? null,
      embedded: addressOf(embedded),
    }),
    read: (request, cost) => readAnswer(readThrough, withRoute(request), admitFor(cost), cost),
    answerRpc: (body, scope, cost) =>
      env.turnBudget.run({ caller: cost.caller, bytes: body.length }, () =>
        rpc.resolve(rpc.parse(body, { rpcProfile: 'standard' }), context, admitFor(cost), { cost, ...scope }),
      ),
  };
}

/**
 * Returns what the limits of the pipeline process are for a caller. Each worker has held it to its own tier already, and to
 * the profile of `/rpc`, but knows nothing of its misses at other workers: over all of them it has the most that a tier of
 * its priority allows.
 */
export function overWorkers(tier: Tier, priority: boolean, { free, build, scale, staked }: LimitsSettings): Tier {
  const inFlight = priority ? Math.max(scale.inFlight, staked.inFlight) : Math.max(free.inFlight, build.inFlight);
  return { ...tier, priority, inFlight };
}

function factsOf({ state, upstream: { mesh }, signing, admin }: Parts): PipelineFacts {
  return {
    cluster: mesh.genesisHash ?? null,
    admin: admin?.url ?? null,
    publicKey: signing.signer.publicKey,
    receiptMode: signing.guard.receiptMode,
    receiptKeyPath: state.loadedKeys.path,
    nodes: mesh.nodes(),
  };
}

function withRoute({ key, minSlot, isForPush = false, agree = 1 }: AnswerRequest): ReadRequest {
  const route = matchRoute(parseTarget(key).path)?.route;
  if (route?.kind !== 'read' && route?.kind !== 'live')
    throw new GatewayError('route_not_found', 'there is no such path');
  return { route, params: paramsOfKey(route, key, matchRoute), key, minSlot, isForPush, agree };
}
