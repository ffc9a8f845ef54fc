import type { Clock } from '../../domain/clock.ts';
import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import { hedgedFailover } from '../failsafe/hedge.ts';
import { noNodeReachable, rateLimited, rpcFaultOf } from '../rpc/error-normalizer.ts';
import { commitmentOf, isSlotLowerBound, minContextSlotOf } from '../rpc/response-slot.ts';
import type { CallOptions, RpcResponse } from '../rpc/rpc-response.ts';
import { MAX_LAG_SLOTS, type MeshNode } from './mesh-node.ts';
import { rendezvousOrder, weightedRandomOrder } from './node-selection.ts';

/** What lies far back, and what only a node that keeps it all can deny. */
const HISTORY_METHODS: ReadonlySet<RpcMethod> = new Set([
  'getBlock',
  'getBlockTime',
  'getTransaction',
  'getSignaturesForAddress',
]);

export interface RouteCallDeps {
  readonly meshNodes: readonly MeshNode[];
  readonly clock: Clock;
  readonly random: () => number;
  tip(commitment: Commitment): Slot | undefined;
}

/** Reads from the node that is best for it, and from the others where they may do better. All within one time limit. */
export async function routeCall(
  { meshNodes, clock, random, tip }: RouteCallDeps,
  method: RpcMethod,
  params: readonly unknown[],
  { commitment: anchorCommitment = 'confirmed', minSlot = 0, affinity }: CallOptions,
): Promise<RpcResponse> {
  const commitment = commitmentOf(params) ?? anchorCommitment;
  const minContextSlot = Math.max(minContextSlotOf(params) ?? 0, minSlot);
  const candidates = callableNodes(meshNodes, method).map((member) => ({
    member,
    ...member.candidateFor(method, commitment, minContextSlot),
  }));
  const ranked =
    affinity === undefined ? weightedRandomOrder(candidates, random) : rendezvousOrder(candidates, affinity);
  const ordered = archivalSecond(
    ranked.map(({ member }) => member),
    method,
  );
  const [first] = ordered;
  if (first === undefined) throw noNodeReachable();

  const deadlineMs = clock.monotonic() + first.client.timeoutMs(method);
  const oldestUsableSlot = Math.min(tip(anchorCommitment) ?? 0, tip(commitment) ?? 0) - MAX_LAG_SLOTS;
  const hasArchival = ordered.some(({ isArchival }) => isArchival);
  const attempts = ordered.map((member) => async () => {
    if (clock.monotonic() >= deadlineMs) throw new GatewayError('upstream_timeout', 'no node answered in time');
    return {
      member,
      response: await member.call(method, params, { anchorCommitment, minSlot: minContextSlot, deadlineMs }),
    };
  });
  const { response } = await hedgedFailover({
    attempts,
    clock,
    hedgeAfterMs: first.client.hedgeAfterMs(method),
    isAcceptable({ member, response: { slot, result } }) {
      if (slot < oldestUsableSlot && !isSlotLowerBound(method, params)) return false;
      return (
        member.isArchival || !hasArchival || !HISTORY_METHODS.has(method) || result.toString('latin1', 0, 4) !== 'null'
      );
    },
    isFinal: (thrown) => informativeness(thrown) === TERMINAL,
    isLessInformative: (thrown, than) => informativeness(thrown) < informativeness(than),
  });
  return response;
}

/** Those that may be asked now. Throws when there is none, with the time to wait if they want to be left alone. */
function callableNodes(meshNodes: readonly MeshNode[], method: RpcMethod): readonly MeshNode[] {
  const allowed = meshNodes.filter(
    ({ isTrusted, methodSupport, client }) =>
      isTrusted && methodSupport.isAllowed(method) && client.breaker.allowsAttempt,
  );
  const notRateLimited = allowed.filter(({ client }) => client.pauseSeconds(method) === 0);
  if (notRateLimited.length > 0 || allowed.length === 0) return notRateLimited;
  throw rateLimited(Math.min(...allowed.map(({ client }) => client.pauseSeconds(method))));
}

/** A node that keeps the whole ledger is the next to ask after one that doesn't know. */
function archivalSecond(ordered: readonly MeshNode[], method: RpcMethod): readonly MeshNode[] {
  const [first, ...rest] = ordered;
  if (first === undefined || !HISTORY_METHODS.has(method)) return ordered;
  return [first, ...rest.filter(({ isArchival }) => isArchival), ...rest.filter(({ isArchival }) => !isArchival)];
}

const TERMINAL = 3;

/** How much a failure says: {@link TERMINAL} when it would be the same everywhere, least when the node didn't speak. */
function informativeness(thrown: unknown): number {
  if (!(thrown instanceof GatewayError)) return TERMINAL; // a defect
  if (thrown.code === 'overloaded') return 0; // not even asked: another may have room
  switch (rpcFaultOf(thrown)) {
    case 'caller':
    case 'fact':
      return TERMINAL;
    case 'not-yet':
    case 'node-limit':
      return 2;
    case 'rate-limit':
      return 1;
    case 'transport':
      return 0;
  }
}
