import type { Claim } from '../../client/verify/index.ts';
import type { Settings } from '../../config/config-schema.ts';
import { isChosen, loadConfig } from '../../config/load-config.ts';
import { extractSecrets } from '../../config/secret-variables.ts';
import { createLog, type Log } from '../../shared/runtime/log.ts';
import { requireFreePort } from '../../shared/runtime/require-free-port.ts';
import { CounterMember } from '../access/quota/counter-member.ts';
import { extractKeySource } from '../receipts/keys/key-source.ts';
import type { NodeStatus } from '../upstream/mesh/mesh.ts';
import type { Environment, GatewayOptions } from './environment.ts';
import { addressOf } from './open-answers.ts';
import { openRedisStore } from './open-counters.ts';
import { closerOf, openProcess } from './open-process.ts';
import { listen } from './open-server.ts';
import { reloadReceiptKeys } from './open-state.ts';
import { follow, openParts, type Parts } from './parts.ts';
import { formatProblem, rereadConfig } from './reread-config.ts';

/** The time for which reports to the store of a fleet wait for others, in milliseconds. */
const GATHER_MS = 5;

export interface Gateway {
  readonly url: string;
  /** Genesis hash in all receipts; null until a first node was reached. */
  readonly cluster: string | null;
  /** The address of the embedded cluster; null over configured nodes. */
  readonly embedded: { readonly rpc: string } | null;
  /** The address of the listener for operators; null for none. */
  readonly admin: string | null;
  readonly publicKey: string;
  /** The claim that receipts of finalized answers may have; `observed` while another process may be signing with the key. */
  readonly receiptMode: Claim;
  /** The file of the receipt key; null if it was given inline. */
  readonly receiptKeyPath: string | null;
  readonly nodes: () => readonly NodeStatus[];
  /** Reloads the receipt keys; if they can't be used, the old ones stay in use. Logs which settings need a restart. */
  reload(): void;
  /** Stops accepting connections, answers pending requests, then releases everything. */
  close(): Promise<void>;
}

export interface CreateGatewayOptions {
  /**
   * Receives what happens: fields first, as with pino. Default: on standard output, readable lines on a terminal, otherwise
   * one JSON object a line.
   */
  readonly logger?: Log;
  /** Closes the gateway when it aborts; during the start, the start rejects with its reason. */
  readonly signal?: AbortSignal;
  /**
   * Variables that mean what they mean to the command, such as `process.env`: they override the settings, and those with
   * secrets are deleted from it. Default: none.
   */
  readonly env?: Record<string, string | undefined>;
}

/**
 * Creates a gateway in this process. Settings that are not given have their values of config/default.json; without
 * `upstreams` it serves an embedded cluster. Resolves when the port is open: with the first answers, or after
 * `upstreamPolicy.startTimeoutMs` without a node, and then goes on trying. Rejects with a StartError that says what to change.
 */
export async function createGateway(
  settings: Settings = {},
  { logger, signal, env = {} }: CreateGatewayOptions = {},
): Promise<Gateway> {
  signal?.throwIfAborted();
  const sources = { settings, env, cwd: process.cwd() };
  const config = loadConfig(sources);
  const gateway = await openGateway({
    config,
    log: logger ?? createLog(config.log.level),
    receiptKey: extractKeySource(env),
    secrets: extractSecrets(env),
    isAdminPortChosen: isChosen(sources, ['admin', 'port']),
    closesIdleConnections: true,
    signal,
  });
  if (signal?.aborted !== true) return gateway;
  await gateway.close();
  throw signal.reason;
}

export function openGateway(options: GatewayOptions): Promise<Gateway> {
  return openProcess(options, async (env) => {
    const { config, clock, disposals } = env;
    await requireFreePort(config.host, config.port);
    const redisStore = openRedisStore(env);
    const afterTurn = (work: () => void) => clock.after(GATHER_MS, work);
    const counters = redisStore && new CounterMember({ store: redisStore, member: '0', clock, afterTurn });
    disposals.defer(() => counters?.close());
    const parts = await openParts(env, options, { redisStore, counters });
    await follow(env, parts);
    await counters?.join();
    const gateway = gatewayOf(env, options, parts, await listen(env, parts.server, options.closesIdleConnections));
    closeOnAbort(env, options.signal, gateway);
    return gateway;
  });
}

/** Closes a gateway when a signal aborts, which keeps nothing of a gateway that was closed before. */
function closeOnAbort({ disposals, log }: Environment, signal: AbortSignal | undefined, gateway: Gateway): void {
  const onAbort = (): void => {
    gateway.close().catch((err: unknown) => log.error({ err }, 'the gateway could not be closed'));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  disposals.defer(() => signal?.removeEventListener('abort', onAbort));
}

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
    get receiptMode() {
      return guard.receiptMode;
    },
    receiptKeyPath: state.loadedKeys.path,
    nodes: () => mesh.nodes(),
    reload() {
      reloadReceiptKeys(env, state, server.sealer);
      const { config: inUse, loadConfig = () => inUse } = options;
      const reread = rereadConfig(inUse, () => ({ config: loadConfig() }));
      if ('problem' in reread) {
        env.failedReloads.settings++;
        env.log.error({}, formatProblem(reread.problem));
      } else if (reread.changed.length > 0)
        env.log.warn({ settings: reread.changed }, 'these settings have changed: a restart applies them');
    },
    close: closerOf(env, env.config.drainDelayMs),
  };
}
