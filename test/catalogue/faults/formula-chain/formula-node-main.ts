import { FormulaChain } from './formula-chain.ts';
import { FormulaNode } from './formula-node.ts';
import type { NodeCommand, NodeReport } from './formula-node-process.ts';

// A node of a formula chain in a process of its own, so that it can be killed and stopped as nodes are.
// argv: the chain's plan as JSON, the port. Takes orders from its parent.

const [plan = '{}', port = '0'] = process.argv.slice(2);
const node = await FormulaNode.start(new FormulaChain(JSON.parse(plan)), Number(port));
const report = (report: NodeReport): void => void process.send?.(report);

process.on('message', (order: NodeCommand) => {
  if (order.name === 'habits') node.behaviour = order.habits;
  report({ name: 'counts', counts: node.counts() });
});
process.on('disconnect', () => process.exit());
report({ name: 'listening', port: node.port });
