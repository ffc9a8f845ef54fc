import type { AccessOptions } from '../access/access.ts';
import { type AdminListener, openAdminListener } from '../admin/admin-listener.ts';
import type { WorkerFigures } from '../admin/worker-figures.ts';
import type { RedisStore } from '../fleet/counters/redis-store.ts';
import { SharedWatch } from '../fleet/replication/shared-watch.ts';
import { adminSourcesOf } from './admin-sources-of.ts';
import type { Environment, GatewayOptions } from './environment.ts';
import { type Answers, openAnswers } from './open-answers.ts';
import { openPipeline } from './open-pipeline.ts';
import { type OpenServer, openServer } from './open-server.ts';
import { openSigning, type Signing } from './open-signing.ts';
import { openState, type State } from './open-state.ts';
import { openUpstream, type Upstream } from './open-upstream.ts';
import { Startup } from './startup.ts';

export interface Parts {
  readonly state: State;
  readonly upstream: Upstream;
  readonly signing: Signing;
  readonly startup: Startup;
  readonly answers: Answers;
  readonly server: OpenServer;
  readonly admin: AdminListener | undefined;
}

export interface PartsOptions {
  /** What adds up the counts of a fleet; undefined where there is none. */
  readonly redisStore: RedisStore | undefined;
  /** The counters that this process, if it answers requests, shares with others. */
  readonly counters?: AccessOptions['counters'];
  readonly onLeasesAdvanced?: () => void;
  readonly workers?: WorkerFigures;
}

/** From the parts that need nothing to those that need all. The process neither follows nor listens yet. */
export async function openParts(
  env: Environment,
  options: GatewayOptions,
  { redisStore, counters, onLeasesAdvanced, workers }: PartsOptions,
): Promise<Parts> {
  const { embedded, isAdminPortChosen = true, joinWatch } = options;
  let admin: AdminListener | undefined;
  env.disposals.defer(() => admin?.close()); // the last that is closed
  const state = await openState(env, counters);
  const upstream = await openUpstream(env, embedded);
  const signing = await openSigning(env, state, upstream, redisStore);
  const startup = createStartup(env, upstream);
  const answers = openAnswers(env, state, signing, upstream, startup, { onLeasesAdvanced, workers });
  const isShared = env.redis !== undefined || joinWatch !== undefined;
  const watch = isShared ? openSharedWatch(env, options, upstream, answers) : undefined;
  if (signing.fleet !== undefined) signing.fleet.watch = watch;
  const server = openServer(env, state, signing, answers);
  const ofFleet = { workers, watch, feed: () => signing.fleet?.channelStats };
  const sources = { ...adminSourcesOf(env, state, signing.guard, answers, server), ...ofFleet };
  admin = await openAdminListener({ sources, isPortChosen: isAdminPortChosen, log: env.log });
  return { state, upstream, signing, startup, answers, server, admin };
}

/** Follows the cluster: resolves with the first answers, or after `upstreamPolicy.startTimeoutMs` without a node, and goes on trying. */
export async function follow(env: Environment, parts: Parts): Promise<void> {
  const { upstream, signing, startup, answers, server } = parts;
  const start = openPipeline(env, upstream, signing, answers, server);
  await startup.run(async () => {
    await signing.fleet?.join(upstream.mesh.genesisHash ?? ''); // it may refuse this gateway
    await start();
    answers.liveAccounts.feed?.start();
  });
}

function createStartup({ config, log, clock, disposals }: Environment, { mesh }: Pick<Upstream, 'mesh'>): Startup {
  return new Startup({
    mesh,
    clock,
    settings: config.upstreamPolicy,
    onUnreached: (problem) => log.warn({}, `${problem}; the gateway listens without a node and keeps trying`),
    onConnected: () => log.info({ cluster: mesh.genesisHash }, 'connected'),
    isClosing: () => disposals.disposed,
  });
}

/** Opens this gateway's part in the watch of its fleet; it is alone until it takes part over a feed. */
function openSharedWatch(
  { clock, log, disposals }: Environment,
  { joinWatch }: Pick<GatewayOptions, 'joinWatch'>,
  { mesh }: Pick<Upstream, 'mesh'>,
  { liveAccounts, tokenLists, onLeasesAdvanced }: Answers,
): SharedWatch {
  const watch = new SharedWatch({
    clock,
    mesh,
    accounts: liveAccounts.liveSet,
    lists: tokenLists.liveSet,
    onLeasesAdvanced,
    onRole: (role) => log.info({ role }, 'the part of this gateway in the watch of the fleet'),
  });
  disposals.defer(() => watch.close());
  joinWatch?.(watch);
  return watch;
}
