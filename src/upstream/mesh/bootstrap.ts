import { noNodeReachable } from '../rpc/error-normalizer.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import { highestAgreedSlot } from './jump-guard.ts';
import type { MeshNode } from './mesh-node.ts';

/** How a mesh begins. */
export interface BootstrapResult {
  /** The genesis hash of its nodes. */
  readonly genesisHash: string;
  /** Whose slots are believed first. */
  readonly anchor: MeshNode;
}

/**
 * Asks the nodes in order, again and again, until one is of our cluster, and gives the others a moment to be heard too:
 * where two of them agree on where the chain is, one that says otherwise doesn't begin. Throws `upstream_unavailable`.
 */
export async function bootstrap(
  meshNodes: readonly MeshNode[],
  { clock, settings }: UpstreamDeps,
): Promise<BootstrapResult> {
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const deadlineMs = clock.monotonic() + settings.startMs;
  for (let cause: unknown; ; ) {
    for (const first of meshNodes) {
      try {
        const genesisHash = await first.verifyGenesis();
        const rest = meshNodes.filter((meshNode) => meshNode !== first);
        await Promise.race([
          Promise.allSettled(rest.map((meshNode) => meshNode.verifyGenesis())),
          sleep(settings.backoffMaxMs),
        ]);
        return { genesisHash, anchor: furthestAgreedNode(meshNodes) ?? first };
      } catch (thrown) {
        cause = thrown;
      }
    }
    if (clock.monotonic() + settings.backoffMinMs > deadlineMs) throw noNodeReachable(cause);
    await sleep(settings.backoffMinMs);
  }
}

/** The node that is furthest of those that have another near them. */
function furthestAgreedNode(meshNodes: readonly MeshNode[]): MeshNode | undefined {
  const slotOf = ({ isTrusted, client }: MeshNode) => (isTrusted ? client.slots.latest('processed') : undefined);
  const furthest = highestAgreedSlot(meshNodes.flatMap((meshNode) => slotOf(meshNode) ?? []));
  return furthest === undefined ? undefined : meshNodes.find((meshNode) => slotOf(meshNode) === furthest);
}
