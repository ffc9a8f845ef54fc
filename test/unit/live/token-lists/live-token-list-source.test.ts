import t from 'tap';
import type { Slot } from '../../../../src/domain/slot.ts';
import { TOKEN_PROGRAMS } from '../../../../src/solana/accounts/token-program-accounts.ts';
import { addressFromByte, mintFixture, tokenAccountFixture } from '../../../support/token-account-fixtures.ts';
import { flushEvents } from '../manual-session.ts';
import { MINT, OWNER, TokenListHarness } from './token-list-harness.ts';

const [A, B, SOMEBODY] = [addressFromByte(21), addressFromByte(22), addressFromByte(9)];
const [TOKEN, TOKEN_2022] = [TOKEN_PROGRAMS['spl-token'], TOKEN_PROGRAMS['spl-token-2022']];

/** A world in which the owner has 5 in one account, kept live. */
async function live(settings: ConstructorParameters<typeof TokenListHarness>[0] = {}): Promise<TokenListHarness> {
  const world = new TokenListHarness(settings);
  world.setAmounts({ [A]: 5 });
  await world.keepLive();
  return world;
}

t.test(
  'I15: a list is live when all that tells of it is taken and it was read twice, with a beacon between',
  async (t) => {
    const world = new TokenListHarness();
    world.setAmounts({ [A]: 5 });
    await world.read();
    t.equal(world.sessions.length, 0, 'what is read once is not watched');
    world.addSlot();
    await world.read();
    await flushEvents();
    const { session } = world;
    t.strictSame([...session.handlers.keys()], [TOKEN, TOKEN_2022]);
    t.equal(world.reads, 0, 'nothing is read before both are taken');
    await world.acknowledge();
    t.strictSame([...session.handlers.keys()], [TOKEN, TOKEN_2022, A, MINT], 'the list names an account, and its mint');
    await world.acknowledge();
    const first = world.slot;
    await world.clockUpdate();
    t.equal(await world.fromState(), undefined, 'a beacon that is not behind the reading is none');
    world.addSlot();
    await world.clockUpdate();
    t.strictSame(await world.fromState(), { slot: first + 1, amounts: { [A]: 5 } });
  },
);

t.test(
  'I15: a list that is kept live costs no read, and claims what the beacon before the last has passed',
  async (t) => {
    const world = await live();
    const { reads, slot } = world;
    for (let i = 1; i < 9; i++) {
      await world.pass(1);
      t.strictSame(await world.fromState(), { slot: slot + i - 1, amounts: { [A]: 5 } });
    }
    t.equal(world.reads, reads);
  },
);

t.test('I15: an amount that changes is read again, and what was claimed without it stays', async (t) => {
  const world = await live();
  const { lease } = await world.read();
  const changed = world.setAmounts({ [A]: 6 });
  await world.notify(A);
  t.match([lease?.state, lease?.slot], ['revoked', changed - 2]);
  t.strictSame(await world.fromState(), { slot: changed, amounts: { [A]: 6 } });
  t.equal(world.source.stats.leaseViolations, 0);
});

t.test('I15: when an account is added the claim stands still until its own subscription is armed', async (t) => {
  const world = await live();
  const { lease } = await world.read();
  const added = world.setAmounts({ [B]: 7 });
  await world.notify(B, 'program');
  t.match([lease?.state, lease?.slot], ['revoked', added - 2]);
  t.ok(world.session.handlers.has(B));
  world.addSlot();
  await world.clockUpdate();
  world.addSlot();
  await world.clockUpdate();
  t.equal(await world.fromState(), undefined, 'its subscription is not taken yet');
  await world.acknowledge();
  t.equal(await world.fromState(), undefined, 'it is taken, but a beacon behind the reading has not come');
  await world.pass(1);
  t.strictSame((await world.fromState())?.amounts, { [A]: 5, [B]: 7 });
});

t.test(
  'I15: an account that is closed or given away leaves the list, which only its own subscription tells',
  async (t) => {
    for (const becomes of [undefined, tokenAccountFixture(SOMEBODY, 5, MINT)]) {
      const world = await live();
      const changed = world.addSlot({ [A]: becomes });
      await world.notify(A);
      t.strictSame(await world.fromState(), { slot: changed, amounts: {} });
      t.strictSame(world.session.unsubscribed, [A, MINT], 'nothing of it is watched any more');
      await world.clockUpdate();
      const { reads } = world;
      await world.pass(3);
      t.strictSame(await world.fromState(), { slot: changed + 2, amounts: {} });
      t.equal(world.reads, reads);
    }
  },
);

t.test('I15: behind a slot that no beacon told of a list is read again, though no change was told of', async (t) => {
  const world = await live();
  const { lease } = await world.read();
  const lost = world.setAmounts({ [A]: 5, [B]: 7 });
  world.addSlot();
  await world.clockUpdate();
  t.match([lease?.state, lease?.slot], ['revoked', lost - 1]);
  t.strictSame(await world.fromState(), undefined, 'the account that was added is not watched yet');
  await world.pass(4);
  t.strictSame((await world.fromState())?.amounts, { [A]: 5, [B]: 7 });
  t.equal(world.source.stats.leaseViolations, 0);
});

t.test('I15: a mint that comes to be shown otherwise is news, its supply is not', async (t) => {
  const world = await live();
  const { reads } = world;
  world.addSlot({ [MINT]: mintFixture(0, 200) });
  await world.notify(MINT);
  await world.clockUpdate();
  await world.pass(2);
  t.strictSame([(await world.fromState())?.slot, world.reads], [world.slot - 1, reads]);
  const changed = world.addSlot({ [MINT]: mintFixture(2, 200) });
  await world.notify(MINT);
  t.equal((await world.fromState())?.slot, changed);
  t.strictSame((await world.read()).list.scales.get(MINT), { decimals: 2 });
});

