import type { NodeStatus } from './mesh.ts';

/** Lists the nodes that are not in order, each with the reason: `node-1: connection refused`. */
export const describeProblems = (nodes: readonly Pick<NodeStatus, 'id' | 'status' | 'problem'>[]): readonly string[] =>
  nodes.flatMap(({ id, problem }) => (problem === null ? [] : [`${id}: ${problem}`]));
