import t from 'tap';
import type { Slot } from '../../../../src/domain/slot.ts';
import { findMetadataAddress } from '../../../../src/solana/accounts/metaplex-metadata-account.ts';
import { TOKEN_PROGRAMS } from '../../../../src/solana/accounts/token-program-accounts.ts';
import {
  accountJson,
  addressFromByte,
  metadataFixture,
  mintFixture,
  namedMintFixture,
  tokenAccountFixture,
} from '../../../support/token-account-fixtures.ts';
import { flushEvents } from '../manual-session.ts';
import { MINT, OWNER, TokenListHarness } from './token-list-harness.ts';

const [A, B, SOMEBODY] = [addressFromByte(21), addressFromByte(22), addressFromByte(9)];
const [TOKEN, TOKEN_2022] = [TOKEN_PROGRAMS['spl-token'], TOKEN_PROGRAMS['spl-token-2022']];

/** Opens a harness in which the owner has 5 tokens in one account, kept live. */
async function live(settings: ConstructorParameters<typeof TokenListHarness>[0] = {}): Promise<TokenListHarness> {
  const harness = new TokenListHarness(settings);
  harness.setAmounts({ [A]: 5 });
  await harness.keepLive();
  return harness;
}

t.test(
  'I15: a list is kept live after all subscriptions are acknowledged and two reads with a Clock update between',
  async (t) => {
    const harness = new TokenListHarness();
    harness.setAmounts({ [A]: 5 });
    await harness.read();
    t.equal(harness.sessions.length, 0, 'a list that is read once is not kept live');
    harness.addSlot();
    await harness.read();
    await flushEvents();
    const { session } = harness;
    t.strictSame([...session.handlers.keys()], [TOKEN, TOKEN_2022]);
    t.equal(harness.reads, 0, 'nothing is read before both are acknowledged');
    await harness.acknowledge();
    t.strictSame(
      [...session.handlers.keys()],
      [TOKEN, TOKEN_2022, MINT, findMetadataAddress(MINT), A],
      'the list names an account, its mint, and the account that names the mint',
    );
    await harness.acknowledge();
    const first = harness.slot;
    await harness.clockUpdate();
    t.equal(await harness.fromState(), undefined, 'a Clock update that is not newer than the read does not count');
    harness.addSlot();
    await harness.clockUpdate();
    t.strictSame(await harness.fromState(), { slot: first + 1, amounts: { [A]: 5 } });
  },
);

t.test('I15: a live list costs no read, and is dated at the Clock update before the last', async (t) => {
  const harness = await live();
  const { reads, slot } = harness;
  for (let i = 1; i < 9; i++) {
    await harness.pass(1);
    t.strictSame(await harness.fromState(), { slot: slot + i - 1, amounts: { [A]: 5 } });
  }
  t.equal(harness.reads, reads);
});

t.test(
  'I15: a change of an account is applied without a read, when all changes of its slot have arrived',
  async (t) => {
    const harness = await live();
    const { lease } = await harness.read();
    const { reads } = harness;
    const changed = harness.setAmounts({ [A]: 6 });
    await harness.notify(A);
    t.match([lease?.state, lease?.slot], ['revoked', changed - 2]);
    t.strictSame(
      await harness.fromState(),
      { slot: changed - 2, amounts: { [A]: 5 } },
      'the old list up to its last slot',
    );
    await harness.clockUpdate();
    t.strictSame((await harness.fromState())?.amounts, { [A]: 5 }, 'another change of that slot may be on its way');
    harness.addSlot();
    await harness.clockUpdate();
    t.strictSame(await harness.fromState(), { slot: changed, amounts: { [A]: 6 } });
    await harness.pass(2);
    t.strictSame(await harness.fromState(), { slot: changed + 2, amounts: { [A]: 6 } }, 'its lease advances');
    t.equal(harness.reads, reads);
    t.equal(harness.source.stats.leaseViolations, 0);
  },
);

t.test('I15: an account that changes in each slot is followed, one slot behind', async (t) => {
  const harness = await live();
  const { reads } = harness;
  for (let amount = 6; amount < 12; amount++) {
    const changed = harness.setAmounts({ [A]: amount });
    await harness.notify(A, 'program');
    await harness.notify(A);
    await harness.clockUpdate();
    if (amount > 6) t.strictSame(await harness.fromState(), { slot: changed - 1, amounts: { [A]: amount - 1 } });
  }
  t.equal(harness.reads, reads);
});

