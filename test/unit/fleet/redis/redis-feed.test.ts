import fc from 'fast-check';
import t from 'tap';
import { packMessage } from '../../../../src/fleet/redis/feed-message.ts';
import { FleetSecret } from '../../../../src/fleet/redis/fleet-secret.ts';
import { type FeedMember, FeedWorld } from '../../../support/feed-world.ts';

const SILENCE_MS = 1200;

function open(members = 3) {
  const world = new FeedWorld(members);
  const [a, b, c] = world.members as [FeedMember, FeedMember, FeedMember];
  world.elect(a);
  world.settle(1000);
  return { world, a, b, c };
}

t.test('followers join what the leader keeps, and go on with its frames', async (t) => {
  const { world, a, b, c } = open();
  t.same([b.at, c.at], [a.own, a.own]);
  t.equal(a.feed.stats.snapshotsSent, 1, 'one snapshot for both');
  a.publish(3);
  a.publish(2);
  world.settle(100);
  t.same([b.at, c.at], [{ epoch: 1, count: 5 }, a.own]);
  b.feed.tell({ type: 1, payload: Buffer.from('[7]') });
  world.settle(100);
  t.same(a.told, ['gateway-1 7']);
  t.same(world.violations, []);
});

t.test('a follower that joins among frames misses none of them, and has none twice', async (t) => {
  const { world, a, b } = open();
  b.feed.lose('deaf');
  for (let i = 0; i < 20; i++) {
    a.publish(2);
    world.settle(50);
  }
  t.same(b.at, a.own);
  t.equal(b.feed.stats.gaps, 0);
  t.same(world.violations, []);
});

t.test('a piece that is lost, and another that comes twice, make no snapshot', async (t) => {
  const { world, a, b } = open();
  b.feed.lose('deaf');
  for (const isSecond of [false, true]) {
    while (!b.inbox.some(({ channel }) => channel === 'fleet:to:gateway-1')) {
      world.clock.advance(50);
      for (const message of b.inbox.filter(({ channel }) => channel === 'fleet:feed')) b.hear(message);
      for (const message of a.inbox.splice(0)) a.hear(message);
    }
    const [first, second] = b.inbox.filter(({ channel }) => channel === 'fleet:to:gateway-1');
    b.inbox.length = 0;
    for (const piece of isSecond ? [second, second] : [first, first]) if (piece !== undefined) b.hear(piece);
    t.equal(b.at, undefined);
    world.clock.advance(2000);
  }
  world.settle(4000);
  t.same(b.at, a.own);
  t.same(world.violations, []);
});

t.test('F10: a gap ends what is known before anything else, then a snapshot comes', async (t) => {
  const { world, a, b } = open();
  a.publish(1);
  world.endTurn();
  b.inbox.length = 0;
  a.publish(1);
  world.endTurn();
  for (const message of b.inbox.splice(0)) b.hear(message);
  t.equal(b.at, undefined);
  t.equal(b.feed.stats.gaps, 1);
  world.settle(1000);
  t.same(b.at, a.own);
  t.same(world.violations, []);
});

t.test('F10: silence ends what is known', async (t) => {
  const { world, a, b } = open();
  world.clock.advance(SILENCE_MS - 300);
  t.ok(b.at);
  b.inbox.length = 0;
  world.clock.advance(500);
  t.equal(b.at, undefined);
  b.feed.lose('deaf');
  world.settle(1500);
  t.same(b.at, a.own, 'and it joins again');
  b.feed.lose('deaf');
  t.equal(b.at, undefined);
  t.same(world.violations, []);
});

t.test('messages that are repeated are no sign of life', async (t) => {
  const { world, b } = open();
  const old = world.recorded.filter(({ channel }) => channel.endsWith('feed'));
  for (let i = 0; i < 20; i++) {
    world.clock.advance(100);
    for (const message of old) b.hear(message);
  }
  t.equal(b.at, undefined);
});

t.test('F9: no frame of an older epoch is applied, and none of a stranger', async (t) => {
  const { world, a, b, c } = open();
  a.publish(1);
  world.settle(100);
  world.elect(b);
  world.settle(1000);
  t.same([c.at, b.at], [b.own, undefined]);
  a.publish(1); // it doesn't know yet
  world.settle(100);
  t.ok(c.feed.stats.rejected.outdated > 0);
  const forged = { kind: 'frames', epoch: 9, leader: 'x', seq: 1, frames: [] } as const;
  const channel = 'fleet:feed';
  const secret = new FleetSecret(Buffer.alloc(32, 8));
  c.hear({ channel, bytes: packMessage(forged, channel, secret) });
  const elsewhere = world.recorded.find((message) => message.channel === 'fleet:up');
  if (elsewhere === undefined) throw new Error('nobody has asked to join');
  c.hear({ channel, bytes: elsewhere.bytes });
  c.hear({ channel, bytes: Buffer.from('short') });
  t.match(c.feed.stats.rejected, { mac: 2, malformed: 1 });
  t.same(c.at, b.own);
  a.feed.resign();
  world.settle(1000);
  t.same(a.at, b.own, 'who led before follows');
  t.same(world.violations, []);
});

const who = fc.nat(2);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('publish'), who, n: fc.nat(3) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('deliver'), who, n: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose'), who, n: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat'), who, n: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('swap'), who, n: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change'), who, n: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('elect'), who, n: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resign'), who, n: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass'), who, n: fc.integer({ min: 1, max: 500 }) }) },
);

/** Does one step; what arrives last at whom is the caller's business. */
function perform(world: FeedWorld, { kind, who, n }: { kind: string; who: number; n: number }): void {
  const member = world.members[who] as FeedMember;
  const { inbox } = member;
  if (kind === 'publish') member.publish(member.own.epoch > 0 ? n : 0);
  else if (kind === 'deliver') for (const message of inbox.splice(0, n)) member.hear(message);
  else if (kind === 'lose') inbox.splice(0, n);
  else if (kind === 'repeat') {
    const message = world.recorded[n % Math.max(1, world.recorded.length)];
    if (message !== undefined) member.hear(message);
  } else if (kind === 'swap') inbox.reverse();
  else if (kind === 'change') {
    const message = inbox.shift();
    if (message === undefined) return;
    const bytes = Buffer.from(message.bytes);
    const at = n % bytes.length;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    member.hear({ ...message, bytes });
  } else if (kind === 'elect') world.elect(member);
  else if (kind === 'resign' && member !== world.leader) member.feed.resign();
  else if (kind === 'pass') world.clock.advance(n);
  world.endTurn();
}

t.test(
  'whatever is lost, repeated, reordered or changed, a follower has what one leader keeps, or nothing',
  async () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const { world } = open();
        for (const each of steps) perform(world, each);
        for (const member of world.members) if (member !== world.leader) member.feed.resign();
        world.settle(8000);
        const leader = world.leader;
        const others = world.members.filter((member) => member !== leader);
        const isJoined = others.every(({ at }) => at?.epoch === leader?.own.epoch && at?.count === leader?.own.count);
        if (world.violations.length > 0) throw new Error(world.violations.join('; '));
        if (!isJoined) throw new Error(`not joined: ${JSON.stringify(others.map(({ at }) => at))}`);
      }),
      { numRuns: 200 },
    );
  },
);
