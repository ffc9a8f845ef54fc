import fc from 'fast-check';
import t from 'tap';
import { LEAD } from '../../src/gateway/fleet/leadership/lead-script.ts';
import { RedisConnection } from '../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

// The law on which `exact` rests in a fleet: no two gateways are ever given the same slot to sign, whoever leads, whoever
// still takes itself for the leader, and whatever a Redis that comes back has lost.

const MEMBERS = 3;
const KEYS = ['leader', 'epoch', 'exact'];
/** How far the tip of a gateway may be behind that of another. */
const MOST_BEHIND = 60;

/** A gateway process, with the newest that it was answered. */
interface Member {
  readonly name: string;
  epoch: number;
  newestEpoch: number;
  highestSlot: number;
  /** Ranges of slots that it was given, without the first. */
  readonly ranges: Range[];
}

interface Range {
  readonly above: number;
  upTo: number;
}

type Step =
  | { readonly do: 'attempt'; readonly member: number; readonly behind: number }
  | { readonly do: 'advance'; readonly slots: number }
  | { readonly do: 'replace'; readonly member: number }
  | { readonly do: 'end of the lock' | 'replicate' | 'fall back' | 'forget' };

const member = fc.nat({ max: MEMBERS - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('attempt' as const), member, behind: fc.nat({ max: MOST_BEHIND }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('advance' as const), slots: fc.nat({ max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replace' as const), member }) },
  fc.record({ do: fc.constantFrom('end of the lock', 'replicate', 'fall back', 'forget') }),
);

/** A member repeats a slot of a range that Redis has forgotten to two leaders, each of a range that ends just below. */
const REPEATED_BY_ANOTHER: Step[] = [
  { do: 'attempt', member: 2, behind: 0 },
  ...[0, 1].flatMap((member): Step[] => [
    { do: 'forget' },
    { do: 'attempt', member, behind: 1 },
    { do: 'attempt', member: 2, behind: 0 },
    { do: 'attempt', member, behind: 0 },
  ]),
];

t.test('no two gateways may sign exact for one slot, whatever a Redis has lost', async (t) => {
  const server = await RedisServer.start(['--appendonly', 'no']);
  const settings = { url: server.url, password: undefined, ca: undefined, clock: systemClock, random: Math.random };
  const redis = await RedisConnection.open({ ...settings, onReady() {} });
  t.teardown(async () => {
    redis.close();
    await server.close();
  });
  await waitFor(() => redis.isReady, 'Redis');
  let elections = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
      await server.command('FLUSHALL');
      let tip = 1000;
      let named = 0;
      const all: Member[] = [];
      const create = (): Member => {
        const created = { name: `m${named++}`, epoch: 0, newestEpoch: 0, highestSlot: 0, ranges: [] };
        all.push(created);
        return created;
      };
      const members = Array.from({ length: MEMBERS }, create);
      let replicated = ['0', '0'];

      for (const one of steps) {
        if (one.do === 'advance') tip += one.slots;
        else if (one.do === 'replace') members[one.member] = create();
        else if (one.do === 'end of the lock') await server.command('DEL', 'leader');
        else if (one.do === 'replicate') {
          replicated = await Promise.all(['epoch', 'exact'].map((key) => readKey(server, key)));
        } else if (one.do === 'fall back') {
          await server.command('DEL', 'leader');
          await server.command('MSET', 'epoch', replicated[0] ?? '', 'exact', replicated[1] ?? '');
        } else if (one.do === 'forget') await server.command('FLUSHALL');
        else if (one.do === 'attempt') {
          const candidate = members[one.member] as Member; // there are as many
          const { name, epoch, newestEpoch, highestSlot } = candidate;
          const args = [name, 60_000, epoch, newestEpoch, highestSlot, tip - one.behind];
          const [leads, epochNow, above, upTo] = (await redis.run(LEAD, KEYS, args)) as [
            number,
            number,
            number,
            number,
          ];
          candidate.newestEpoch = Math.max(newestEpoch, epochNow);
          candidate.highestSlot = Math.max(highestSlot, upTo);
          candidate.epoch = leads === 1 ? epochNow : 0;
          if (leads === 0) continue;
          if (above >= 0) {
            elections++;
            if (epochNow <= newestEpoch) return false;
            candidate.ranges.push({ above, upTo });
          }
          const range = candidate.ranges.at(-1) as Range; // a leader was given one
          range.upTo = upTo;
          const others = all.filter((other) => other !== candidate).flatMap(({ ranges }) => ranges);
          if (others.some((other) => Math.max(range.above, other.above) < Math.min(range.upTo, other.upTo)))
            return false;
        }
      }
      return true;
    }),
    { numRuns: 1000, examples: [[REPEATED_BY_ANOTHER]] },
  );
  t.ok(elections > 1000, `${elections} elections`);
});

/** Returns what a key holds; 0 for nothing. */
async function readKey(server: RedisServer, key: string): Promise<string> {
  return /\r\n(\d+)\r\n/.exec(await server.command('GET', key))?.[1] ?? '0';
}
