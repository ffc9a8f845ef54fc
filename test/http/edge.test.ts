import type { HttpRequest } from 'uWebSockets.js';
import t from 'tap';
import { framingFault, isChunked, isPlainGet } from '../../src/http/edge.ts';

type Line = readonly [name: string, value: string];

/** A request as the engine shows it: of equal headers `getHeader` gives the first. */
function request(headers: readonly Line[], url = '/api/v1/slot', query = ''): HttpRequest {
  const shown = {
    getHeader: (name: string) => headers.find(([other]) => other === name)?.[1] ?? '',
    forEach: (visit: (name: string, value: string) => void) => {
      for (const [name, value] of headers) visit(name, value);
    },
    getUrl: () => url,
    getQuery: () => query,
  };
  return shown as unknown as HttpRequest; // what the guard reads of it
}

const host: Line = ['host', 'a.example'];
const fault = (headers: readonly Line[], takesBody = true): string | undefined =>
  framingFault(request(headers), takesBody);

t.test('one host, and at most one way to tell the length', async (t) => {
  t.equal(fault([host]), undefined);
  t.equal(fault([host, ['content-length', '5']]), undefined);
  t.equal(fault([host, ['transfer-encoding', 'Chunked']]), undefined);
  t.match(fault([]), /Host/);
  t.match(fault([host, host]), /Host/);
  t.match(fault([host, ['content-length', '5'], ['content-length', '5']]), /more than once/);
  t.match(fault([host, ['content-length', '5'], ['transfer-encoding', 'chunked']]), /more than once/);
  t.match(fault([host, ['transfer-encoding', 'chunked'], ['transfer-encoding', 'chunked']]), /more than once/);
  for (const length of ['+5', '-5', '5 ', '0x5', '5,5', '', '1'.repeat(16)])
    t.match(fault([host, ['content-length', length]]), /not a number/, length);
  for (const coding of ['gzip', 'gzip, chunked', 'chunked, chunked', 'xchunked', ''])
    t.match(fault([host, ['transfer-encoding', coding]]), /chunked/, coding);
  t.match(fault([host, ['', 'x']]), /no name/);
});

t.test('a method that takes no body may name a length of 0', async (t) => {
  t.equal(fault([host, ['content-length', '0']], false), undefined);
  t.match(fault([host, ['content-length', '1']], false), /no body/);
  t.match(fault([host, ['transfer-encoding', 'chunked']], false), /no body/);
});

t.test('a host is a name or an address, and perhaps a port', async (t) => {
  for (const good of ['a', 'a.b:1', '127.0.0.1:8787', '[::1]', '[2001:db8::1]:80', 'a:'])
    t.equal(fault([['host', good]]), undefined, good);
  for (const bad of ['', 'a b', 'a/b', 'a@b', 'a:b', 'a:1:2', '[::1', '::1', 'a\tb', '\u00e9'])
    t.match(fault([['host', bad]]), /Host/, bad);
});

t.test('a target holds only what may stand there unescaped', async (t) => {
  for (const [url, query] of [
    ['/a b', ''],
    ['/a\x7f', ''],
    ['/\xe9', ''],
    ['/a#b', ''],
    ['/a', 'x=#'],
    ['/a', 'x=\x00'],
  ])
    t.match(framingFault(request([host], url, query), false), /escaped/, `${url}?${query}`);
  t.equal(framingFault(request([host], '/a%20b', 'x=%00&"'), false), undefined);
});

t.test('only a GET that says nothing of a body is plain', async (t) => {
  t.equal(isPlainGet(request([host])), true);
  for (const length of ['0', '5']) t.equal(isPlainGet(request([host, ['content-length', length]])), false, length);
  t.equal(isPlainGet(request([host, ['transfer-encoding', 'chunked']])), false);
  t.equal(isChunked(request([host, ['transfer-encoding', 'chunked']])), true);
  t.equal(isChunked(request([host])), false);
});
