import { MemoryQuotaLedger } from '../access/quota/memory-quota-ledger.ts';
import { SeatLedger } from '../access/quota/seat-ledger.ts';
import { WorkerFigures } from '../admin/worker-figures.ts';
import { parseTarget } from '../domain/canonical-request.ts';
import { COMMITMENTS } from '../domain/commitment.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { RequestCost } from '../domain/request-cost.ts';
import { PipelineEnd, type PipelineEndOptions, type PipelineService } from '../fleet/workers/pipeline-end.ts';
import { matchRoute } from '../routes/index.ts';
import { rpc } from '../routes/rpc/rpc.ts';
import { contextForRequest } from '../routing/request-context.ts';
import { paramsOfKey, type ReadRequest } from '../routing/route-read-through.ts';
import { machineClock } from '../runtime/machine-clock.ts';
import type { Admit } from '../serving/read-through.ts';
import type { NodeStatus } from '../upstream/mesh/mesh.ts';
import { closerOf, openOrClose } from './closing.ts';
import type { Gateway } from './create-gateway.ts';
import { type Environment, environmentOf, type GatewayOptions } from './environment.ts';
import { addressOf } from './open-answers.ts';
import { engineOf } from './open-engine.ts';
import { openFleetQuota, openFleetSeats } from './open-fleet-quota.ts';
import { reloadReceiptKeys } from './open-state.ts';
import { follow, openParts, type Parts } from './parts.ts';

/** Windows of the quota ledger for each address: those of principals, and of addresses within them, come besides. */
const WINDOWS_PER_IDENTITY = 2;

/** A process of a gateway that has several. */
export interface FleetProcess {
  /** Reloads what the operator may have changed. */
  reload(): void;
  close(): Promise<void>;
}

/** The process of a gateway that reads from the cluster. */
export interface PipelineProcess extends FleetProcess {
  readonly facts: GatewayFacts;
  /** Counts settings that were read again by its supervisor and could not be applied. */
  countFailedReload(): void;
}

/** What is told of a gateway when it listens. */
export interface GatewayFacts
  extends Pick<Gateway, 'cluster' | 'admin' | 'publicKey' | 'signsAlone' | 'receiptKeyPath'> {
  readonly nodes: readonly NodeStatus[];
}

/** Opens the pipeline process: all of a gateway save its listener, for workers that serve copies of what its cache shows. */
export async function createPipelineProcess(
  options: GatewayOptions,
  fleet: Omit<PipelineEndOptions, 'clock'>,
): Promise<PipelineProcess> {
  const env = environmentOf(options, await engineOf(options));
  return openOrClose(env, async () => {
    const end = new PipelineEnd({ ...fleet, clock: env.clock });
    env.disposals.defer(() => end.close());
    const figures = new WorkerFigures();
    const fleetQuota = openFleetQuota(env);
    const seatLedger = new SeatLedger();
    const fleetSeats = openFleetSeats(env, seatLedger);
    const parts = await openParts(env, options, {
      fleetQuota,
      fleetSeats,
      onLeasesAdvanced: () => end.onMarksMoved(),
      workers: figures,
    });
    const { state, server } = parts;
    const { mesh } = parts.upstream;
    for (const commitment of COMMITMENTS) mesh.onTip(commitment, (slot) => end.onTip(commitment, slot));
    let resolveStarted = (): void => {};
    const started = new Promise<void>((resolve) => {
      resolveStarted = resolve;
    });
    const capacity = env.config.limits.identities * WINDOWS_PER_IDENTITY;
    const quotaLedgers = fleetQuota ?? new MemoryQuotaLedger(capacity, machineClock);
    await end.open({ started, figures, quotaLedgers, seatLedger, ...serviceOf(env, parts) });
    await follow(env, parts);
    resolveStarted();
    const reload = (): void => {
      reloadReceiptKeys(env, state, server.sealer);
      end.reloadReceiptKeys();
    };
    const countFailedReload = (): void => {
      env.failedReloads.settings++;
    };
    return { reload, countFailedReload, close: closerOf(env), facts: factsOf(parts) };
  });
}

/** Returns what workers ask of the pipeline process. */
function serviceOf(
  env: Environment,
  parts: Parts,
): Omit<PipelineService, 'started' | 'figures' | 'quotaLedgers' | 'seatLedger'> {
  const { startup, signing } = parts;
  const { mesh, embedded } = parts.upstream;
  const { cache, context, readThrough, liveAccounts } = parts.answers;
  const { admission, authenticator } = parts.state.access;
  // Each worker has held the caller to its own tier already.
  const tier = { ...authenticator.tierOf(undefined), inFlight: Number.POSITIVE_INFINITY };
  const admitFor = ({ caller, hasPriority }: RequestCost): Admit =>
    caller === ''
      ? (work) => admission.runOwn(work)
      : (work) => admission.run({ key: caller, tier: { ...tier, priority: hasPriority } }, work);
  return {
    cache,
    guard: signing.guard,
    liveAccounts,
    vitals: () => ({
      nodes: mesh.nodes(),
      isFailing: env.vitals.isFailing,
      slotTimeMs: env.vitals.slotTimeMs,
      startupProblem: startup.problem ?? null,
      problems: context.problems(),
      genesisHash: mesh.genesisHash ?? null,
      apiVersion: mesh.apiVersion ?? null,
      embedded: addressOf(embedded),
    }),
    read(key, minSlot, isForPush, cost) {
      const request = { ...parseReadRequest(key), minSlot, isForPush };
      const cached = readThrough.fromCache(request);
      return cached === undefined ? readThrough.fetch(request, admitFor(cost), cost) : Promise.resolve(cached);
    },
    answerRpc: (body, minSlot, cost) =>
      rpc.resolve(rpc.parse(body), contextForRequest(context, cost), admitFor(cost), { minSlot }),
  };
}

/** Returns what is told of the gateway. */
function factsOf({ state, upstream: { mesh }, signing, admin }: Parts): GatewayFacts {
  return {
    cluster: mesh.genesisHash ?? null,
    admin: admin?.url ?? null,
    publicKey: signing.signer.publicKey,
    signsAlone: signing.guard.isSoleSigner,
    receiptKeyPath: state.loadedKeys.path,
    nodes: mesh.nodes(),
  };
}

/** Returns the request for the answer under a key. */
function parseReadRequest(key: string): ReadRequest {
  const route = matchRoute(parseTarget(key).path)?.route;
  if (route?.kind !== 'read' && route?.kind !== 'live')
    throw new GatewayError('route_not_found', 'there is no such path');
  return { route, params: paramsOfKey(route, key, matchRoute), key };
}
