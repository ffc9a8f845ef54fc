import t from 'tap';
import { accountText, flushEvents, type ManualSession, openAccountHarness } from '../manual-session.ts';

const ADDRESSES = ['a', 'b'];
const queryOf = (addresses: readonly string[], minContextSlot?: number) =>
  ({ addresses, commitment: 'confirmed', minContextSlot }) as const;

/** Keeps `a` (1 lamport) and `b` (2 lamports) live from slot 100 on, with the watermark at slot 101. */
async function open() {
  const harness = openAccountHarness();
  const { source, sessions, upstream, tips } = harness;
  tips.observe('finalized', 102);
  for (const address of ADDRESSES)
    source.subscribe(address, 'confirmed', { onChange: () => {}, onEnd: () => {} }, 'me');
  await flushEvents();
  const session = sessions.at(-1) as ManualSession; // it opened for the first
  session.acknowledgeAll();
  await flushEvents();
  for (const slot of [100, 101]) {
    for (const { addresses, answer } of session.pendingCalls.splice(0))
      answer(slot, ...addresses.map((address) => accountText(ADDRESSES.indexOf(address) + 1)));
    await flushEvents();
    session.clockUpdate(slot + 1);
    await flushEvents();
  }
  /** Returns slot and lamports, or how the upstream was asked. */
  const read = async (addresses = ADDRESSES, minSlot?: number) => {
    const reading = source.readBalances(queryOf(addresses, minSlot));
    await flushEvents();
    const call = upstream.pendingCalls.shift();
    if (call !== undefined) return { call, reading };
    const { slot, lamports, lease } = await reading;
    return { slot, lamports, lease };
  };
  return { ...harness, session, read };
}

t.test('balances of live accounts are read from memory, at the slot that all leases cover', async (t) => {
  const { session, read } = await open();
  t.match(await read(), { slot: 101, lamports: [1n, 2n], lease: { state: 'active', slot: 101 } });
  t.match(await read(['b', 'a']), { lamports: [2n, 1n] });
  session.clockUpdate(103);
  t.match(await read(), { slot: 102 });
});

t.test('one that is not live has all read from the upstream in one call, which grants no lease', async (t) => {
  const { read } = await open();
  const { call, reading } = await read(['a', 'c', 'b']);
  t.match(call, { addresses: ['a', 'c', 'b'], minContextSlot: 101 });
  call?.answer(104, accountText(1), 'null', accountText(2));
  t.match(await reading, { slot: 104, lamports: [1n, 0n, 2n], lease: undefined });
});

t.test(
  'a change beyond the slot known of the others has all read once; the lease of what was read goes on',
  async (t) => {
    const { session, read } = await open();
    session.notify('a', 102, accountText(7));
    const { call, reading } = await read();
    t.match(call, { addresses: ['a', 'b'], minContextSlot: 102 });
    call?.answer(102, accountText(7), accountText(2));
    const answer = await reading;
    t.match(answer, { slot: 102, lamports: [7n, 2n], lease: { state: 'active', slot: 101 } });
    session.clockUpdate(103);
    session.clockUpdate(104);
    t.match(await read(), { slot: 103, lamports: [7n, 2n] });
    t.equal(answer?.lease?.slot, 103, 'what was read holds at the slots that the lease advances to');
    let revocations = 0;
    answer?.lease?.onRevoked('k', { onRevoked: () => revocations++ });
    session.notify('b', 105, accountText(9));
    t.match([revocations, answer?.lease?.state], [1, 'revoked']);
  },
);

t.test('what differs from the live state gets no lease: a notification is on its way', async (t) => {
  const { session, read } = await open();
  session.notify('a', 102, accountText(7));
  const { call, reading } = await read();
  call?.answer(103, accountText(7), accountText(5));
  t.match(await reading, { slot: 103, lamports: [7n, 5n], lease: undefined });
});

t.test('memory answers no read beyond its slot, and none after the session was lost', async (t) => {
  const { session, read } = await open();
  const later = await read(ADDRESSES, 102);
  t.match(later.call, { addresses: ['a', 'b'], minContextSlot: 102 });
  later.call?.answer(102, accountText(1), accountText(2));
  t.match(await later.reading, { slot: 102 });
  session.close();
  const lost = await read();
  t.match(lost.call, { addresses: ['a', 'b'] });
  lost.call?.answer(103, accountText(1), accountText(2));
  t.match(await lost.reading, { slot: 103, lease: undefined });
});

t.test('accounts that are read together often are kept live, as many as there are places', async (t) => {
  const { source, tips, upstream } = openAccountHarness({ accounts: 3 });
  const readAt = async (slot: number, addresses: readonly string[]): Promise<void> => {
    tips.observe('finalized', slot);
    const reading = source.readBalances(queryOf(addresses));
    await flushEvents();
    upstream.pendingCalls.shift()?.answer(slot, ...addresses.map(() => 'null'));
    await reading;
  };
  await readAt(100, ['a', 'b', 'c']);
  t.equal(source.stats.size, 0, 'once is not often');
  await readAt(101, ['a', 'b', 'c']);
  t.equal(source.stats.size, 3);
  for (const slot of [102, 103]) await readAt(slot, ['d', 'e']);
  t.equal(source.stats.size, 3, 'others get no place while these are read');
});
