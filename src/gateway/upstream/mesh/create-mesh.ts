import { COMMITMENTS } from '../../../shared/domain/commitment.ts';
import { ByteBudget } from '../failsafe/byte-budget.ts';
import type { LearnedLimits } from '../pubsub/subscription-limit.ts';
import { noNodeReachable } from '../rpc/error-normalizer.ts';
import { NodeSlots } from '../rpc/node-slots.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import { type AgreedCallDeps, agreedCall } from './agreed-call.ts';
import { bootstrap } from './bootstrap.ts';
import { Disagreements, type DisagreementsOptions, describeDisagreement } from './disagreements.ts';
import type { RestingMesh } from './mesh.ts';
import { MeshNode } from './mesh-node.ts';
import { openBestSession } from './open-best-session.ts';
import { type RouteCallDeps, routeCall } from './route-call.ts';
import { SlotConsensus } from './slot-consensus.ts';

export interface MeshOptions extends UpstreamDeps {
  /** Nodes in order of preference, where nothing else distinguishes them. */
  readonly nodes: readonly NodeOptions[];
  /** Genesis hash that the nodes must have. Without one the first node to answer decides. */
  readonly expectedGenesisHash?: string | null;
  /** How operators are compared. Default: not at all, as where there is only one. */
  readonly agreement?: MeshAgreement | undefined;
  /** Memory of the subscriptions that each node accepts. Default: that of this process. */
  readonly learnedLimits?: LearnedLimits;
  /** Called with problems for the operator, in texts without secrets: each once, when it starts. */
  readonly onProblem?: (nodeId: string, problem: string) => void;
  readonly onRecovery?: (nodeId: string, recovery: string) => void;
}

export interface MeshAgreement
  extends Omit<DisagreementsOptions, 'clock'>,
    Pick<AgreedCallDeps, 'needed' | 'sampleRate'> {}

const OTHER_GATEWAY = 'another gateway';

export function createMesh(options: MeshOptions): RestingMesh {
  const { nodes, clock, random, settings, onProblem = () => {}, onRecovery = () => {}, learnedLimits } = options;
  const deps: UpstreamDeps = { clock, random, settings };
  const budget = new ByteBudget(settings.inFlightBytes);
  const expectedGenesisHash = options.expectedGenesisHash ?? undefined;
  const consensus: SlotConsensus = new SlotConsensus({
    clock,
    settings,
    expectedGenesisHash,
    onQuarantine: (nodeId, reason) => meshNodes.find(({ id }) => id === nodeId)?.reportQuarantine(reason),
  });
  const meshNodes = nodes.map(
    (node) => new MeshNode({ node, deps, budget, consensus, learnedLimits, onProblem, onRecovery }),
  );
  const reported: NodeSlots = new NodeSlots(clock, (commitment, slot) =>
    consensus.observe(OTHER_GATEWAY, commitment, slot, reported),
  );
  const closing = new AbortController();
  const isClosed = (): boolean => closing.signal.aborted;
  const routing = { ...deps, meshNodes, consensus };
  let genesisHash: string | undefined;

  async function connect(): Promise<string> {
    const contact = await bootstrap(meshNodes, deps, closing.signal);
    genesisHash = contact.genesisHash;
    consensus.start();
    for (const commitment of COMMITMENTS)
      consensus.tips.onTip(commitment, () => {
        for (const meshNode of meshNodes) meshNode.updateLag();
      });
    for (const meshNode of new Set([contact.anchor, ...meshNodes])) meshNode.replaySlots();
    for (const meshNode of meshNodes) meshNode.start();
    // A lease must not lag with its node while another node is healthy.
    consensus.tips.onTip('processed', () => {
      if (!meshNodes.some(({ isHealthy }) => isHealthy)) return;
      for (const { isOutOfSync, sessions } of meshNodes) if (isOutOfSync) sessions.closeAll();
    });
    return contact.genesisHash;
  }

  const call: RpcCaller['call'] = async (method, params = [], callOptions = {}) => {
    if (genesisHash === undefined) throw noNodeReachable();
    const { agree } = callOptions;
    if (agree === undefined || agreement === undefined) return routeCall(routing, method, params, callOptions);
    return agreedCall({ ...routing, ...agreement }, method, params, { ...callOptions, agree });
  };
  const agreement = options.agreement && createAgreement(options.agreement, routing, { call }, isClosed);

  return {
    get genesisHash() {
      return genesisHash;
    },
    connect,
    get apiVersion() {
      return meshNodes.find(({ client }) => client.apiVersion !== undefined)?.client.apiVersion;
    },
    call,
    agreement,
    tip: (commitment) => consensus.tips.newest(commitment),
    acceptsSlot: (...slot) => consensus.acceptsSlot(...slot),
    get slotTimeMs() {
      return consensus.slotTimeMs;
    },
    onTip: (commitment, listener) => consensus.tips.onTip(commitment, listener),
    rest(isResting) {
      for (const meshNode of meshNodes) meshNode.rest(isResting);
    },
    observeSlot(commitment, slot, parent) {
      if (parent !== undefined) consensus.tips.observeParent(slot, parent);
      reported.observe(commitment, slot);
    },
    openSession: () => openBestSession(meshNodes, deps, isClosed),
    nodes: () =>
      meshNodes.map((meshNode) => ({ ...meshNode.status(), operator: shownOperatorOf(meshNode, meshNodes) })),
    figures: () =>
      meshNodes.map((meshNode) => ({
        ...meshNode.figures(),
        disagreements: agreement?.disagreements.countOf(meshNode.id) ?? 0,
      })),
    async close() {
      closing.abort(noNodeReachable());
      await Promise.all(meshNodes.map((meshNode) => meshNode.close()));
    },
  };
}

