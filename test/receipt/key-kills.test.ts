import t from 'tap';
import { killMakers } from './key-kills.ts';

const kills = Number(process.argv[2] ?? 30);

t.test(
  `${kills} kills amid the making, rotating and revoking of keys: none is lost or changed`,
  { timeout: 300_000 },
  async (t) => {
    const done = await killMakers(t.testdir(), kills, 1);
    t.comment(`${done.folders} folders, ${done.keys} keys, ${done.midway} kills in the middle of a change`);
    t.same(done.faults, []);
    t.equal(done.kills, kills);
    t.ok(done.keys > kills, 'there were keys to lose');
    t.ok(done.midway > kills / 10, 'and changes to cut off');
  },
);
