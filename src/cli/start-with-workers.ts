import type { Config } from '../config/config-schema.ts';
import { StartError } from '../domain/start-error.ts';
import type { MemberSettings } from '../fleet/workers/member-messages.ts';
import { Supervisor } from '../fleet/workers/supervisor.ts';
import type { GatewayOptions } from '../gateway/environment.ts';
import { rereadConfig } from '../gateway/reread-config.ts';
import { findFreePort, requireFreePort } from '../runtime/require-free-port.ts';
import { systemClock } from '../runtime/system-clock.ts';
import type { ClusterInUse } from '../wiring/open-upstream.ts';
import type { RunningGateway } from './run-process.ts';

/** Starts a gateway whose workers share the port. The embedded cluster, if there is one, outlives them in this process. */
export async function startWithWorkers(options: GatewayOptions): Promise<RunningGateway> {
  const { config, log, receiptKey = { production: false }, secrets = {}, isAdminPortChosen = true } = options;
  if (receiptKey.inline === 'ephemeral')
    throw new StartError(78, 'RECEIPT_KEY=ephemeral is for one process, and workers.count asks for several');
  await requireFreePort(config.host, config.port); // a port that is shared refuses no second gateway
  const cluster = await options.embedded;
  const started = { ...config, port: config.port === 0 ? await findFreePort(config.host) : config.port };
  const supervisor = new Supervisor({
    config: started,
    embedded: cluster && dataOf(cluster),
    receiptKey,
    secrets,
    isAdminPortChosen,
    module: new URL('./member-main.js', import.meta.url),
    clock: systemClock,
    log,
  });
  let inUse = config;
  /** Replaces the processes, if `isWanted` with these changes of the settings. A configuration that can't be used changes nothing. */
  const renew = async (isWanted: (changed: readonly string[]) => boolean): Promise<void> => {
    const reread = rereadConfig(inUse, options);
    if (reread === undefined) supervisor.countFailedReload();
    if (reread === undefined || !isWanted(reread.changed)) return;
    const next = withFixedSettings(reread.config, started);
    const kept = reread.changed.filter((name) => FIXED.some((section) => name.split('.')[0] === section));
    if (kept.length > 0) log.warn({ settings: kept }, 'these settings have changed: a restart applies them');
    if (await supervisor.renew(next)) inUse = reread.config;
  };
  const { url, facts } = await supervisor.open();
  return {
    ...facts,
    url,
    embedded: cluster === undefined ? null : { rpc: cluster.url },
    nodes: () => supervisor.nodes,
    reload() {
      supervisor.reload();
      void renew((changed) => changed.length > 0);
    },
    renew: () => void renew(() => true),
    async close() {
      await supervisor.close();
      await cluster?.close();
    },
  };
}

/** Returns what other processes need to know of the cluster. */
const dataOf = ({
  url,
  wsUrl,
  takenPort,
  genesisHash,
  accounts,
  priceFeeds,
}: ClusterInUse): MemberSettings['embedded'] => ({
  url,
  wsUrl,
  takenPort,
  genesisHash,
  accounts,
  priceFeeds,
});

/** The sections that hold as long as this process: of the port, the state folder, the cluster, and who else there is. */
const FIXED = ['host', 'port', 'state', 'cluster', 'embedded', 'redis'] as const;

/** Returns settings as they apply to processes that replace others. */
function withFixedSettings(
  config: Config,
  { host, port, state, cluster, embedded, redis, ...started }: Config,
): Config {
  const isOther = (config.upstreams.length === 0) !== (started.upstreams.length === 0);
  const upstreams = isOther ? started.upstreams : config.upstreams; // the embedded cluster is another cluster
  const workers = config.workers.count === 0 ? started.workers : config.workers;
  return { ...config, host, port, state, cluster, embedded, redis, upstreams, workers };
}
