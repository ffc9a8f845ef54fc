import type { Config } from '../config/config-schema.ts';
import {
  type ClusterInUse,
  type GatewayOptions,
  type MemberSettings,
  rereadConfig,
  Supervisor,
} from '../gateway/index.ts';
import type { StartError } from '../shared/domain/start-error.ts';
import { findFreePort, requireFreePort } from '../shared/runtime/require-free-port.ts';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { checkSharedKey } from './commands/shared-key.ts';
import type { RunningGateway } from './run-process.ts';

/** The embedded cluster, if any, outlives them in this process. `onFatal` is called when none can serve any more. */
export async function startWithWorkers(
  options: GatewayOptions,
  onFatal: (failure: StartError) => void,
): Promise<RunningGateway> {
  const { config, log, receiptKey = { production: false }, secrets = {}, isAdminPortChosen = true } = options;
  checkSharedKey(config, receiptKey);
  await requireFreePort(config.host, config.port); // a port that is shared refuses no second gateway
  const cluster = await options.embedded;
  const started = { ...config, port: config.port === 0 ? await findFreePort(config.host) : config.port };
  const supervisor = new Supervisor({
    config: started,
    embedded: cluster && dataOf(cluster),
    receiptKey,
    secrets,
    isAdminPortChosen,
    module: new URL('../gateway/composition/member-main.js', import.meta.url),
    clock: systemClock,
    log,
    onFatal,
  });
  let inUse = config;
  /** Replaces the processes, if `isWanted` with these changes of the settings. A configuration that can't be used changes nothing. */
  const renewNow = async (isWanted: IsWanted): Promise<void> => {
    const reread = rereadConfig(inUse, options);
    if (reread === undefined) supervisor.countFailedReload();
    if (reread === undefined || !isWanted(reread.changed)) return;
    const next = withFixedSettings(reread.config, started, isAdminPortChosen);
    if (next === undefined) {
      const reason = `admin.port is ${started.port}, which is the port for callers until a restart`;
      log.error({}, `the configuration can't be used; the old one stays in use: ${reason}`);
      supervisor.countFailedReload();
      return;
    }
    const kept = reread.changed.filter((name) => FIXED.some((section) => name.split('.')[0] === section));
    if (kept.length > 0) log.warn({ settings: kept }, 'these settings have changed: a restart applies them');
    if (await supervisor.renew(next)) inUse = reread.config;
  };
  const renew = oneAfterAnother(renewNow);
  const { url, facts } = await supervisor.open();
  return {
    ...facts,
    url,
    embedded: cluster === undefined ? null : { rpc: cluster.url },
    nodes: () => supervisor.nodes,
    reload() {
      supervisor.reload();
      renew(hasChanged);
    },
    renew: () => renew(always),
    async close() {
      await supervisor.close();
      await cluster?.close();
    },
  };
}

/** Decides by the names of the changed settings whether processes are replaced. */
type IsWanted = (changed: readonly string[]) => boolean;

const hasChanged: IsWanted = (changed) => changed.length > 0;
const always: IsWanted = () => true;

/** Runs renewals one after another. Requests that come during one are served by the next, which reads the settings again. */
function oneAfterAnother(renew: (isWanted: IsWanted) => Promise<void>): (isWanted: IsWanted) => void {
  let waiting: IsWanted | undefined;
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    for (let next = waiting; next !== undefined; next = waiting) {
      waiting = undefined;
      await renew(next);
    }
    isRunning = false;
  };
  return (isWanted) => {
    waiting = waiting === always ? always : isWanted;
    if (!isRunning) void run();
  };
}

function dataOf(cluster: ClusterInUse): MemberSettings['embedded'] {
  const { url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds } = cluster;
  return { url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds };
}

/** The sections that hold as long as this process: of the port, the state folder, the cluster, its peers, and its end. */
const FIXED = ['host', 'port', 'dataDir', 'cluster', 'embedded', 'redis', 'drainDelayMs', 'drainTimeoutMs'] as const;

/** Returns the settings that a reload applies; undefined where operators would get the port that callers keep. */
export function withFixedSettings(config: Config, started: Config, isAdminPortChosen: boolean): Config | undefined {
  const { host, port, dataDir, cluster, embedded, redis, drainDelayMs, drainTimeoutMs } = started;
  const fixed = { host, port, dataDir, cluster, embedded, redis, drainDelayMs, drainTimeoutMs };
  const isOther = (config.upstreams.length === 0) !== (started.upstreams.length === 0);
  const upstreams = isOther ? started.upstreams : config.upstreams; // the embedded cluster is another cluster
  const workers = config.workers.count === 0 ? started.workers : config.workers;
  if (isAdminPortChosen && config.admin.port === port) return undefined;
  return { ...config, ...fixed, upstreams, workers };
}
