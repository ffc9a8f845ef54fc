import fc from 'fast-check';
import t from 'tap';
import type { AccountChange } from '../../../src/domain/account-change.ts';
import { accountText } from '../live/manual-session.ts';
import { openWatchWorld, type WatchGateway } from './watch-world.ts';

type World = ReturnType<typeof openWatchWorld>;

/** Reads `a` at each gateway and slot until it is live everywhere. */
async function untilLive(world: World, slots = 12): Promise<void> {
  for (let i = 0; i < slots; i++) {
    await world.advance();
    for (const gateway of world.gateways) await gateway.read('a');
    await world.settle();
  }
}

function openPair(): { world: World; leader: WatchGateway; follower: WatchGateway } {
  const world = openWatchWorld(['leader', 'follower']);
  const [leader, follower] = world.gateways;
  if (leader === undefined || follower === undefined) throw new Error('two were opened');
  return { world, leader, follower };
}

t.test('who follows makes no subscription, and answers at the slots of who leads', async (t) => {
  const { world, leader, follower } = openPair();
  await world.advance();
  world.lead(leader);
  await untilLive(world);
  t.match(follower.watch, { role: 'following', followed: 1 });
  t.equal(follower.subscriptions, 0);
  t.equal(leader.subscriptions, 1);
  t.equal(follower.isResting, true);
  t.equal(await follower.read('a'), await leader.read('a'));
  world.chain.change('a', 5);
  await untilLive(world, 3);
  t.equal(await follower.read('a'), world.chain.slot - 1);
  t.same(follower.falseClaims(), []);
});

t.test(
  'F10: what is lost ends all claims in the same call; alone after 3 s, and back once the leader is near',
  async (t) => {
    const { world, leader, follower } = openPair();
    await world.advance();
    world.lead(leader);
    await untilLive(world);
    const { lease } = await follower.accounts.read({
      address: 'a',
      commitment: 'confirmed',
      shape: 'lamports',
      minContextSlot: undefined,
    });
    t.equal(lease?.state, 'active');
    const claimedSlot = lease?.slot ?? 0;
    world.hub.leader = undefined;
    world.hub.lose(follower.member);
    t.not(lease?.state, 'active');
    t.equal(follower.watch.role, 'waiting');
    await world.advance();
    t.equal(lease?.slot, claimedSlot, 'it claims no more than before');
    for (let i = 0; i < 8; i++) await world.advance();
    t.equal(follower.watch.role, 'alone');
    await untilLive(world);
    t.equal(follower.subscriptions, 1);
    t.ok(((await follower.read('a')) ?? 0) > claimedSlot);
    world.lead(leader);
    await untilLive(world, 4);
    t.match(follower, { watch: { role: 'following' }, subscriptions: 0 });
    t.equal(await follower.read('a'), await leader.read('a'));
  },
);

t.test('a follower is asked for what it reads: the leader keeps it, although nobody reads it there', async (t) => {
  const { world, leader, follower } = openPair();
  await world.advance();
  world.lead(leader);
  for (let i = 0; i < 120; i++) {
    await world.advance();
    await follower.read('a');
  }
  t.equal(leader.subscriptions, 1);
  t.equal(await follower.read('a'), world.chain.slot - 1);
  for (let i = 0; i < 240; i++) await world.advance();
  t.equal(leader.subscriptions, 0, 'it is given up when nobody reads it any more');
});

t.test('a leader that is far behind is not followed', async (t) => {
  const { world, leader, follower } = openPair();
  await world.advance();
  for (let i = 0; i < 4; i++) await world.advance([leader]);
  world.lead(leader);
  t.equal(follower.watch.role, 'alone');
  for (let i = 0; i < 4; i++) leader.advance();
  await world.settle();
  t.equal(follower.watch.role, 'following');
  await untilLive(world);
  t.equal(await follower.read('a'), world.chain.slot - 1);
  world.chain.change('a', 7);
  for (let i = 0; i < 22; i++) await world.advance([leader]);
  t.equal(follower.watch.role, 'alone', 'nor is one that stands still');
  for (let i = 0; i < 10; i++) leader.advance();
  await world.settle();
  t.equal(follower.watch.role, 'alone');
  t.same(follower.falseClaims(), [], 'its marks date nothing any more');
});