t.test('I15: a reader that wants the slot of a change waits for the Clock update that completes it', async (t) => {
  const harness = await live();
  const changed = harness.setAmounts({ [A]: 6 });
  await harness.notify(A);
  const slots: Slot[] = [];
  void harness.read(changed).then(({ slot }) => slots.push(slot));
  await harness.clockUpdate();
  t.strictSame(slots, []);
  harness.addSlot();
  await harness.clockUpdate();
  t.strictSame(slots, [changed]);
});

t.test('I9: a change of a slot that was complete already is a violation', async (t) => {
  const harness = await live();
  const changed = harness.setAmounts({ [A]: 6 });
  await harness.notify(A);
  await harness.clockUpdate();
  await harness.pass(1);
  t.equal((await harness.fromState())?.slot, changed);
  harness.session.notify(A, changed, accountJson(tokenAccountFixture(OWNER, 7, MINT)));
  t.equal(harness.source.stats.leaseViolations, 1);
});

t.test('I9: so is one of such a slot that only a read can show', async (t) => {
  for (const address of [MINT, B]) {
    const harness = await live();
    const changed = harness.setAmounts({ [A]: 6 });
    await harness.notify(A);
    await harness.clockUpdate();
    await harness.pass(1);
    t.equal((await harness.fromState())?.slot, changed);
    const late =
      address === MINT
        ? ([MINT, accountJson(mintFixture(2, 100))] as const)
        : ([TOKEN, `{"pubkey":"${B}","account":${accountJson(tokenAccountFixture(OWNER, 7, MINT))}}`] as const);
    harness.session.notify(late[0], changed, late[1]);
    t.equal(harness.source.stats.leaseViolations, 1);
  }
});

t.test('I4: of two changes of an account the one of the newer slot counts, whichever comes first', async (t) => {
  const harness = await live();
  const older = harness.setAmounts({ [A]: 6 });
  const newer = harness.setAmounts({ [A]: 7 });
  harness.session.notify(A, newer, accountJson(tokenAccountFixture(OWNER, 7, MINT)));
  harness.session.notify(A, older, accountJson(tokenAccountFixture(OWNER, 6, MINT)));
  harness.session.ancestry.record(newer, older - 1);
  await harness.clockUpdate();
  await harness.pass(1);
  t.strictSame(await harness.fromState(), { slot: newer, amounts: { [A]: 7 } });
});

t.test('I15: a mint that is closed while no listed account holds it has another scale afterwards', async (t) => {
  const harness = new TokenListHarness();
  harness.addSlot({ [MINT]: mintFixture(2, 0) });
  harness.setAmounts({ [A]: 0 });
  await harness.keepLive();
  for (const change of [
    { [A]: tokenAccountFixture(SOMEBODY, 0, MINT) },
    { [MINT]: undefined },
    { [A]: tokenAccountFixture(OWNER, 0, MINT) },
  ]) {
    harness.addSlot(change);
    for (const address of Object.keys(change)) await harness.notify(address);
    await harness.notify(A, 'program'); // only of accounts of the owner, which is not checked here
    await harness.clockUpdate();
    await harness.pass(6);
  }
  await harness.pass(6);
  const { list } = await harness.read();
  t.equal(list.accounts.length, 1);
  t.equal(list.scales.get(MINT), undefined);
});

t.test('I9: a Metaplex account that no name is taken from is no difference', async (t) => {
  const harness = new TokenListHarness();
  const metadata = findMetadataAddress(MINT);
  harness.addSlot({ [MINT]: namedMintFixture(MINT, 'Own') });
  harness.setAmounts({ [A]: 5 });
  await harness.keepLive();
  t.notOk(harness.session.handlers.has(metadata));
  harness.addSlot({ [metadata]: metadataFixture(MINT, 'Other', 'ONE') });
  await harness.clockUpdate();
  await harness.source.audit();
  await harness.pass(3);
  t.strictSame([harness.source.stats.audited, harness.source.stats.leaseViolations], [1, 0]);
});

