import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { hedgedFailover } from '../failsafe/hedge.ts';
import { elements, isNull } from '../json/raw-json.ts';
import { callCounter } from '../rpc/call-counter.ts';
import { noNodeReachable, rateLimited, rpcFaultOf } from '../rpc/error-normalizer.ts';
import {
  commitmentOf,
  isOfRecent,
  isSlotLowerBound,
  minContextSlotOf,
  withMinContextSlot,
} from '../rpc/response-slot.ts';
import { meaningOfCode, RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { CallOptions, RpcResponse } from '../rpc/rpc-response.ts';
import { MAX_LAG_SLOTS, type MeshNode } from './mesh-node.ts';
import { rendezvousOrder, weightedRandomOrder } from './node-selection.ts';
import type { SlotConsensus } from './slot-consensus.ts';

/** Methods that reach far back: only an archival node can say that there is nothing. */
const HISTORY_METHODS: ReadonlySet<RpcMethod> = new Set(['getBlock', 'getBlockTime', 'getTransaction']);

/** Methods that reach far back for each of a list. */
const LIST_METHODS: ReadonlySet<RpcMethod> = new Set(['getSignatureStatuses', 'getInflationReward']);

/** Methods of which a node answers a part where it has forgotten the rest, and does not say so. */
const LEDGER_METHODS: ReadonlySet<RpcMethod> = new Set([
  'getSignaturesForAddress',
  'getBlocks',
  'getBlocksWithLimit',
  'getFirstAvailableBlock',
  'minimumLedgerSlot',
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
  wanted: readonly unknown[],
  options: CallOptions,
): Promise<RpcResponse> {
  const {
    commitment: anchorCommitment = 'confirmed',
    minSlot = 0,
    isLarge = false,
    cost,
    deadlineMs: latestMs = Number.POSITIVE_INFINITY,
  } = options;
  const commitment = commitmentOf(method, wanted) ?? anchorCommitment;
  const ordered = nodesFor({ meshNodes, random }, method, wanted, options);
  const [first] = ordered;
  if (first === undefined) throw noNodeReachable();
  const isOfLedger = LEDGER_METHODS.has(method);
  const archival = ordered.filter((node) => (isOfLedger ? isReadyArchive(node, method, commitment) : node.isArchival));
  const params = isOfLedger ? heldToReached(wanted, archival, commitment, minSlot) : wanted;
  const minContextSlot = Math.max(minContextSlotOf(params) ?? 0, minSlot);

  const deadlineMs = Math.min(clock.monotonic() + first.client.timeoutMs(method, isLarge), latestMs);
  const oldestUsableSlot =
    Math.min(consensus.tips.newest(anchorCommitment) ?? 0, consensus.tips.newest(commitment) ?? 0) - MAX_LAG_SLOTS;
  const mayForget = ({ isArchival }: MeshNode): boolean => !isArchival && archival.length > 0;
  const doubted = new Set<unknown>();
  let archiveIsBehind: unknown;
  const onSent = callCounter(cost, method);
  const attempts = ordered.map((meshNode) => async (onNotNeeded: (listener: () => void) => void) => {
    if (clock.monotonic() >= deadlineMs) throw new GatewayError('upstream_timeout', 'no node answered in time');
    const call = { anchorCommitment, minSlot: minContextSlot, deadlineMs, isLarge, cost, onSent, onNotNeeded };
    const response = await meshNode.call(method, params, call).catch((thrown: unknown) => {
      if (mayForget(meshNode) && isAbsence(thrown)) doubted.add(thrown);
      if (isOfLedger && archival.includes(meshNode) && isBehind(thrown)) archiveIsBehind = thrown;
      throw thrown;
    });
    return { meshNode, response };
  });
  const { meshNode, response } = await hedgedFailover({
    attempts,
    clock,
    hedgeAfterMs: first.client.hedgeAfterMs(method, isLarge),
    onHedge: () => {
      first.client.counts.hedges++;
    },
    isAcceptable({ meshNode, response }) {
      if (response.slot < oldestUsableSlot && !isSlotLowerBound(method, params)) return false;
      return !mayForget(meshNode) || !mayMiss(method, params, response.value);
    },
    isFinal: (thrown) => failsAlike(thrown) && !doubted.has(thrown),
    isLessInformative: (thrown, than) => informativeness(thrown) < informativeness(than),
  });
  if (archiveIsBehind !== undefined && mayForget(meshNode)) throw archiveIsBehind; // it will reach the slot in a moment
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
  const ordered = ranked.map(({ meshNode }) => meshNode);
  if (LEDGER_METHODS.has(method)) {
    const isFirst = (node: MeshNode): boolean => isReadyArchive(node, method, commitment);
    return [...ordered.filter(isFirst), ...ordered.filter((node) => !isFirst(node))];
  }
  return reachesBack(method, params) ? archivalSecond(ordered) : ordered;
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

const reachesBack = (method: RpcMethod, params: readonly unknown[]): boolean =>
  HISTORY_METHODS.has(method) || (LIST_METHODS.has(method) && !isOfRecent(method, params));

/** Returns true if a result may leave out what its node has forgotten. */
function mayMiss(method: RpcMethod, params: readonly unknown[], value: Buffer): boolean {
  if (LEDGER_METHODS.has(method)) return true;
  if (!reachesBack(method, params)) return false;
  return LIST_METHODS.has(method) ? elements(value).some(isNull) : isNull(value);
}

/** Returns true for an archival node that no other outranks, but for one that is a moment ahead. */
const isReadyArchive = (node: MeshNode, method: RpcMethod, commitment: Commitment): boolean =>
  node.isArchival && node.candidateFor(method, commitment).rank === 0;

function archivalSecond([first, ...rest]: readonly MeshNode[]): readonly MeshNode[] {
  const next = [...rest.filter(({ isArchival }) => isArchival), ...rest.filter(({ isArchival }) => !isArchival)];
  return first === undefined ? next : [first, ...next];
}

/**
 * Lowers the `minContextSlot` to a slot that an archival node has reached, but not below `minSlot`: one that is a moment
 * behind would refuse, and another leave out what it has forgotten.
 */
function heldToReached(
  params: readonly unknown[],
  archival: readonly MeshNode[],
  commitment: Commitment,
  minSlot: Slot,
): readonly unknown[] {
  const slots = archival.flatMap(({ client }) => client.slots.latest(commitment) ?? []);
  const wanted = minContextSlotOf(params) ?? 0;
  const reached = Math.max(minSlot, ...slots);
  return slots.length === 0 || wanted <= reached ? params : withMinContextSlot(params, reached);
}

const TERMINAL = 3;
/** A node that has forgotten what it is called for says less than one that keeps it, and more than one that has no such method. */
const [FORGOTTEN, NO_METHOD] = [1.5, 1.25];

/** Returns true for a refusal since there is nothing, or no more. */
const isAbsence = (thrown: unknown): boolean => thrown instanceof GatewayError && thrown.status === 404;

const isBehind = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.rpcCode === RPC_ERROR_CODE.minContextSlotNotReached;

export const failsAlike = (thrown: unknown): boolean => informativeness(thrown) === TERMINAL;

/**
 * Rates how much a failure says: {@link TERMINAL} if every node would fail alike, 0 if the node didn't answer. That a node has no
 * index says less than that: the one that didn't answer may have it.
 */
export function informativeness(thrown: unknown): number {
  if (!(thrown instanceof GatewayError)) return TERMINAL; // a defect
  if (thrown.code === 'overloaded') return 0; // no request was sent: another node may have capacity
  if (thrown.rpcCode === RPC_ERROR_CODE.keyExcludedFromSecondaryIndex) return -1;
  const meaning = meaningOfCode(thrown.rpcCode);
  if (meaning === RPC_ERROR_CODE.blockCleanedUp) return FORGOTTEN;
  if (meaning === RPC_ERROR_CODE.methodNotFound || meaning === RPC_ERROR_CODE.firedancerLimit) return NO_METHOD;
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
