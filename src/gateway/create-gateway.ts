import { requireFreePort } from '../runtime/require-free-port.ts';
import type { NodeStatus } from '../upstream/mesh/mesh.ts';
import { closerOf, openOrClose } from './closing.ts';
import { type Environment, environmentOf, type GatewayOptions } from './environment.ts';
import { addressOf } from './open-answers.ts';
import { engineOf } from './open-engine.ts';
import { openFleetQuota, takeFleetSeats, takeFleetShares } from './open-fleet-quota.ts';
import { listen } from './open-server.ts';
import { reloadReceiptKeys } from './open-state.ts';
import { follow, openParts, type Parts } from './parts.ts';
import { rereadConfig } from './reread-config.ts';

export interface Gateway {
  readonly url: string;
  /** Genesis hash in all receipts; null until a first node was reached. */
  readonly cluster: string | null;
  /** The address of the embedded cluster; null over configured nodes. */
  readonly embedded: { readonly rpc: string } | null;
  /** The address of the listener for operators; null for none. */
  readonly admin: string | null;
  /** Public key that signs them now: 32 bytes, base58. */
  readonly publicKey: string;
  /** Number of times a node gave two results for one finalized slot. The second is signed as `observed` only. */
  readonly conflicts: number;
  /** Whether finalized answers may be signed as `exact`: no other process signs with the key. */
  readonly signsAlone: boolean;
  /** The file of the receipt key; null if it was given inline. */
  readonly receiptKeyPath: string | null;
  /** The nodes and their states. */
  readonly nodes: () => readonly NodeStatus[];
  /** Reloads the receipt keys; if they can't be used, the old ones stay in use. Tells which settings need a restart. */
  reload(): void;
  /** Stops accepting connections, answers pending requests, then releases everything. */
  close(): Promise<void>;
}

/**
 * Opens the gateway: connects its layers and listens. Resolves when the port is open: with the first answers, or after
 * `upstream.startMs` without a node; the gateway then goes on trying.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const env = environmentOf(options, await engineOf(options));
  const { host, port } = env.config;
  return openOrClose(env, async () => {
    await requireFreePort(host, port);
    const fleetQuota = openFleetQuota(env);
    const seats = takeFleetSeats(env);
    const shared = fleetQuota && { quota: takeFleetShares(env, fleetQuota), ...(seats && { seats: seats.shared }) };
    const parts = await openParts(env, options, { fleetQuota, fleetSeats: seats?.ofFleet, shared });
    await follow(env, parts);
    return gatewayOf(env, options, parts, await listen(env, parts.server));
  });
}

/** Returns the gateway as its process sees it. */
function gatewayOf(
  env: Environment,
  options: GatewayOptions,
  { state, upstream, signing, server, admin }: Parts,
  url: string,
): Gateway {
  const { mesh, embedded } = upstream;
  const { guard, signer } = signing;
  return {
    url,
    get cluster() {
      return mesh.genesisHash ?? null;
    },
    embedded: addressOf(embedded),
    admin: admin?.url ?? null,
    get publicKey() {
      return signer.publicKey;
    },
    get conflicts() {
      return guard.conflicts;
    },
    get signsAlone() {
      return guard.isSoleSigner;
    },
    receiptKeyPath: state.loadedKeys.path,
    nodes: () => mesh.nodes(),
    reload() {
      reloadReceiptKeys(env, state, server.sealer);
      const reread = rereadConfig(options.config, { ...options, log: env.log });
      if (reread === undefined) env.failedReloads.settings++;
      const settings = reread?.changed ?? [];
      if (settings.length > 0) env.log.warn({ settings }, 'these settings have changed: a restart applies them');
    },
    close: closerOf(env),
  };
}
