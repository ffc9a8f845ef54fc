import { FormulaChain } from './formula-chain.ts';
import { FormulaNode } from './formula-node.ts';
import type { NodeCommand, NodeReport } from './formula-node-process.ts';

// Runs a formula node in a process. argv: the chain's parameters as JSON. It receives commands from its parent.

const node = await FormulaNode.start(new FormulaChain(JSON.parse(process.argv[2] ?? '{}')));
const report = (report: NodeReport): void => void process.send?.(report);

process.on('message', (order: NodeCommand) => {
  Object.assign(node, order);
  report({ name: 'counts', counts: node.counts() });
});
process.on('disconnect', () => process.exit());
report({ name: 'listening', port: node.port });
