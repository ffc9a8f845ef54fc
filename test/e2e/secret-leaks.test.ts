import t from 'tap';
import { collectExposedOutput, findLeaks } from '../support/secret-leaks.ts';

t.test('25: no output, answer or file of the process contains a secret, nor do its requests to a node', async (t) => {
  const found = await collectExposedOutput(t);
  t.same(findLeaks(found), []);
  t.equal(found.exit, 0);
  t.same(
    found.statuses.map((statuses) => statuses.map((status) => status === 401)),
    [Array(6).fill(false), Array(6).fill(true), Array(6).fill(true)],
  );
  t.equal(found.statuses[0]?.at(-1), 101, 'the stream takes the key that a browser offers');
  t.match(found.outputs.log, /"level"/);
  const { nodeRequests, secrets } = found;
  t.ok(nodeRequests.length > 5 && nodeRequests.some((question) => question.includes(String(secrets.upstream[0]))));
});
