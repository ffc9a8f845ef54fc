import type { HttpRequest } from 'uWebSockets.js';
import t from 'tap';
import { findFramingFault, isLastOnConnection, RequestClassifier } from '../../../../src/http/engine/request-guard.ts';

type Line = readonly [name: string, value: string];

/** Creates a request as the engine does: of equal headers `getHeader` returns the first. */
function request(headers: readonly Line[], url = '/api/v1/slot', query = ''): HttpRequest {
  const req = {
    getHeader: (name: string) => headers.find(([other]) => other === name)?.[1] ?? '',
    forEach: (visit: (name: string, value: string) => void) => {
      for (const [name, value] of headers) visit(name, value);
    },
    getUrl: () => url,
    getQuery: () => query,
  };
  return req as unknown as HttpRequest; // the part that the guard reads
}

const host: Line = ['host', 'a.example'];
const fault = (headers: readonly Line[], allowsBody = true): string | undefined =>
  findFramingFault(request(headers), allowsBody);

t.test('a request has one Host and at most one body length', async (t) => {
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

t.test('a method without a body may have Content-Length 0', async (t) => {
  t.equal(fault([host, ['content-length', '0']], false), undefined);
  t.match(fault([host, ['content-length', '1']], false), /no body/);
  t.match(fault([host, ['transfer-encoding', 'chunked']], false), /no body/);
});

t.test('a Host is a name or an address, with an optional port', async (t) => {
  for (const good of ['a', 'a.b:1', '127.0.0.1:8787', '[::1]', '[2001:db8::1]:80', 'a:'])
    t.equal(fault([['host', good]]), undefined, good);
  for (const bad of ['', 'a b', 'a/b', 'a@b', 'a:b', 'a:1:2', '[::1', '::1', 'a\tb', '\u00e9'])
    t.match(fault([['host', bad]]), /Host/, bad);
});

t.test('a target has only characters that need no escape', async (t) => {
  for (const [url, query] of [
    ['/a b', ''],
    ['/a\x7f', ''],
    ['/\xe9', ''],
    ['/a#b', ''],
    ['/a', 'x=#'],
    ['/a', 'x=\x00'],
  ])
    t.match(findFramingFault(request([host], url, query), false), /escaped/, `${url}?${query}`);
  t.equal(findFramingFault(request([host], '/a%20b', 'x=%00&"'), false), undefined);
});

t.test('a plain GET has one valid Host and no headers about a body', async (t) => {
  const classifier = new RequestClassifier();
  const classify = (...headers: Line[]) => classifier.classify(request(headers));
  t.equal(classify(host), 'plain');
  t.equal(classify(['accept', '*/*'], host, ['x-other', ''], ['connection', 'keep-alive']), 'plain');
  for (const unsafe of [
    ['content-length', '0'],
    ['content-length', '5'],
    ['transfer-encoding', 'chunked'],
    ['', 'x'],
    ['connection', 'close'],
    ['connection', 'keep-alive, close'],
    host,
    ['host', 'other.example'],
  ] as const) {
    t.equal(classify(host, unsafe), 'unsafe', unsafe.join(': '));
    t.equal(classify(unsafe, ['x-min-slot', 'k'], host), 'unsafe', unsafe.join(': '));
  }
  for (const bad of ['', 'a b', 'a/b', '[::1']) t.equal(classify(['host', bad]), 'unsafe', bad);
  t.equal(classify(), 'unsafe', 'no host');
  for (const name of ['x-receipt-nonce', 'if-none-match', 'x-min-slot'])
    t.equal(classify(host, [name, 'x']), 'conditional', name);
  t.equal(classify(host), 'plain', 'what came before is forgotten');
});

t.test('a plain GET may have credentials', async (t) => {
  const classifier = new RequestClassifier();
  for (const name of ['x-api-key', 'x-stake-wallet']) {
    t.equal(classifier.classify(request([host, [name, 'x']])), 'plain', name);
    t.equal(classifier.hasCredentials, true, name);
    classifier.classify(request([host, ['x-other', 'x']]));
    t.equal(classifier.hasCredentials, false, 'what came before is forgotten');
  }
});

t.test('nothing is read behind a request that closes, or whose end is uncertain', async (t) => {
  const sized: Line = ['content-length', '5'];
  for (const value of ['close', 'Close', 'keep-alive, close', 'close,x', ' x , close '])
    t.equal(isLastOnConnection(request([host, ['connection', value]]), false), true, value);
  for (const value of ['keep-alive', 'Upgrade', 'closed', 'not-close', ''])
    t.equal(isLastOnConnection(request([host, ['connection', value]]), false), false, value);
  t.equal(
    isLastOnConnection(request([host, ['connection', 'keep-alive'], ['connection', 'close'], sized]), true),
    true,
  );
  t.equal(isLastOnConnection(request([host]), false), false);
  t.equal(isLastOnConnection(request([host, sized]), true), false);
  t.equal(isLastOnConnection(request([host, ['transfer-encoding', 'chunked']]), true), true, 'chunks');
  t.equal(isLastOnConnection(request([host]), true), true, 'a POST without a length');
});
