import type { Config } from '../../config/config-schema.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../localnet/index.ts';

/** The ports at which Solana's tools expect a local cluster: its RPC, and its WebSocket. */
const [USUAL_PORT, USUAL_PUBSUB_PORT] = [8899, 8900];

export function startEmbedded({ embedded, upstreams, port: ownPort }: Config): Promise<EmbeddedCluster> | undefined {
  if (upstreams.length > 0) return undefined;
  const { port, ...options } = embedded;
  const isUsualOwn = ownPort === USUAL_PORT || ownPort === USUAL_PUBSUB_PORT; // the gateway will listen there
  const ports = port === null ? { port: isUsualOwn ? 0 : USUAL_PORT, orFreePorts: true } : { port };
  return startEmbeddedCluster({ ...options, ...ports });
}
