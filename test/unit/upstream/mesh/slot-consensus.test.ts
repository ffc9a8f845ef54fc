import t from 'tap';
import { SlotConsensus } from '../../../../src/upstream/mesh/slot-consensus.ts';
import { NodeSlots } from '../../../../src/upstream/rpc/node-slots.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SETTINGS = { maxJump: 64, steadySlots: 8, silenceMs: 2000 };

function setUp(expectedGenesisHash?: string) {
  const clock = new ManualClock();
  const problems: string[] = [];
  const consensus = new SlotConsensus({
    clock,
    settings: SETTINGS,
    expectedGenesisHash,
    onQuarantine: (nodeId, reason) => problems.push(`${nodeId}: ${reason}`),
  });
  const node = (id: string): NodeSlots => {
    const slots: NodeSlots = new NodeSlots(clock, (commitment, slot) => consensus.observe(id, commitment, slot, slots));
    return slots;
  };
  return { clock, consensus, problems, node };
}

t.test('an accepted slot advances the tips of its commitment and the weaker ones', async (t) => {
  const { consensus, node } = setUp();
  const tips: number[] = [];
  consensus.onTip('processed', (slot) => tips.push(slot));
  const slots = node('a');
  slots.observe('confirmed', 100);
  t.equal(consensus.tip('confirmed'), undefined, 'nothing is accepted before the start');
  consensus.start();
  slots.observe('confirmed', 101);
  t.strictSame(
    [consensus.tip('processed'), consensus.tip('confirmed'), consensus.tip('finalized')],
    [101, 101, undefined],
  );
  slots.observe('processed', 100);
  t.strictSame(tips, [101], 'a tip never goes back');
});

t.test(
  'I10: the first genesis hash decides, and a node with another one is quarantined until it has the same',
  async (t) => {
    const { consensus, problems } = setUp();
    t.ok(consensus.verifyGenesis('a', 'genesis'));
    t.notOk(consensus.verifyGenesis('b', 'other'));
    t.notOk(consensus.verifyGenesis('b', 'other'));
    t.strictSame([consensus.isTrusted('a'), consensus.isTrusted('b')], [true, false]);
    t.strictSame(problems, ['b: it is of another cluster: its genesis hash is other, not genesis'], 'reported once');
    t.strictSame([consensus.isForeign('a'), consensus.isForeign('b')], [false, true]);
    t.ok(consensus.verifyGenesis('b', 'genesis'));
    t.ok(consensus.isTrusted('b'));
    t.notOk(setUp('expected').consensus.verifyGenesis('a', 'genesis'));
  },
);

t.test(
  'I13, I16: a node that goes back or jumps is quarantined with its reason, and its responses are rejected',
  async (t) => {
    const { clock, consensus, problems, node } = setUp();
    consensus.start();
    const [a, b] = [node('a'), node('b')];
    a.observe('processed', 5000);
    b.observe('processed', 5000);
    b.observe('processed', 3000);
    t.equal(consensus.quarantineReason('b'), 'it went back from slot 5000 to 3000');
    t.notOk(consensus.acceptsResponse('b', 4999));
    clock.advance(400);
    a.observe('processed', 9000);
    t.equal(consensus.quarantineReason('a'), 'it jumped to slot 9000');
    t.equal(consensus.tip('processed'), 5000);
    a.observe('processed', 5001);
    t.equal(consensus.quarantineReason('a'), undefined);
    t.ok(consensus.acceptsResponse('a', 5001));
    t.equal(problems.length, 2);
  },
);