t.test('I15: when an account is added the lease ends until its own subscription is synced', async (t) => {
  const harness = await live();
  const { lease } = await harness.read();
  const added = harness.setAmounts({ [B]: 7 });
  await harness.notify(B, 'program');
  t.match([lease?.state, lease?.slot], ['revoked', added - 2]);
  t.ok(harness.session.handlers.has(B));
  harness.addSlot();
  await harness.clockUpdate();
  harness.addSlot();
  await harness.clockUpdate();
  t.equal(await harness.fromState(), undefined, 'its subscription is not acknowledged yet');
  await harness.acknowledge();
  t.equal(await harness.fromState(), undefined, 'it is acknowledged, but no Clock update newer than the read has come');
  await harness.pass(1);
  t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 7 });
});

t.test(
  'I15: an account that is closed or given away leaves the list, which only its own subscription reports',
  async (t) => {
    for (const becomes of [undefined, tokenAccountFixture(SOMEBODY, 5, MINT)]) {
      const harness = await live();
      const { reads } = harness;
      const changed = harness.addSlot({ [A]: becomes });
      await harness.notify(A);
      await harness.clockUpdate();
      await harness.pass(1);
      t.strictSame(await harness.fromState(), { slot: changed, amounts: {} });
      await harness.pass(2);
      t.strictSame(await harness.fromState(), { slot: changed + 2, amounts: {} });
      const back = harness.setAmounts({ [A]: 8 });
      await harness.notify(A, 'program');
      await harness.clockUpdate();
      await harness.pass(1);
      t.strictSame(await harness.fromState(), { slot: back, amounts: { [A]: 8 } }, 'it is still subscribed to');
      t.equal(harness.reads, reads);
      await harness.source.audit();
      await harness.pass(2);
      t.equal(harness.source.stats.leaseViolations, 0, 'it equals the list that is read');
    }
  },
);

t.test('I15: a slot that was skipped is no gap where the node tells the parents of its slots', async (t) => {
  const harness = await live();
  const { reads, slot } = harness;
  harness.addSlot();
  harness.session.ancestry.record(harness.addSlot(), slot);
  await harness.clockUpdate();
  t.strictSame(await harness.fromState(), { slot, amounts: { [A]: 5 } });
  await harness.pass(1);
  t.strictSame([(await harness.fromState())?.slot, harness.reads], [slot + 2, reads]);
});

t.test('I15: a new name of a mint changes the list; its other metadata do not', async (t) => {
  const harness = new TokenListHarness();
  const metadata = findMetadataAddress(MINT);
  harness.addSlot({ [metadata]: metadataFixture(MINT, 'First', 'ONE') });
  harness.setAmounts({ [A]: 5 });
  await harness.keepLive();
  const nameOf = async (): Promise<string | undefined> =>
    (await harness.read(undefined, true)).list.identities?.get(MINT)?.metaplex?.name;
  t.equal(await nameOf(), 'First');
  const { reads } = harness;
  harness.addSlot({ [metadata]: metadataFixture(MINT, 'First', 'ONE', 'https://example.com/') });
  await harness.notify(metadata);
  await harness.clockUpdate();
  await harness.pass(2);
  t.strictSame([(await harness.fromState())?.slot, await nameOf(), harness.reads], [harness.slot - 1, 'First', reads]);
  const changed = harness.addSlot({ [metadata]: metadataFixture(MINT, 'Second', 'TWO') });
  await harness.notify(metadata);
  t.equal((await harness.fromState())?.slot, changed);
  t.equal(await nameOf(), 'Second');
});

t.test('a list that finds no room for the names of its mints is kept live without them', async (t) => {
  const harness = new TokenListHarness();
  harness.capacity = 2;
  harness.setAmounts({ [A]: 5 });
  await harness.keepLive();
  t.strictSame((await harness.fromState())?.amounts, { [A]: 5 });
  const { list, lease } = await harness.read(undefined, true);
  t.match([list.identities?.get(MINT)?.isNft, lease], [false, undefined], 'they are read on request');
});

t.test('I15: after a gap in the Clock updates a list is read again, although no change was notified', async (t) => {
  const harness = await live();
  const { lease } = await harness.read();
  const lost = harness.setAmounts({ [A]: 5, [B]: 7 });
  harness.addSlot();
  await harness.clockUpdate();
  t.match([lease?.state, lease?.slot], ['revoked', lost - 1]);
  t.strictSame(await harness.fromState(), undefined, 'the new account is not subscribed to yet');
  await harness.pass(4);
  t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 7 });
  t.equal(harness.source.stats.leaseViolations, 0);
});

