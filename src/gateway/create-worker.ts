import { SharedQuota } from '../access/quota/shared-quota.ts';
import { SharedSeats } from '../access/quota/shared-seats.ts';
import { metricsOf } from '../admin/metrics.ts';
import { readFigures } from '../admin/worker-figures.ts';
import type { Config } from '../config/config-schema.ts';
import { API_PREFIX } from '../domain/canonical-request.ts';
import { parseNetworkSnapshot } from '../domain/network-snapshot.ts';
import { RemoteQuotaLedger } from '../fleet/workers/remote-quota-ledger.ts';
import { WorkerEnd, type WorkerEndOptions } from '../fleet/workers/worker-end.ts';
import { WorkerReads } from '../fleet/workers/worker-reads.ts';
import { Signer } from '../receipts/signer.ts';
import { readMintBalance } from '../routes/mint-balance.ts';
import type { RouteContext } from '../routing/route.ts';
import { repeat } from '../runtime/repeat.ts';
import { closerOf, openOrClose } from './closing.ts';
import type { FleetProcess } from './create-pipeline-process.ts';
import { environmentOf, type GatewayOptions } from './environment.ts';
import { adminSourcesOf } from './open-admin-listener.ts';
import { openAnswers } from './open-answers.ts';
import { engineOf } from './open-engine.ts';
import { listen, type OpenServer, openServer } from './open-server.ts';
import { openState, reloadReceiptKeys } from './open-state.ts';

/** Time between two messages of what this worker counts. */
const FIGURES_MS = 1000;

const NETWORK_KEY = `${API_PREFIX}/network`;

/** The part of the limit of new connections that a worker has beyond an equal one: the kernel spreads them unevenly. */
const CONNECTION_SHARE = 1.15;

/** Returns the settings of one worker of several: of the limit of new connections it has a share. */
function withConnectionShare(config: Config): Config {
  const { count } = config.workers;
  const connections = Math.ceil((config.limits.connections * CONNECTION_SHARE) / Number(count));
  return { ...config, limits: { ...config.limits, connections: Math.min(config.limits.connections, connections) } };
}

/** Opens a worker: the listener, on a port that others share, over a copy of what the pipeline process' cache shows. */
export async function createWorker(
  options: GatewayOptions,
  fleet: Pick<WorkerEndOptions, 'id' | 'folder' | 'onOvertaken'>,
): Promise<FleetProcess & { readonly url: string }> {
  const receiptKey = { ...options.receiptKey, production: true }; // the key is there
  const engine = await engineOf(options);
  const env = environmentOf({ ...options, receiptKey, config: withConnectionShare(options.config) }, engine);
  const { config, clock, disposals } = env;
  return openOrClose(env, async () => {
    const quotaLedger = new RemoteQuotaLedger(Number(config.workers.count));
    const quota = new SharedQuota({ ledger: quotaLedger, clock, afterTurn: setImmediate });
    disposals.defer(() => quota.close());
    const seats = new SharedSeats({ hold: (held) => end.holdSeats(held), afterTurn: setImmediate });
    const state = await openState(env, { quota, seats });
    let opened: OpenServer | undefined;
    const reload = (): void => opened && reloadReceiptKeys(env, state, opened.sealer);
    const end: WorkerEnd = new WorkerEnd({
      ...fleet,
      clock,
      cache: { ...config.cache, bytes: config.workers.cacheBytes, clock, hotKeys: config.refresh.hotKeys },
      waitMs: config.upstream.slowTimeoutMs + config.upstream.timeoutMs,
      onLiveAnswer(entry) {
        if (entry.key === NETWORK_KEY) opened?.server.publish(entry, parseNetworkSnapshot(entry.result.toString()));
      },
      onReceiptKeys: reload,
      quotaLedger,
      onForgottenQuota: () => quota.retell(),
      onNewLedger() {
        quota.retell();
        seats.retell();
      },
      onSeats: (others) => seats.hear(others),
    });
    disposals.defer(() => end.close());
    await end.joined;
    const { mesh, cache } = end;
    const signer = new Signer(state.keys, mesh, end.replica);
    const startup = {
      get problem() {
        return end.vitals?.startupProblem ?? undefined;
      },
    };
    const upstream = { mesh, embedded: undefined };
    const base = openAnswers(env, state, { signer }, upstream, startup, { copy: cache });
    const readThrough = new WorkerReads({ end, cache, mesh, clock, admitOwn: (work) => work() });
    state.access.readBalancesWith((wallet, mint) => readMintBalance(readThrough, wallet, mint));
    const context: RouteContext = {
      ...base.context,
      embedded: end.vitals?.embedded ?? null,
      liveAccounts: {
        read: (query) => base.liveAccounts.read(query),
        readBalances: (query) => base.liveAccounts.readBalances(query),
        readLive: (query) => base.liveAccounts.readLive(query),
        readLiveBalances: (query) => base.liveAccounts.readLiveBalances(query),
        subscribe: (address, commitment, subscriber, caller) => end.follow(address, commitment, subscriber, caller),
      },
      vitals: {
        get isFailing() {
          return end.vitals?.isFailing ?? true;
        },
        get slotTimeMs() {
          return end.vitals?.slotTimeMs ?? env.vitals.slotTimeMs;
        },
      },
      problems: () => [...new Set([...(end.vitals?.problems ?? []), ...base.context.problems()])],
    };
    opened = openServer(
      env,
      state,
      { signer },
      { ...base, context, readThrough },
      {
        sharesPort: true,
        answerRpc: (body, minSlot, cost) => end.answerRpc(body, minSlot, cost),
      },
    );
    const guard = { conflicts: 0, isSoleSigner: false }; // the pipeline process has it
    const metrics = metricsOf(adminSourcesOf(env, state, guard, { ...base, context }, opened));
    const tellFigures = async (): Promise<void> => end.tellFigures(await readFigures(metrics));
    disposals.defer(tellFigures);
    disposals.defer(repeat(clock, FIGURES_MS, () => void tellFigures()));
    await end.warm; // no caller comes before: another worker serves meanwhile
    return { reload, close: closerOf(env), url: await listen(env, opened) };
  });
}
