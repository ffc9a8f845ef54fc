import { FormulaChain } from '../test/catalogue/faults/formula-chain/formula-chain.ts';
import { FormulaNode } from '../test/catalogue/faults/formula-chain/formula-node.ts';

// Forked: a node of a chain where every account changes in every slot. It sends its port to the parent, then the time
// of each slot notification. argv: milliseconds per slot.

/** A slot notification that is about to be sent. */
export interface SlotNotification {
  readonly commitment: string;
  readonly slot: number;
  readonly atMs: number;
}

const slotMs = Number(process.argv[2]);
const genesis = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const originMs = Date.now() - 100 * slotMs;
const node = await FormulaNode.start(
  new FormulaChain({ genesis, originMs, slotMs, maxUnchangedSlots: 1, forks: false }),
  0,
);
node.onNotify = (commitment, slot) => {
  const telling: SlotNotification = { commitment, slot, atMs: Number(process.hrtime.bigint()) / 1e6 };
  setImmediate(() => process.send?.(telling)); // after the subscribers
};
process.on('disconnect', () => process.exit());
process.send?.(node.port);
