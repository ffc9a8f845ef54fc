import type { Config } from '../../config/config-schema.ts';
import { operatorsIn } from '../../config/operators.ts';
import { API_PREFIX } from '../../shared/domain/canonical-request.ts';
import { parseNetworkSnapshot } from '../../shared/domain/network-snapshot.ts';
import { repeat } from '../../shared/runtime/repeat.ts';
import { CounterMember } from '../access/quota/counter-member.ts';
import { metricsOf } from '../admin/metrics.ts';
import { readFigures } from '../admin/worker-figures.ts';
import { RemoteStore } from '../fleet/counters/remote-store.ts';
import { WorkerEnd, type WorkerEndOptions } from '../fleet/workers/worker-end.ts';
import { WorkerReads } from '../fleet/workers/worker-reads.ts';
import { Signer } from '../receipts/signer.ts';
import { readMintBalance } from '../routes/mint-balance.ts';
import type { RouteContext } from '../routes/routing/route.ts';
import { adminSourcesOf } from './admin-sources-of.ts';
import { endOf, type FleetProcess } from './create-pipeline-process.ts';
import type { GatewayOptions } from './environment.ts';
import { openAnswers } from './open-answers.ts';
import { openProcess } from './open-process.ts';
import { listen, type OpenServer, openServer } from './open-server.ts';
import { openState, reloadReceiptKeys, type State } from './open-state.ts';

const FIGURES_MS = 1000;
const NETWORK_KEY = `${API_PREFIX}/network`;

/** The part of the limit of new connections that a worker has beyond an equal one: the kernel spreads them unevenly. */
const CONNECTION_SHARE = 1.15;

function withConnectionShare(config: Config): Config {
  const { count } = config.workers;
  const connections = Math.ceil((config.limits.connections * CONNECTION_SHARE) / Number(count));
  return { ...config, limits: { ...config.limits, connections: Math.min(config.limits.connections, connections) } };
}

/** Opens a worker: the listener, on a port that others share, over a copy of what the pipeline process' cache shows. */
export function createWorker(
  options: GatewayOptions,
  fleet: Pick<WorkerEndOptions, 'id' | 'folder' | 'onOvertaken'>,
): Promise<FleetProcess & { readonly url: string }> {
  const receiptKey = { ...options.receiptKey, production: true }; // the key is there
  return openProcess({ ...options, receiptKey, config: withConnectionShare(options.config) }, async (env) => {
    const { config, clock, disposals } = env;
    const counterStore = new RemoteStore(Number(config.workers.count));
    const counters = new CounterMember({ store: counterStore, member: '', clock, afterTurn: setImmediate });
    disposals.defer(() => counters.close());
    let known: State | undefined;
    let opened: OpenServer | undefined;
    const reload = (): void => known && reloadReceiptKeys(env, known, opened?.sealer);
    const end: WorkerEnd = new WorkerEnd({
      ...fleet,
      clock,
      cache: { ...config.cache, bytes: config.workers.cacheBytes, clock, hotKeys: config.refresh.hotKeys },
      waitMs: config.upstreamPolicy.slowTimeoutMs + config.upstreamPolicy.timeoutMs,
      onLiveAnswer(entry) {
        if (entry.key === NETWORK_KEY) opened?.server.publish(entry, parseNetworkSnapshot(entry.result.toString()));
      },
      onReceiptKeys: reload,
      onUnagreedDropped: () => known?.access.stakeBalances?.clear(),
      counterStore,
    });
    disposals.defer(() => end.close());
    await end.joined;
    const state = await openState(env, counters); // each later change of its keys is published to it
    known = state;
    const { mesh, cache } = end;
    const signer = new Signer(state.keys, mesh, end.answers, operatorsIn(env.config)?.needed);
    const startup = {
      get problem() {
        return mesh.vitals?.startupProblem ?? undefined;
      },
    };
    const upstream = { mesh, embedded: undefined };
    const base = openAnswers(env, state, { signer }, upstream, startup, { copy: cache });
    const readThrough = new WorkerReads({
      end,
      clock,
      operators: base.context.operators,
      admitOwn: (work) => state.access.admission.enterOwn(work),
    });
    state.access.readBalancesWith((wallet, mint) => readMintBalance(readThrough, wallet, mint));
    const context: RouteContext = {
      ...base.context,
      embedded: mesh.vitals?.embedded ?? null,
      vitals: {
        get isFailing() {
          return mesh.vitals?.isFailing ?? true;
        },
      },
      problems: () => [...new Set([...(mesh.vitals?.problems ?? []), ...base.context.problems()])],
    };
    opened = openServer(
      env,
      state,
      { signer },
      {
        ...base,
        context,
        readThrough,
        readEvents: (query) => end.readEvents(query),
        liveAccounts: {
          subscribe: (address, commitment, account, caller) =>
            end.subscribe({ type: 'subscribe', address, commitment, account }, caller),
        },
        liveLogs: {
          subscribe: (address, commitment, logs, caller) =>
            end.subscribe({ type: 'subscribe-logs', address, commitment, logs }, caller),
        },
      },
      {
        sharesPort: true,
        answerRpc: (body, scope, cost) => end.answerRpc(body, scope, cost),
      },
    );
    if (state.keys.hasRevoked) opened.sealer.invalidateReceipts(); // what came before may have been signed by that key
    const guard = { conflicts: 0, receiptMode: 'observed' } as const; // the pipeline process has it
    const metrics = metricsOf(adminSourcesOf(env, state, guard, { ...base, context }, opened));
    const reportFigures = async (): Promise<void> =>
      end.reportFigures(await readFigures(metrics), base.context.problems());
    disposals.defer(reportFigures);
    let stopReporting = (): void => {};
    disposals.defer(() => stopReporting());
    await Promise.all([end.warm, counters.join()]); // no caller comes before: another worker serves until then
    const url = await listen(env, opened);
    stopReporting = repeat(clock, FIGURES_MS, () => void reportFigures(), 0);
    return { reload, ...endOf(env), url };
  });
}