t.test('I15: a mint whose amounts are displayed differently changes the list; its supply does not', async (t) => {
  const harness = await live();
  const { reads } = harness;
  harness.addSlot({ [MINT]: mintFixture(0, 200) });
  await harness.notify(MINT);
  await harness.clockUpdate();
  await harness.pass(2);
  t.strictSame([(await harness.fromState())?.slot, harness.reads], [harness.slot - 1, reads]);
  const changed = harness.addSlot({ [MINT]: mintFixture(2, 200) });
  await harness.notify(MINT);
  t.equal((await harness.fromState())?.slot, changed);
  t.strictSame((await harness.read()).list.scales.get(MINT), { decimals: 2 });
});

t.test(
  'I15: a list with a mint that depends on the Clock is no longer kept live: it is read on every request',
  async (t) => {
    const harness = await live();
    harness.addSlot({ [MINT]: mintFixture(0, 200, 500) });
    await harness.notify(MINT);
    for (let i = 0; i < 3; i++) {
      await harness.pass(1);
      t.equal(await harness.fromState(), undefined);
    }
  },
);

t.test('I14: a list with amounts that depend on the Clock has no lease', async (t) => {
  const harness = new TokenListHarness();
  harness.addSlot({ [MINT]: mintFixture(0, 200, 500), [A]: tokenAccountFixture(OWNER, 5, MINT, TOKEN_2022) });
  await harness.keepLive();
  for (let i = 0; i < 3; i++) {
    await harness.pass(1);
    const { slot, list, lease } = await harness.read();
    t.match(
      { slot, proof: lease, followsClock: list.dependsOnClock },
      { slot: harness.slot, proof: undefined, followsClock: true },
    );
  }
});

t.test('I15: where a node rejects programSubscribe a list is read on every request, until it is retried', async (t) => {
  const harness = new TokenListHarness({ idleSlots: 10 });
  harness.setAmounts({ [A]: 5 });
  await harness.read();
  harness.addSlot();
  await harness.read();
  await flushEvents();
  harness.session.refuse(TOKEN_2022);
  t.equal(await harness.fromState(), undefined);
  t.strictSame(
    harness.session.unsubscribed,
    [],
    'one is not stopped before it is taken: its silence would be that of an equal one',
  );
  await harness.acknowledge();
  t.strictSame(harness.session.unsubscribed, [TOKEN]);
  for (let i = 0; i < 10; i++) {
    await harness.pass(1);
    await harness.fromState();
  }
  t.equal(harness.session.handlers.size, 0, 'it is not retried at once');
  await harness.pass(1);
  await harness.keepLive();
  t.strictSame((await harness.fromState())?.amounts, { [A]: 5 });
});

t.test('I15: a list with too many accounts is read on every request', async (t) => {
  const harness = new TokenListHarness({ maxListMembers: 2 });
  harness.setAmounts({ [A]: 5, [B]: 6 });
  await harness.keepLive();
  t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 6 });
  harness.setAmounts({ [addressFromByte(23)]: 7 });
  const { reads } = harness;
  await harness.notify(addressFromByte(23), 'program');
  await harness.pass(5);
  t.equal(harness.reads - reads, 2, 'one for each token program, none for its mints');
  t.equal(await harness.fromState(), undefined);
  t.equal((await harness.read()).list.accounts.length, 3);
  t.equal(harness.session.handlers.size, 0);
});

t.test('I6: the leases of a lost session end; the list is kept live over another session', async (t) => {
  const harness = await live();
  const { lease, slot } = await harness.read();
  harness.session.close();
  t.match([lease?.state, lease?.slot], ['lost', slot]);
  t.equal(await harness.fromState(), undefined);
  await harness.pass(6);
  t.equal(harness.sessions.length, 2);
  t.strictSame((await harness.fromState())?.amounts, { [A]: 5 });
});

/** Opens a live list that has just got another account, while its node no longer answers, and reads it. */
async function hung() {
  const harness = await live();
  harness.isHung = true;
  const changed = harness.setAmounts({ [B]: 6 });
  await harness.notify(B, 'program');
  const answers: Slot[] = [];
  const read = async (): Promise<void> => {
    void harness.read(harness.slot - 1).then(({ slot }) => answers.push(slot));
    await flushEvents();
  };
  await read();
  return { harness, changed, answers, read };
}

