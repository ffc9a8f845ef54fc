import t from 'tap';
import { leaksIn, letOut } from '../support/let-out.ts';

t.test('25: nothing that the process says, shows or keeps holds a secret, nor what it asks of a node', async (t) => {
  const found = await letOut(t);
  t.same(leaksIn(found), []);
  t.equal(found.exit, 0);
  t.same(
    found.statuses.map((statuses) => statuses.map((status) => status === 401)),
    [Array(5).fill(false), Array(5).fill(true), Array(5).fill(true)],
  );
  t.match(found.said.log, /"level"/);
  const { heard, secrets } = found;
  t.ok(heard.length > 5 && heard.some((question) => question.includes(String(secrets.upstream[0]))));
});
