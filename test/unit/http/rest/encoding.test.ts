import t from 'tap';
import { bestCoding } from '../../../../src/http/rest/encoding.ts';

t.test('the best coding is the one that the caller likes most, br before gzip', async (t) => {
  t.equal(bestCoding(''), 'identity');
  t.equal(bestCoding('gzip, deflate, br'), 'br');
  t.equal(bestCoding('GZIP'), 'gzip');
  t.equal(bestCoding('br;q=0.5, gzip;q=0.8'), 'gzip');
  t.equal(bestCoding('br;q=0, gzip;q=0'), 'identity');
  t.equal(bestCoding('*'), 'br');
  t.equal(bestCoding('br;q=0, *;q=0.1'), 'gzip');
  t.equal(bestCoding('identity, zstd'), 'identity');
  t.equal(bestCoding('br; q=nonsense'), 'identity');
});
