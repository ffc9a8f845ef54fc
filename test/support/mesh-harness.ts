import type { Test } from 'tap';
import { createMesh, type MeshOptions } from '../../src/gateway/upstream/mesh/create-mesh.ts';
import type { Mesh, RestingMesh } from '../../src/gateway/upstream/mesh/mesh.ts';
import type { NodeOptions } from '../../src/gateway/upstream/upstream-options.ts';
import type { Commitment } from '../../src/shared/domain/commitment.ts';
import { ManualClock } from './manual-clock.ts';
import { errorBody, type ReplyScript, resultBody, ScriptedNode, waitUntil } from './scripted-node.ts';
import { UPSTREAM_SETTINGS } from './upstream-settings.ts';

export interface MeshHarness {
  readonly mesh: RestingMesh;
  readonly clock: ManualClock;
  /** Problems reported to the operator. */
  readonly problems: string[];
  /** Problems reported to be over. */
  readonly recoveries: string[];
}

export const CONFIRMED = { commitment: 'confirmed' };

/** Starts a scripted node that returns its port as every balance, at its confirmed slot. */
export async function startScriptedNode(t: Test, port?: number): Promise<ScriptedNode> {
  const node = await ScriptedNode.start(port);
  t.teardown(() => node.close());
  node.replies.getBalance = (response, call) =>
    response.end(resultBody(call, `{"context":{"slot":${node.slots.confirmed}},"value":${node.port}}`));
  return node;
}

/** Connects a mesh; resolves when each node is followed or has reported why it is not. */
export async function connectMeshTo(
  t: Test,
  nodes: readonly NodeOptions[],
  options: Partial<MeshOptions> = {},
): Promise<MeshHarness> {
  const clock = new ManualClock();
  const problems: string[] = [];
  const recoveries: string[] = [];
  const mesh = createMesh({
    nodes,
    clock,
    random: () => 0,
    settings: UPSTREAM_SETTINGS,
    onProblem: (id, problem) => problems.push(`${id} ${problem}`),
    onRecovery: (id, recovery) => recoveries.push(`${id} ${recovery}`),
    ...options,
  });
  t.teardown(() => mesh.close());
  await mesh.connect();
  await waitUntil(() =>
    mesh.nodes().every(({ id, ws }) => ws !== 'down' || problems.some((problem) => problem.startsWith(id))),
  );
  return { mesh, clock, problems, recoveries };
}

/** Connects a mesh to scripted nodes, named node-1, node-2 and so on. */
export const connectScripted = (t: Test, nodes: readonly ScriptedNode[], options: Partial<MeshOptions> = {}) =>
  connectMeshTo(
    t,
    nodes.map((node, index) => node.nodeOptions(`node-${index + 1}`)),
    options,
  );

/** Connects a mesh to one scripted node. */
export async function connectOne(t: Test, options?: Partial<MeshOptions>) {
  const node = await startScriptedNode(t);
  return { node, ...(await connectScripted(t, [node], options)) };
}

/** Connects a mesh to two scripted nodes. */
export async function connectTwo(t: Test, options?: Partial<MeshOptions>) {
  const [first, second] = [await startScriptedNode(t), await startScriptedNode(t)];
  return { first, second, ...(await connectScripted(t, [first, second], options)) };
}

export const errorReply =
  (error: string): ReplyScript =>
  (response, call) =>
    response.end(errorBody(call, error));
export const brokenReply: ReplyScript = (response) => response.destroy();

/** Returns the port of the node that answered: scripted nodes return it as the balance. */
export const answeringPort = async (mesh: Mesh) => Number(`${(await mesh.call('getBalance', ['x', CONFIRMED])).value}`);

/** Advances the clock in small steps, with turns for the sockets between them, until a condition holds. */
export async function advanceUntil(clock: ManualClock, condition: () => boolean): Promise<void> {
  const step = setInterval(() => clock.advance(100), 2);
  await waitUntil(condition).finally(() => clearInterval(step));
}

/** Sends a slot notification on all nodes, at every commitment. */
export async function notifyAll({ mesh }: MeshHarness, nodes: readonly ScriptedNode[], slot: number): Promise<void> {
  for (const node of nodes) {
    node.slots = { processed: slot, confirmed: slot - 2, finalized: slot - 32 };
    node.notifySlot(slot);
    for (const commitment of ['confirmed', 'finalized'] satisfies Commitment[]) {
      node.notify('accountSubscribe', `{"context":{"slot":${node.slots[commitment]}},"value":null}`, commitment);
    }
  }
  await waitUntil(() => mesh.tip('finalized') === slot - 32 && mesh.nodes().every((node) => node.slot === slot));
}
