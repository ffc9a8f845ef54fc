import t from 'tap';
import { collectExposedOutput, findLeaks } from '../support/secret-leaks.ts';

t.test('25: no output, answer or file of the process contains a secret, nor do its requests to a node', async (t) => {
  const found = await collectExposedOutput(t);
  t.same(findLeaks(found), []);
  t.equal(found.exit, 0);
  t.same(
    found.statuses.map((statuses) => statuses.map((status) => status === 401)),
    [Array(5).fill(false), Array(5).fill(true), Array(5).fill(true)],
  );
  t.match(found.outputs.log, /"level"/);
  const { nodeRequests, secrets } = found;
  t.ok(nodeRequests.length > 5 && nodeRequests.some((question) => question.includes(String(secrets.upstream[0]))));
});