/** Compares the operators of the nodes. A node that two of them contradict again within an hour is not used any more. */
function createAgreement(
  options: MeshAgreement,
  routing: RouteCallDeps & UpstreamDeps,
  rpc: RpcCaller,
  isClosed: () => boolean,
) {
  const { meshNodes, clock, consensus } = routing;
  const contradictedListeners = new Set<(nodeId: string) => void>();
  return {
    ...options,
    operators: new Set(meshNodes.map(({ operator }) => operator)).size,
    disagreements: new Disagreements({
      clock,
      onUndecided: options.onUndecided,
      onDisagreement(disagreement, isRepeated) {
        options.onDisagreement(disagreement, isRepeated);
        if (!isRepeated || !consensus.isTrusted(disagreement.nodeId)) return;
        consensus.quarantineOf(disagreement.nodeId).contradict(describeDisagreement(disagreement));
        for (const listener of contradictedListeners) listener(disagreement.nodeId);
      },
    }),
    rpc,
    witnessOf: (nodeId: string) => witnessOf(nodeId, routing),
    areOfTwoOperators: (nodeId: string | undefined, other: string | undefined) => {
      const [one, two] = [nodeId, other].map((id) => operatorOf(meshNodes, id));
      return one !== undefined && two !== undefined && one !== two;
    },
    openSessionBeside: (nodeIds: () => readonly string[]) =>
      openBestSession(meshNodes, routing, isClosed, ({ operator }) =>
        nodeIds().every((id) => operatorOf(meshNodes, id) !== operator),
      ),
    onContradicted: (listener: (nodeId: string) => void) => {
      contradictedListeners.add(listener);
    },
  };
}

/** Returns the operator as people see it: in place of an address, which may be private, the first node that it has. */
const shownOperatorOf = ({ operator }: MeshNode, meshNodes: readonly MeshNode[]): string =>
  /^[[\d]|:\d+$/.test(operator) ? (meshNodes.find((other) => other.operator === operator)?.id ?? operator) : operator;

const operatorOf = (meshNodes: readonly MeshNode[], nodeId: string | undefined): string | undefined =>
  meshNodes.find(({ id }) => id === nodeId)?.operator;

/** Returns what calls the nodes of other operators than a node's own. */
function witnessOf(nodeId: string, deps: RouteCallDeps): RpcCaller {
  const own = operatorOf(deps.meshNodes, nodeId);
  const meshNodes = deps.meshNodes.filter(({ operator }) => operator !== own);
  return { call: (method, params = [], options = {}) => routeCall({ ...deps, meshNodes }, method, params, options) };
}
