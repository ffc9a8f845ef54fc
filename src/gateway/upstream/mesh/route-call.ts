import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import { hedgedFailover } from '../failsafe/hedge.ts';
import { callCounter } from '../rpc/call-counter.ts';
import { noNodeReachable, rateLimited, rpcFaultOf } from '../rpc/error-normalizer.ts';
import { commitmentOf, isSlotLowerBound, minContextSlotOf } from '../rpc/response-slot.ts';
import type { CallOptions, RpcResponse } from '../rpc/rpc-response.ts';
import type { MeshNode } from './mesh-node.ts';
import { MAX_LAG_SLOTS } from './node-lag.ts';
import { rendezvousOrder, weightedRandomOrder } from './node-selection.ts';
import type { SlotConsensus } from './slot-consensus.ts';

/** Methods that reach far back: only an archival node can say that there is nothing. */
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
  readonly consensus: SlotConsensus;
}

/** Calls the best node for a method, and others where they may do better, all within one time limit. */
export async function routeCall(
  { meshNodes, clock, random, consensus }: RouteCallDeps,
  method: RpcMethod,
  params: readonly unknown[],
  options: CallOptions,
): Promise<RpcResponse> {
  const {
    commitment: anchorCommitment = 'confirmed',
    minSlot = 0,
    isLarge = false,
    cost,
    deadlineMs: latestMs = Number.POSITIVE_INFINITY,
  } = options;
  const commitment = commitmentOf(method, params) ?? anchorCommitment;
  const minContextSlot = Math.max(minContextSlotOf(params) ?? 0, minSlot);
  const ordered = nodesFor({ meshNodes, random }, method, params, options);
  const [first] = ordered;
  if (first === undefined) throw noNodeReachable();

  const deadlineMs = Math.min(clock.monotonic() + first.client.timeoutMs(method, isLarge), latestMs);
  const oldestUsableSlot =
    Math.min(consensus.tip(anchorCommitment) ?? 0, consensus.tip(commitment) ?? 0) - MAX_LAG_SLOTS;
  const hasArchival = ordered.some(({ isArchival }) => isArchival);
  const onSent = callCounter(cost, method);
  const attempts = ordered.map((meshNode) => async (onNotNeeded: (listener: () => void) => void) => {
    if (clock.monotonic() >= deadlineMs) throw new GatewayError('upstream_timeout', 'no node answered in time');
    return {
      meshNode,
      response: await meshNode.call(method, params, {
        anchorCommitment,
        minSlot: minContextSlot,
        deadlineMs,
        isLarge,
        cost,
        onSent,
        onNotNeeded,
      }),
    };
  });
  const { response } = await hedgedFailover({
    attempts,
    clock,
    hedgeAfterMs: first.client.hedgeAfterMs(method, isLarge),
    onHedge: () => {
      first.client.counts.hedges++;
    },
    isAcceptable({ meshNode, response: { slot, result } }) {
      if (slot < oldestUsableSlot && !isSlotLowerBound(method, params)) return false;
      return (
        meshNode.isArchival ||
        !hasArchival ||
        !HISTORY_METHODS.has(method) ||
        result.toString('latin1', 0, 4) !== 'null'
      );
    },
    isFinal: failsAlike,
    isLessInformative: (thrown, than) => informativeness(thrown) < informativeness(than),
  });
  return response;
}

/** Returns the nodes that may be called, the best first. Throws when all are rate-limited. */
export function nodesFor(
  { meshNodes, random }: Pick<RouteCallDeps, 'meshNodes' | 'random'>,
  method: RpcMethod,
  params: readonly unknown[],
  { commitment: anchorCommitment = 'confirmed', minSlot = 0, affinity }: CallOptions,
): readonly MeshNode[] {
  const commitment = commitmentOf(method, params) ?? anchorCommitment;
  const minContextSlot = Math.max(minContextSlotOf(params) ?? 0, minSlot);
  const callable = callableNodes(meshNodes, method);
  if (callable.length < 2) return callable;
  const candidates = callable.map((meshNode) => ({
    meshNode,
    ...meshNode.candidateFor(method, commitment, minContextSlot),
  }));
  const ranked =
    affinity === undefined ? weightedRandomOrder(candidates, random) : rendezvousOrder(candidates, affinity);
  return archivalSecond(
    ranked.map(({ meshNode }) => meshNode),
    method,
  );
}

/** Finds the nodes that may be called now. Throws when all are rate-limited, with the time to wait. */
function callableNodes(meshNodes: readonly MeshNode[], method: RpcMethod): readonly MeshNode[] {
  const allowed = meshNodes.filter(
    ({ isTrusted, methodSupport, client }) =>
      isTrusted && methodSupport.isAllowed(method) && client.breaker.allowsAttempt,
  );
  const notRateLimited = allowed.filter(({ client }) => client.pauseSeconds(method) === 0);
  const complete = notRateLimited.filter(({ server }) => !server.incomplete.has(method));
  if (complete.length > 0) return complete; // what another calls absent may exist
  if (notRateLimited.length > 0 || allowed.length === 0) return notRateLimited;
  throw rateLimited(Math.min(...allowed.map(({ client }) => client.pauseSeconds(method))));
}

/** Puts archival nodes next after the first for methods that reach far back. */
function archivalSecond(ordered: readonly MeshNode[], method: RpcMethod): readonly MeshNode[] {
  const [first, ...rest] = ordered;
  if (first === undefined || !HISTORY_METHODS.has(method)) return ordered;
  return [first, ...rest.filter(({ isArchival }) => isArchival), ...rest.filter(({ isArchival }) => !isArchival)];
}

const TERMINAL = 3;

/** Returns true for a failure that every node would give alike. */
export const failsAlike = (thrown: unknown): boolean => informativeness(thrown) === TERMINAL;

/** Rates how much a failure says: {@link TERMINAL} if every node would fail alike, 0 if the node didn't answer. */
function informativeness(thrown: unknown): number {
  if (!(thrown instanceof GatewayError)) return TERMINAL; // a defect
  if (thrown.code === 'overloaded') return 0; // no request was sent: another node may have capacity
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
