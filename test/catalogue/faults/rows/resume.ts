import { SYSTEM_PROGRAM } from '../../../../src/shared/domain/well-known-addresses.ts';
import { addressOfNumber } from '../../../support/address-of-number.ts';
import { recordChanges, stepGateway } from '../../../support/event-world.ts';
import { type GatewayHarness, startGatewayOver, startStepped } from '../../../support/harness.ts';
import { ResumingClient } from '../../../support/resuming-client.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, expectSome, type Finding, info, type Row, type RunLength } from '../../findings.ts';

const ACCOUNTS = Array.from({ length: 5 }, (_, i) => addressOfNumber(700 + i));
const SETTINGS = ['limits.free.streams=1000', 'ring.slots=400'];
/** More slots than a feed sends again. */
const BEYOND_REPLAY = 200;
const SLOT_MS = 400;

/** Streams of events that are cut off everywhere, over gateways that are restarted. */
async function run({ isFull }: RunLength): Promise<readonly Finding[]> {
  const [reconnects, restarts] = isFull ? [1000, 25] : [20, 1];
  const random = createRandom(7);
  return withTestScope(async (scope) => {
    const world = await startStepped(scope, { feed: {}, perSlot: 2, set: SETTINGS });
    const { cluster, clock } = world;
    const { chain } = cluster;
    let harness: GatewayHarness = world;
    const changes = recordChanges(chain, ACCOUNTS);
    let lamports = 1000n;
    const change = (): void => {
      for (const address of ACCOUNTS)
        if (random() < 0.4)
          chain.setAccount(address, {
            lamports: lamports++,
            owner: SYSTEM_PROGRAM,
            executable: false,
            data: new Uint8Array(0),
          });
    };
    const step = (): Promise<void> => stepGateway(world, harness);
    const stepUntil = async (isDone: () => boolean | Promise<boolean>, what: string): Promise<void> => {
      for (let steps = 0; !(await isDone()); steps++) {
        if (steps > 600) throw new Error(`${what} did not come about`);
        await step();
      }
    };
    const client = new ResumingClient(ACCOUNTS);
    const slotOf = (id: string): number => Number(id.split('.')[0]);
    const missingBehind = (from: number): readonly string[] =>
      [...changes].flatMap(([id, value]) =>
        slotOf(id) > from && client.changes.get(id)?.lamports !== value ? [id] : [],
      );
    const catchUp = (from: number): Promise<void> =>
      stepUntil(() => {
        client.handle();
        return missingBehind(from).length === 0;
      }, 'what has changed').catch(() => {});
    const restart = async (slots: number): Promise<void> => {
      client.cut();
      await harness.gateway.close();
      for (let i = 0; i < slots; i++) {
        change();
        clock.advance(SLOT_MS);
      }
      harness = await startGatewayOver(scope, `${cluster.url},${cluster.wsUrl}`, clock, {
        geyser: cluster.geyserUrl,
        set: SETTINGS,
      });
      await client.connect(harness.gateway);
    };

    await stepUntil(async () => (await harness.get('/health')).json.result?.geyser?.status === 'up', 'the feed');
    for (const _ of [1, 2]) change();
    await client.connect(harness.gateway);
    await stepUntil(() => {
      client.handle();
      return client.slot >= 0;
    }, 'the first mark');
    const from = client.slot;
    for (let i = 1; i <= reconnects; i++) {
      change();
      await step();
      client.handle(Math.floor(random() * 12));
      client.cut();
      if (random() < 0.2) await step();
      await client.connect(harness.gateway);
      if (i % Math.ceil(reconnects / restarts) === 0) await restart(1 + Math.floor(random() * 20));
    }
    await catchUp(from);
    const lost = missingBehind(from).length;
    const received = [...client.changes].filter(([id]) => slotOf(id) > from);
    const invented = received.filter(([id, { lamports }]) => changes.get(id) !== lamports).length;
    const { doubled, reordered } = client;
    const gaps = client.gaps.length;

    await restart(BEYOND_REPLAY);
    await stepUntil(() => {
      client.handle();
      return client.gaps.length > gaps;
    }, 'the gap').catch(() => {});
    const beyond = client.slot;
    await catchUp(Math.max(beyond, chain.slot('processed')));
    client.cut();
    return [
      info('forced reconnects', reconnects),
      info('restarts of the gateway within the replay', restarts),
      expectSome('changes received', received.length),
      expectNone('lost', lost),
      expectNone('doubled', doubled),
      expectNone('reordered', reordered),
      expectNone('that no block has', invented),
      expectNone('gaps reported', gaps),
      expectSome('gaps reported by a restart beyond the replay', client.gaps.length - gaps),
    ];
  });
}

export const resume: Row = {
  id: 'resume',
  title: 'a client of events is cut off again and again, and the gateway restarted',
  run,
};

/** Returns numbers from 0 to 1 that look random, the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return ((state >> 8) % 1000) / 1000;
  };
}
