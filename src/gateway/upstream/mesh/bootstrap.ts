import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import { backoffMs } from '../failsafe/jittered-backoff.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import { highestAgreedSlot } from './jump-guard.ts';
import type { MeshNode } from './mesh-node.ts';
import { describeProblems } from './node-problems.ts';

export interface BootstrapResult {
  readonly genesisHash: string;
  readonly anchor: MeshNode;
}

/** Head start of each node over the next, since the first to answer decides the cluster where no setting does. */
const HEAD_START_MS = 250;

/**
 * Calls the nodes again and again until one is of the cluster, and gives the others a moment to answer too: where two
 * of them agree on the slot, one that differs can't be the anchor. Rejects with `upstream_unavailable` once every node
 * has named another genesis hash, and with the reason of `closed` when that is aborted.
 */
export async function bootstrap(
  meshNodes: readonly MeshNode[],
  deps: UpstreamDeps,
  closed: AbortSignal,
): Promise<BootstrapResult> {
  const over = new AbortController();
  const end = (): void => over.abort(closed.reason);
  if (closed.aborted) end();
  closed.addEventListener('abort', end, { once: true });
  try {
    const { anchor: first, genesisHash } = await firstContact(meshNodes, deps, over);
    const rest = meshNodes.filter((meshNode) => meshNode !== first);
    await Promise.race([
      Promise.allSettled(rest.map((meshNode) => meshNode.verifyGenesis())),
      sleep(deps.clock, deps.settings.backoffMaxMs, over.signal),
    ]);
    over.signal.throwIfAborted();
    return { genesisHash, anchor: furthestAgreedNode(meshNodes) ?? first };
  } finally {
    closed.removeEventListener('abort', end);
    over.abort();
  }
}

/** Calls the nodes until one answers; each until `over`, with pauses. One that hangs doesn't keep the next waiting. */
function firstContact(
  meshNodes: readonly MeshNode[],
  deps: UpstreamDeps,
  over: AbortController,
): Promise<BootstrapResult> {
  const { signal } = over;
  return new Promise((resolve, reject) => {
    const callUntilReached = async (anchor: MeshNode, onFailure: () => void): Promise<void> => {
      for (let failures = 0; !signal.aborted; await sleep(deps.clock, backoffMs(++failures, deps), signal)) {
        try {
          return resolve({ anchor, genesisHash: await anchor.verifyGenesis() });
        } catch {
          if (signal.aborted) return;
          anchor.reportUnreached();
          if (meshNodes.every(({ isForeign }) => isForeign)) over.abort(noneOfTheCluster(meshNodes));
          onFailure();
        }
      }
    };
    const callInTurn = ([first, ...rest]: readonly MeshNode[]): void => {
      if (first === undefined || signal.aborted) return;
      let isNextCalled = false;
      const callNext = (): void => {
        if (!isNextCalled) callInTurn(rest);
        isNextCalled = true;
      };
      callUntilReached(first, callNext).catch(reject); // the reason of the signal
      sleep(deps.clock, HEAD_START_MS, signal).then(callNext).catch(reject);
    };
    if (signal.aborted) reject(signal.reason);
    callInTurn(meshNodes);
  });
}

const noneOfTheCluster = (meshNodes: readonly MeshNode[]): GatewayError =>
  new GatewayError(
    'upstream_unavailable',
    ['no node is of the cluster', ...describeProblems(meshNodes.map((meshNode) => meshNode.status()))].join('; '),
  );

function furthestAgreedNode(meshNodes: readonly MeshNode[]): MeshNode | undefined {
  const slotOf = ({ isTrusted, client }: MeshNode) => (isTrusted ? client.slots.latest('processed') : undefined);
  const furthest = highestAgreedSlot(meshNodes.flatMap((meshNode) => slotOf(meshNode) ?? []));
  return furthest === undefined ? undefined : meshNodes.find((meshNode) => slotOf(meshNode) === furthest);
}
