import t from 'tap';
import { negotiateCoding } from '../../../../src/http/rest/content-coding.ts';

t.test('the negotiated coding is the one with the highest weight, br before gzip', async (t) => {
  t.equal(negotiateCoding(''), 'identity');
  t.equal(negotiateCoding('gzip, deflate, br'), 'br');
  t.equal(negotiateCoding('GZIP'), 'gzip');
  t.equal(negotiateCoding('br;q=0.5, gzip;q=0.8'), 'gzip');
  t.equal(negotiateCoding('br;q=0, gzip;q=0'), 'identity');
  t.equal(negotiateCoding('*'), 'br');
  t.equal(negotiateCoding('br;q=0, *;q=0.1'), 'gzip');
  t.equal(negotiateCoding('identity, zstd'), 'identity');
  t.equal(negotiateCoding('br; q=nonsense'), 'identity');
});