t.test('four gateways have one set of subscriptions, with the next leader, too', async (t) => {
  const world = openWatchWorld(['a', 'b', 'c', 'd']);
  const { gateways } = world;
  await world.advance();
  for (const leader of gateways.slice(0, 3)) {
    world.lead(leader);
    await untilLive(world, 6);
    t.same(
      gateways.map(({ subscriptions }) => subscriptions),
      gateways.map((gateway) => (gateway === leader ? 1 : 0)),
    );
    for (const gateway of gateways) t.equal(await gateway.read('a'), world.chain.slot - 1, gateway.member.name);
  }
});

t.test('who subscribes at a follower is told of changes, at processed of forks, too', async (t) => {
  const { world, leader, follower } = openPair();
  await world.advance();
  world.lead(leader);
  const told: string[] = [];
  for (const commitment of ['processed', 'confirmed'] as const) {
    const onChange = ({ slot, isReorg }: AccountChange): void => {
      told.push(`${commitment} ${slot - 100} ${isReorg}`);
    };
    follower.accounts.subscribe(commitment, commitment, { onChange, onEnd: () => told.push('end') }, 'me');
  }
  for (let i = 0; i < 5; i++) await world.advance();
  told.length = 0;
  world.chain.change('processed', 5);
  world.chain.change('confirmed', 6);
  await world.advance();
  await world.advance();
  const session = leader.sessions.find(({ handlers }) => handlers.has('processed'));
  session?.notify('processed', 106, accountText(4)); // of another fork
  await world.settle();
  t.same(told, ['processed 7 false', 'confirmed 7 false', 'processed 8 true']);
  t.equal(leader.subscriptions, 2);
  t.equal(follower.subscriptions, 0);
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('advance' as const), lags: fc.nat({ max: 5 }) }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('change' as const), account: fc.nat({ max: 1 }) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('lose' as const), gateway: fc.nat({ max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('join' as const), gateway: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('lead' as const), gateway: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('stall' as const), gateway: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('end session' as const), gateway: fc.nat({ max: 2 }) }) },
);

t.test('under any schedule each value is true at every slot that it is claimed for, and none goes back', async (t) => {
  const wrong: string[] = [];
  let liveReads = 0;
  await fc
    .assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const world = openWatchWorld(['a', 'b', 'c']);
        const { gateways, chain, hub } = world;
        let lamports = 1;
        await world.advance();
        world.lead(gateways[0]);
        for (const each of steps) {
          if (each.does === 'advance') {
            const late = gateways[each.lags];
            await world.advance(late === undefined ? [] : [late]);
            for (const gateway of gateways) if (gateway.nodeSlot < chain.slot - 1) gateway.advance();
          } else if (each.does === 'change') chain.change('ab'.charAt(each.account), ++lamports);
          else {
            const gateway = gateways[each.gateway];
            if (each.does === 'lead') world.lead(gateway);
            else if (gateway === undefined) continue;
            else if (each.does === 'lose' && gateway.member.isJoined) hub.lose(gateway.member);
            else if (each.does === 'join') hub.join(gateway.member);
            else if (each.does === 'stall') {
              for (let i = 0; i < 24; i++) {
                if (i % 6 === 0) chain.change('a', ++lamports);
                await world.advance([gateway]);
              }
              while (gateway.nodeSlot < chain.slot) gateway.advance();
            } else if (each.does === 'end session') for (const session of gateway.sessions) session.close();
          }
          for (const gateway of gateways) {
            for (const account of ['a', 'b']) if ((await gateway.read(account)) !== undefined) liveReads++;
            wrong.push(...gateway.falseClaims());
          }
          await world.settle();
          for (const gateway of gateways) wrong.push(...gateway.falseClaims());
          if (wrong.length > 0) return false;
        }
        return true;
      }),
      { numRuns: 100 },
    )
    .catch((thrown: Error) => t.fail(`${thrown.message} ${wrong[0]}`));
  t.same(wrong, []);
  t.ok(liveReads > 1000, `${liveReads} live reads`);
});
