export { digestOfKey, generateApiKey } from './access/api-keys/api-key.ts';
export { type ApiKeyRecord, isKeyValid, KEY_TIERS, type KeyTier } from './access/api-keys/api-key-record.ts';
export {
  apiKeysPath,
  fleetKeysPath,
  readApiKeys,
  readVersionedKeys,
  updateApiKeys,
} from './access/api-keys/api-key-store.ts';
export { findStakeProofFault, stakeText } from './access/stake/stake-proof.ts';
export { readUsage, usagePath } from './access/usage/usage-file.ts';
export { REQUEST_OUTCOMES, shownUsage, type UsageRow } from './access/usage/usage-line.ts';
export { type CreateGatewayOptions, createGateway, type Gateway, openGateway } from './composition/create-gateway.ts';
export type { GatewayOptions } from './composition/environment.ts';
export { openEngine } from './composition/open-process.ts';
export { embeddedPortsOf, startEmbedded } from './composition/open-upstream.ts';
export { formatProblem } from './composition/reread-config.ts';
export { rereadOnDisk } from './composition/reread-on-disk.ts';
export { type FleetKeysPlace, readFleetKeys, restoreFleetKeys, updateFleetKeys } from './fleet/keys/fleet-keys.ts';
export { findFleet, withRedis } from './fleet/redis/fleet-client.ts';
export { checkServer } from './fleet/redis/redis-fleet.ts';
export { Supervisor, workerCount } from './fleet/supervisor/supervisor.ts';
export { deriveFleetSecret, type FleetSecret, fleetSecretOfText } from './fleet/transport/redis/fleet-secret.ts';
export { redisReasonOf } from './fleet/transport/redis/redis-connection.ts';
export { readFleetUsage } from './fleet/usage/fleet-usage.ts';
export { loadEngine } from './http/load-engine.ts';
export { admitFeed } from './live/feed/feed-admission.ts';
export { type KeyRing, keyState, type ReceiptKey } from './receipts/keys/key-ring.ts';
export { revokeKey, rotateKey } from './receipts/keys/key-rotation.ts';
export { extractKeySource, type KeySource } from './receipts/keys/key-source.ts';
export {
  checkReceiptKeys,
  createReceiptKey,
  keyFilePath,
  loadReceiptKeys,
  readReceiptKeyRing,
} from './receipts/keys/load-keys.ts';
export { createFeedClient } from './upstream/geyser/geyser-client.ts';
export type { NodeStatus } from './upstream/mesh/mesh.ts';
export { connectionFault, httpFault } from './upstream/rpc/failure-reason.ts';
export { basicAuth } from './upstream/rpc/http-transport.ts';
export { redactor } from './upstream/rpc/redact.ts';
export { AGAVE, agaveErrorOf, PROCESSED_REFUSED, profileOfVersion } from './upstream/rpc/server-profile.ts';
export type { NodeOptions } from './upstream/upstream-options.ts';