t.test('I15: a mint that becomes one of the Clock ends it: the list is read each time from then on', async (t) => {
  const world = await live();
  world.addSlot({ [MINT]: mintFixture(0, 200, 500) });
  await world.notify(MINT);
  for (let i = 0; i < 3; i++) {
    await world.pass(1);
    t.equal(await world.fromState(), undefined);
  }
});

t.test('I14: a list of which amounts follow the Clock is never carried on', async (t) => {
  const world = new TokenListHarness();
  world.addSlot({ [MINT]: mintFixture(0, 200, 500), [A]: tokenAccountFixture(OWNER, 5, MINT, TOKEN_2022) });
  await world.keepLive();
  for (let i = 0; i < 3; i++) {
    await world.pass(1);
    const { slot, list, lease } = await world.read();
    t.match(
      { slot, proof: lease, followsClock: list.dependsOnClock },
      { slot: world.slot, proof: undefined, followsClock: true },
    );
  }
});

t.test('I15: a list is read each time where a node tells of no programs, until it is tried again', async (t) => {
  const world = new TokenListHarness({ idleSlots: 10 });
  world.setAmounts({ [A]: 5 });
  await world.read();
  world.addSlot();
  await world.read();
  await flushEvents();
  world.session.refuse(TOKEN_2022);
  t.equal(await world.fromState(), undefined);
  t.strictSame(
    world.session.unsubscribed,
    [],
    'one is not stopped before it is taken: its silence would be that of an equal one',
  );
  await world.acknowledge();
  t.strictSame(world.session.unsubscribed, [TOKEN]);
  for (let i = 0; i < 10; i++) {
    await world.pass(1);
    await world.fromState();
  }
  t.equal(world.session.handlers.size, 0, 'it is not tried again at once');
  await world.pass(1);
  await world.keepLive();
  t.strictSame((await world.fromState())?.amounts, { [A]: 5 });
});

t.test('I15: a list with more accounts than are watched is read each time', async (t) => {
  const world = new TokenListHarness({ maxListMembers: 2 });
  world.setAmounts({ [A]: 5, [B]: 6 });
  await world.keepLive();
  t.strictSame((await world.fromState())?.amounts, { [A]: 5, [B]: 6 });
  world.setAmounts({ [addressFromByte(23)]: 7 });
  await world.notify(addressFromByte(23), 'program');
  await world.pass(5);
  t.equal(await world.fromState(), undefined);
  t.equal((await world.read()).list.accounts.length, 3);
  t.equal(world.session.handlers.size, 0);
});

t.test('I6: a lost line proves nothing more; the list is live again over another one', async (t) => {
  const world = await live();
  const { lease, slot } = await world.read();
  world.session.close();
  t.match([lease?.state, lease?.slot], ['lost', slot]);
  t.equal(await world.fromState(), undefined);
  await world.pass(6);
  t.equal(world.sessions.length, 2);
  t.strictSame((await world.fromState())?.amounts, { [A]: 5 });
});

/** A list that is kept live and has just changed, while its node no longer answers; and a reader of it. */
async function hung() {
  const world = await live();
  world.isHung = true;
  const changed = world.setAmounts({ [A]: 6 });
  await world.notify(A);
  const answers: Slot[] = [];
  const read = async (): Promise<void> => {
    void world.read(world.slot - 1).then(({ slot }) => answers.push(slot));
    await flushEvents();
  };
  await read();
  return { world, changed, answers, read };
}

t.test('a reader waits for a node that hangs no longer than a slot, and who comes later not at all', async (t) => {
  const { world, changed, answers, read } = await hung();
  world.clock.advance(399);
  await flushEvents();
  t.strictSame(answers, []);
  world.clock.advance(1);
  await flushEvents();
  t.strictSame(answers, [changed], 'another node has answered');
  const next = world.setAmounts({ [A]: 7 });
  await world.notify(A);
  await read();
  t.strictSame(answers, [changed, next]);
  t.equal(world.source.stats.leaseViolations, 0);
});

t.test('nobody waits for a node whose line is lost, and the list is live again over another one', async (t) => {
  const { world, changed, answers, read } = await hung();
  world.session.close();
  await flushEvents();
  t.strictSame(answers, [changed]);
  await read();
  t.strictSame(answers, [changed, changed]);
  world.isHung = false; // of what it was asked before it still answers nothing
  await world.pass(6);
  t.equal(world.sessions.length, 2);
  t.strictSame((await world.fromState())?.amounts, { [A]: 6 });
});

t.test('I9: an audit that finds another list below the claim drops all that came over the line', async (t) => {
  const world = await live();
  const { lease } = await world.read();
  world.setAmounts({ [B]: 9 }); // and nothing tells of it
  await world.clockUpdate();
  await world.source.audit();
  t.match([world.source.stats.audited, world.source.stats.leaseViolations], [1, 0], 'the news may be on its way');
  await world.pass(2);
  t.match([world.source.stats.leaseViolations, world.problems.length > 0, world.sessions[0]?.isLost], [1, true, true]);
  t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY, 'nor is it served as stale');
});

t.test('no more lists are watched than are allowed, and those that nobody reads are let go', async (t) => {
  const world = await live({ lists: 1 });
  const other = { owner: SOMEBODY, commitment: 'confirmed', minContextSlot: undefined } as const;
  await world.source.read(other);
  world.addSlot();
  await world.source.read(other);
  t.equal(world.source.stats.size, 1);
  for (let i = 0; i < 120; i++) world.addSlot();
  t.equal(world.source.stats.size, 0);
  await flushEvents();
  t.equal(world.session.handlers.size, 0);
});
