import { FormulaChain } from './formula-chain.ts';
import { FormulaNode } from './formula-node.ts';
import type { NodeCommand, NodeReport } from './formula-node-process.ts';

// Runs a formula node in a process, so that it can be killed and stopped. argv: the chain's parameters as JSON, the
// port. Takes commands from its parent.

const [plan = '{}', port = '0'] = process.argv.slice(2);
const node = await FormulaNode.start(new FormulaChain(JSON.parse(plan)), Number(port));
const report = (report: NodeReport): void => void process.send?.(report);

process.on('message', (order: NodeCommand) => {
  if (order.name === 'habits') node.behaviour = order.habits;
  report({ name: 'counts', counts: node.counts() });
});
process.on('disconnect', () => process.exit());
report({ name: 'listening', port: node.port });