t.test('a reader waits at most one slot for a node that hangs, and a later reader does not wait', async (t) => {
  const { harness, changed, answers, read } = await hung();
  harness.clock.advance(399);
  await flushEvents();
  t.strictSame(answers, []);
  harness.clock.advance(1);
  await flushEvents();
  t.strictSame(answers, [changed], 'another node has answered');
  const next = harness.setAmounts({ [A]: 7 });
  await harness.notify(A);
  await read();
  t.strictSame(answers, [changed, next]);
  t.equal(harness.source.stats.leaseViolations, 0);
});

t.test('no reader waits for a node whose session is lost, and the list is kept live over another', async (t) => {
  const { harness, changed, answers, read } = await hung();
  harness.session.close();
  await flushEvents();
  t.strictSame(answers, [changed]);
  await read();
  t.strictSame(answers, [changed, changed]);
  harness.isHung = false; // earlier requests still get no response
  await harness.pass(6);
  t.equal(harness.sessions.length, 2);
  t.strictSame((await harness.fromState())?.amounts, { [A]: 5, [B]: 6 });
});

t.test('I9: an audit that finds another list at a slot that the lease covers drops the list', async (t) => {
  const harness = await live();
  const { lease } = await harness.read();
  harness.setAmounts({ [B]: 9 }); // without a notification
  await harness.clockUpdate();
  await harness.source.audit();
  t.match(
    [harness.source.stats.audited, harness.source.stats.leaseViolations],
    [1, 0],
    'the notification may be on its way',
  );
  await harness.pass(2);
  t.match(
    [harness.source.stats.leaseViolations, harness.problems.length > 0, harness.sessions[0]?.isLost],
    [1, true, false],
  );
  t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY, 'nor is it served as stale');
  t.strictSame((await harness.fromState())?.amounts ?? { [B]: 9 }, { [B]: 9 });
});

t.test('I9: an audit finds a missed account of a list of which another account changes in each slot', async (t) => {
  const harness = await live();
  let amount = 6;
  const change = async (changes: Readonly<Record<string, number>> = {}): Promise<void> => {
    harness.setAmounts({ [A]: amount++, ...changes });
    await harness.notify(A);
    await harness.clockUpdate();
  };
  await change();
  await change({ [B]: 9 }); // without a notification
  await change();
  t.equal(harness.source.stats.leaseViolations, 0);
  await harness.source.audit();
  await change();
  await change();
  t.equal(harness.source.stats.leaseViolations, 1);
});

t.test('I9: an audit of a list that changes in each slot finds no difference where there is none', async (t) => {
  const harness = await live();
  for (let amount = 6; amount < 20; amount++) {
    harness.setAmounts({ [A]: amount });
    if (amount % 2 === 0) await harness.source.audit();
    await harness.notify(A);
    if (amount % 2 === 1) await harness.source.audit();
    await harness.clockUpdate();
  }
  t.strictSame([harness.source.stats.audited, harness.source.stats.leaseViolations], [14, 0]);
});

t.test('the number of live lists is bounded, and those that nobody reads are evicted', async (t) => {
  const harness = await live({ lists: 1 });
  const other = { owner: SOMEBODY, commitment: 'confirmed', minContextSlot: undefined } as const;
  await harness.source.read(other);
  harness.addSlot();
  await harness.source.read(other);
  t.equal(harness.source.stats.size, 1);
  for (let i = 0; i < 120; i++) harness.addSlot();
  t.equal(harness.source.stats.size, 0);
  await flushEvents();
  t.equal(harness.session.handlers.size, 0);
});

t.test('a notification that can not be decoded has the list read again, and its session goes on', async (t) => {
  const values = ['5', '{}', '{"lamports":-1}', `{"pubkey":"${A}"}`, `{"pubkey":5,"account":{"lamports":1}}`];
  for (const value of values) {
    for (const address of [TOKEN, MINT, A]) {
      const harness = await live();
      const { reads } = harness;
      harness.session.notify(address, harness.addSlot(), value);
      await harness.pass(1);
      t.ok(harness.reads > reads, `${value} about ${address}`);
      await harness.pass(2);
      t.match(await harness.fromState(), { amounts: { [A]: 5 } });
      t.equal(harness.sessions.length, 1);
    }
  }
});
