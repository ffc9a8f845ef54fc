import type { AccessOptions } from '../access/access.ts';
import type { AdminListener } from '../admin/admin-listener.ts';
import type { WorkerFigures } from '../admin/worker-figures.ts';
import type { FleetSeats } from '../fleet/redis/fleet-seats.ts';
import type { RedisQuotaLedger } from '../fleet/redis/redis-quota-ledger.ts';
import { openUpstream, type Upstream } from '../wiring/open-upstream.ts';
import { Startup } from '../wiring/startup.ts';
import type { Environment, GatewayOptions } from './environment.ts';
import { openAdminListener } from './open-admin-listener.ts';
import { type Answers, openAnswers } from './open-answers.ts';
import { openPipeline } from './open-pipeline.ts';
import { type OpenServer, openServer } from './open-server.ts';
import { openSharedWatch } from './open-shared-watch.ts';
import { openSigning, type Signing } from './open-signing.ts';
import { openState, type State } from './open-state.ts';

/** The parts of a process that follows the cluster. */
export interface Parts {
  readonly state: State;
  readonly upstream: Upstream;
  readonly signing: Signing;
  readonly startup: Startup;
  readonly answers: Answers;
  readonly server: OpenServer;
  /** The listener for operators; undefined for none. */
  readonly admin: AdminListener | undefined;
}

export interface PartsOptions {
  /** The shares of limits of a fleet; undefined where there is none. */
  readonly fleetQuota: RedisQuotaLedger | undefined;
  /** The connections of callers over a fleet; undefined where there is none. */
  readonly fleetSeats: FleetSeats | undefined;
  /** What this process, if it answers requests, shares with others. */
  readonly shared?: AccessOptions['shared'];
  readonly onLeasesAdvanced?: () => void;
  /** What workers count; undefined where there are none. */
  readonly workers?: WorkerFigures;
}

/**
 * Opens the parts of a process that follows the cluster, from those that need nothing to those that need all: it neither
 * follows nor listens yet.
 */
export async function openParts(
  env: Environment,
  options: GatewayOptions,
  { fleetQuota, fleetSeats, shared, onLeasesAdvanced, workers }: PartsOptions,
): Promise<Parts> {
  const { embedded, isAdminPortChosen = true, joinWatch } = options;
  let admin: AdminListener | undefined;
  env.disposals.defer(() => admin?.close()); // the last that is closed
  const state = await openState(env, shared);
  const upstream = await openUpstream(env.config, env, env.disposals, embedded);
  const signing = await openSigning(env, state, upstream, { quota: fleetQuota, seats: fleetSeats });
  const startup = createStartup(env, upstream);
  const answers = openAnswers(env, state, signing, upstream, startup, { onLeasesAdvanced });
  const isShared = env.redis !== undefined || joinWatch !== undefined;
  const watch = isShared ? openSharedWatch(env, options, upstream, answers) : undefined;
  if (watch !== undefined) signing.fleet?.share(watch);
  const server = openServer(env, state, signing, answers);
  admin = await openAdminListener(env, state, signing, answers, server, isAdminPortChosen, {
    workers,
    watch,
    feed: () => signing.fleet?.feedStats,
  });
  return { state, upstream, signing, startup, answers, server, admin };
}

/** Follows the cluster: resolves with the first answers, or after `upstream.startMs` without a node, and goes on trying. */
export async function follow(env: Environment, parts: Parts): Promise<void> {
  const { upstream, signing, startup, answers, server } = parts;
  const start = openPipeline(env, upstream, signing, answers, server);
  await startup.run(async () => {
    await signing.fleet?.join(upstream.mesh.genesisHash ?? ''); // it may refuse this gateway
    await start();
  });
}

/** Prepares the start over the cluster. */
function createStartup({ config, log, clock, disposals }: Environment, { mesh }: Pick<Upstream, 'mesh'>): Startup {
  return new Startup({
    mesh,
    clock,
    settings: config.upstream,
    onUnreached: (problem) => log.warn({}, `${problem}; the port opens without, and the nodes are tried again`),
    onConnected: () => log.info({ cluster: mesh.genesisHash }, 'connected'),
    isClosing: () => disposals.disposed,
  });
}
