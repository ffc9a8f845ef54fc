import t from 'tap';
import { Cache } from '../../../src/cache/cache.ts';
import { type AnswerFrame, FRAME, packAnswer, packMark, packOver, packTip } from '../../../src/fleet/frames.ts';
import { Replica } from '../../../src/fleet/replica.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const KEY = '/api/v1/balance/A';

/** Creates a replica with an entry at slot 100, which mark 1 dates. */
function replicaWithEntry(part: Partial<AnswerFrame> = {}) {
  const clock = new ManualClock();
  const cache = new Cache({ clock, bytes: 1 << 20, maxStaleSlots: 150, hotKeys: 100 });
  const replica = new Replica({ cache, clock, onTip: () => {}, onLiveAnswer: () => {} });
  const mark = (slot: number, state: 'active' | 'lost' = 'active') =>
    replica.apply(FRAME.mark, packMark({ id: 1, slot, ageMs: 0, state, lagSlots: 0 }), 0);
  const frame: AnswerFrame = {
    key: KEY,
    slot: 100,
    final: false,
    policy: { slots: 1 },
    meta: { envelope: 'signed', commitment: 'finalized', exact: true },
    tipAtFetch: 100,
    ageMs: 0,
    result: '{"a":18446744073709551615}',
    refusal: null,
    digest: 'd'.repeat(64),
    grant: true,
    body: null,
    sealedAgeMs: 0,
    lease: { marks: [1], slot: 100, endSlot: undefined },
    ...part,
  };
  replica.apply(FRAME.tip, packTip({ commitment: 'processed', slot: 101 }), 0);
  mark(100);
  const asked = replica.await(KEY);
  asked.keep(packAnswer(frame), 0);
  asked.end();
  return { cache, replica, frame, mark };
}

t.test('an entry is dated as far as its mark proves, and no further once its lease is over (F8)', async (t) => {
  const { cache, replica, mark } = replicaWithEntry();
  mark(105);
  t.match(cache.get(KEY), { slot: 105, result: '{"a":18446744073709551615}' });
  replica.apply(FRAME.over, packOver(KEY), 1);
  mark(110);
  const over = cache.get(KEY);
  t.equal(over?.slot, 105);
  t.notOk(over && cache.isFresh(over));
});

t.test('an answer is dated no further if its lease was over before it came (F8)', async (t) => {
  const { cache, replica, frame, mark } = replicaWithEntry();
  const [over, replaced, other] = ['/api/v1/balance/B', '/api/v1/balance/C', '/api/v1/balance/D'] as const;
  const waiting = [over, replaced, other, other].map((key) => ({ key, ...replica.await(key) }));
  replica.apply(FRAME.over, packOver(other), 5);
  for (const { key } of waiting) replica.apply(FRAME.answer, packAnswer({ ...frame, key }), 10);
  replica.apply(FRAME.over, packOver(over), 20);
  replica.apply(FRAME.answer, packAnswer({ ...frame, key: replaced, slot: 101, result: '1' }), 20);
  mark(110);
  for (const { key, keep, end } of waiting) {
    keep(packAnswer({ ...frame, key }), 20);
    end();
  }
  t.equal(cache.get(over)?.slot, 100);
  t.equal(cache.get(replaced)?.slot, 100);
  t.equal(cache.get(other)?.slot, 110, 'what was told before is no word about it');
});

t.test('what is heard of no more dates nothing', async (t) => {
  const { cache, replica, mark } = replicaWithEntry();
  replica.loseMarks();
  mark(120);
  const entry = cache.get(KEY);
  t.equal(entry?.slot, 100);
  t.notOk(entry && cache.isFresh(entry));
});

t.test('an older answer never replaces a newer one, and an answer of another key is not kept', async (t) => {
  const { cache, replica, frame } = replicaWithEntry();
  replica.apply(FRAME.answer, packAnswer({ ...frame, slot: 99, result: '1' }), 1);
  replica.apply(FRAME.answer, packAnswer({ ...frame, key: '/api/v1/balance/B' }), 2);
  replica.apply(99, Buffer.from('a type of a later version'), 3);
  t.equal(cache.get(KEY)?.slot, 100);
  t.equal(cache.get('/api/v1/balance/B'), undefined);
});

t.test('exact is granted for the slot and digest of the frame alone (F3)', async (t) => {
  const { cache, replica, frame, mark } = replicaWithEntry();
  const asked = { request: `GET ${KEY}`, commitment: 'finalized', claim: 'exact', digest: frame.digest } as const;
  t.equal(replica.grantClaim({ ...asked, slot: 100 }), 'exact');
  t.equal(replica.grantClaim({ ...asked, slot: 100, digest: 'e'.repeat(64) }), 'observed');
  mark(105);
  t.equal(cache.get(KEY)?.slot, 105);
  t.equal(replica.grantClaim({ ...asked, slot: 105 }), 'observed');
  t.equal(replica.grantClaim({ ...asked, slot: 100 }), 'observed');
});
