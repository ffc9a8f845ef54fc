import { StartError } from '../domain/start-error.ts';
import type { MemberSettings } from '../fleet/workers/member-messages.ts';
import { Supervisor, workerCount } from '../fleet/workers/supervisor.ts';
import type { GatewayOptions } from '../gateway/environment.ts';
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
  const supervisor = new Supervisor({
    config: { ...config, port: config.port === 0 ? await findFreePort(config.host) : config.port },
    embedded: cluster && dataOf(cluster),
    receiptKey,
    secrets,
    isAdminPortChosen,
    count: workerCount(config),
    module: new URL('./member-main.js', import.meta.url),
    clock: systemClock,
    log,
  });
  const { url, facts } = await supervisor.open();
  return {
    ...facts,
    url,
    embedded: cluster === undefined ? null : { rpc: cluster.url },
    nodes: () => supervisor.nodes,
    reload: () => supervisor.reload(),
    renew: () => void supervisor.renew(),
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
