import type { ConfigSources } from '../config/load-config.ts';
import { formatProblem, type GatewayOptions, rereadOnDisk, Supervisor } from '../gateway/index.ts';
import type { ClusterFacts } from '../localnet/index.ts';
import type { StartError } from '../shared/domain/start-error.ts';
import { findFreePort, requireFreePort } from '../shared/runtime/require-free-port.ts';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { checkSharedKey } from './doctor/shared-key.ts';
import type { RunningGateway } from './run-process.ts';

/**
 * The embedded cluster, if any, outlives them in this process. They are replaced with the settings of these sources. `onFatal`
 * is called when none can serve any more.
 */
export async function startWithWorkers(
  options: GatewayOptions,
  sources: ConfigSources,
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
    const env = { ...sources.env }; // process.env itself can't be sent
    const request = { sources: { ...sources, env }, inUse, started, isAdminPortChosen };
    const reread = await rereadOnDisk(REREAD_MODULE, request);
    if ('problem' in reread) {
      log.error({}, formatProblem(reread.problem));
      supervisor.countFailedReload();
      return;
    }
    const { config, next, changed, kept } = reread;
    if (!isWanted(changed)) return;
    if (kept.length > 0) log.warn({ settings: kept }, 'these settings have changed: a restart applies them');
    if (await supervisor.renew(next)) inUse = config;
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

const REREAD_MODULE = new URL('../gateway/composition/reread-main.js', import.meta.url);

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

function dataOf(cluster: ClusterFacts): ClusterFacts {
  const { url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds } = cluster;
  return { url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds };
}
