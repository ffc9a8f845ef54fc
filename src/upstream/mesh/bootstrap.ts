import { sleep } from '../../runtime/sleep.ts';
import { noNodeReachable } from '../rpc/error-normalizer.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import { highestAgreedSlot } from './jump-guard.ts';
import type { MeshNode } from './mesh-node.ts';

/** Result of the first contact with the nodes. */
export interface BootstrapResult {
  /** Genesis hash of the nodes. */
  readonly genesisHash: string;
  /** Node whose slots are accepted first. */
  readonly anchor: MeshNode;
}

/**
 * Calls the nodes in order, again and again, until one is of the cluster, and gives the others a moment to answer too:
 * where two of them agree on the slot, one that differs can't be the anchor. Throws `upstream_unavailable`.
 */
export async function bootstrap(
  meshNodes: readonly MeshNode[],
  { clock, settings }: UpstreamDeps,
): Promise<BootstrapResult> {
  const deadlineMs = clock.monotonic() + settings.startMs;
  for (let cause: unknown; ; ) {
    for (const first of meshNodes) {
      try {
        const genesisHash = await first.verifyGenesis();
        const rest = meshNodes.filter((meshNode) => meshNode !== first);
        await Promise.race([
          Promise.allSettled(rest.map((meshNode) => meshNode.verifyGenesis())),
          sleep(clock, settings.backoffMaxMs),
        ]);
        return { genesisHash, anchor: furthestAgreedNode(meshNodes) ?? first };
      } catch (thrown) {
        cause = thrown;
      }
    }
    if (clock.monotonic() + settings.backoffMinMs > deadlineMs) throw noNodeReachable(cause);
    await sleep(clock, settings.backoffMinMs);
  }
}

/** Finds the node with the highest slot that another one is near. */
function furthestAgreedNode(meshNodes: readonly MeshNode[]): MeshNode | undefined {
  const slotOf = ({ isTrusted, client }: MeshNode) => (isTrusted ? client.slots.latest('processed') : undefined);
  const furthest = highestAgreedSlot(meshNodes.flatMap((meshNode) => slotOf(meshNode) ?? []));
  return furthest === undefined ? undefined : meshNodes.find((meshNode) => slotOf(meshNode) === furthest);
}
