import t, { type Test } from 'tap';
import { connectMesh, type MeshOptions } from '../../src/upstream/connect-mesh.ts';
import type { Mesh } from '../../src/upstream/mesh.ts';
import { ManualClock } from '../manual-clock.ts';
import { GENESIS, ScriptedNode, until } from './scripted-node.ts';
import { SETTINGS } from './settings.ts';

interface World {
  readonly mesh: Mesh;
  readonly clock: ManualClock;
  readonly problems: string[];
}

async function connect(t: Test, nodes: readonly ScriptedNode[], options: Partial<MeshOptions> = {}): Promise<World> {
  const clock = new ManualClock();
  const problems: string[] = [];
  const mesh = await connectMesh({
    nodes: nodes.map((node, index) => node.options(`node-${index + 1}`)),
    clock,
    random: () => 0,
    settings: SETTINGS,
    onProblem: (id, problem) => problems.push(`${id} ${problem}`),
    ...options,
  });
  t.teardown(() => mesh.close());
  return { mesh, clock, problems };
}

t.test('a mesh of one node', async (t) => {
  const node = await ScriptedNode.start();
  t.teardown(() => node.close());
  node.replies.getBalance = '{"context":{"apiVersion":"4.2.2","slot":99},"value":9007199254740993}';
  const { mesh } = await connect(t, [node]);
  t.equal(mesh.cluster, GENESIS);
  t.equal(mesh.tip('processed'), 100);
  const { slot, value } = await mesh.call('getBalance', ['x', { commitment: 'confirmed' }]);
  t.equal(slot, 99);
  t.equal(value.toString(), '9007199254740993');
  await until(() => node.heard.length === 3);
  node.tellSlot(105);
  await until(() => mesh.tip('processed') === 105);
  t.match(mesh.nodes(), [{ id: 'node-1', status: 'ok', slot: 105, behindSlots: 0, ws: 'up' }]);
});
