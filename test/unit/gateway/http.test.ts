import type { HttpRequest } from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import t from 'tap';
import { newEntry } from '../../../src/gateway/cache/entry.ts';
import { BodySender } from '../../../src/gateway/http/engine/body-sender.ts';
import { DeferredRequests } from '../../../src/gateway/http/engine/deferred-requests.ts';
import type { EngineRequest, EngineResponse } from '../../../src/gateway/http/engine/engine.ts';
import { NodeConnection } from '../../../src/gateway/http/engine/node/node-connection.ts';
import { OpenConnections } from '../../../src/gateway/http/engine/node/open-connections.ts';
import { PipeliningBudget, type Verdict } from '../../../src/gateway/http/engine/pipelining-budget.ts';
import { PipeliningDetector } from '../../../src/gateway/http/engine/pipelining-detector.ts';
import { ReaderSampling } from '../../../src/gateway/http/engine/reader-sampling.ts';
import { Reply } from '../../../src/gateway/http/engine/reply.ts';
import { framingOf, RequestClassifier } from '../../../src/gateway/http/engine/request-guard.ts';
import { loadEngine, type Machine, whyNotLoadable } from '../../../src/gateway/http/load-engine.ts';
import { bodyFor, negotiateCoding } from '../../../src/gateway/http/rest/content-coding.ts';
import { createOpenApiDocument } from '../../../src/gateway/http/rest/openapi.ts';
import {
  formatHeaders,
  HeaderTemplate,
  MissHeaders,
  PREFLIGHT_HEADERS,
} from '../../../src/gateway/http/rest/response-headers.ts';
import { routes } from '../../../src/gateway/routes/index.ts';
import { ERRORS } from '../../../src/shared/domain/gateway-error.ts';
import { systemClock } from '../../../src/shared/runtime/system-clock.ts';
import { WorkPerTurn } from '../../../src/shared/runtime/work-per-turn.ts';
import { TRANSACTION_TYPES } from '../../../src/transactions/programs/transaction-types.ts';
import { waitFor } from '../../support/harness.ts';

t.test('deferred-requests', async (t) => {
  /** A response that knows only how its connection is closed. */
  function response() {
    let onAborted = (): void => {};
    const res = { onAborted: (handler: () => void) => (onAborted = handler) } as unknown as EngineResponse;
    return { res, abort: () => onAborted() };
  }

  const HEADERS = [
    ['host', 'a'],
    ['x-min-slot', '7'],
    ['x-min-slot', '8'],
  ] as const;

  function request(url: string): EngineRequest & { end(): void } {
    let isOver = false;
    const during = <T>(value: T): T => {
      if (isOver) throw new Error('the engine has reused the request');
      return value;
    };
    return {
      end: () => {
        isOver = true;
      },
      getMethod: () => during('get'),
      getUrl: () => during(url),
      getQuery: () => during('commitment=confirmed'),
      getHeader: (name) => during(HEADERS.find(([each]) => each === name)?.[1] ?? ''),
      forEach: (visit) => during(HEADERS).forEach(([name, value]) => void visit(name, value)),
    };
  }

  t.test('a deferred request is handled in a later turn, as it was read', async (t) => {
    const deferred = new DeferredRequests();
    const req = request('/api/v1/slot');
    const handled = new Promise<EngineRequest>((resolve) => {
      deferred.defer((_, late) => resolve(late), response().res, req);
    });
    req.end();
    const late = await handled;
    t.equal(late.getMethod(), 'get');
    t.equal(late.getUrl(), '/api/v1/slot');
    t.equal(late.getQuery(), 'commitment=confirmed');
    t.equal(late.getHeader('x-min-slot'), '7', 'the first of equal headers');
    t.equal(late.getHeader('none'), '');
    const headers: string[][] = [];
    late.forEach((name, value) => void headers.push([name, value]));
    t.strictSame(headers, HEADERS);
  });

  t.test('one whose connection is closed before is never handled', async (t) => {
    const deferred = new DeferredRequests();
    const closed = response();
    const urls: string[] = [];
    deferred.defer((_, { getUrl }) => void urls.push(getUrl()), closed.res, request('/closed'));
    const others = Array.from({ length: 200 }, (_, i) => `/${i}`);
    const all = new Promise<void>((resolve) => {
      for (const url of others) {
        deferred.defer(
          (_, late) => {
            urls.push(late.getUrl());
            if (urls.length === others.length) resolve();
          },
          response().res,
          request(url),
        );
      }
    });
    closed.abort();
    await all;
    t.strictSame(urls, others, 'and all others are, in order');
  });
});

t.test('body-sender', async (t) => {
  t.test('of bodies that begin in a turn two MiB are given to the kernel, and one of those that go on', async (t) => {
    const bodies = new BodySender({
      pendingBytes: { total: 1e9, caller: 1e9 },
      clock: systemClock,
      sampling: new ReaderSampling(() => 0),
    });
    let [bytesOfTurn, done] = [0, 0];
    const turns: number[] = [];
    /** A response whose reader accepts everything. */
    const response = (): EngineResponse => {
      let offset = 0;
      return {
        cork: (write: () => void) => write(),
        onWritable: () => {},
        getWriteOffset: () => offset,
        tryEnd: (chunk: Buffer, total: number) => {
          if (bytesOfTurn === 0 && chunk.length > 0)
            setImmediate(() => {
              turns.push(bytesOfTurn);
              bytesOfTurn = 0;
            });
          for (const untilMs = performance.now() + 0.5; performance.now() < untilMs; ); // a timer is due after some of them
          offset += chunk.length;
          bytesOfTurn += chunk.length;
          return [true, offset === total];
        },
      } as unknown as EngineResponse;
    };
    const parts = [Buffer.alloc(200_000), Buffer.alloc(200_000)];
    for (let i = 0; i < 40; i++) {
      bodies.owed.add(i, 400_000);
      bodies.start(response(), parts, i, false, () => done++);
    }
    await waitFor(() => done === 40);
    await nextTurn();
    t.equal(
      turns.reduce((sum, each) => sum + each),
      16_000_000,
    );
    t.ok(Math.max(...turns) < 14 * 256 * 1024, `${turns}`);
    t.equal(bodies.owed.total, 0);
  });
});

t.test('of many bodies in crumbs each may have fewer in a turn, and one of some crumbs is read', async (t) => {
  const bodies = new BodySender({
    pendingBytes: { total: 1e9, caller: 1e9 },
    clock: systemClock,
    sampling: new ReaderSampling(() => 0),
  });
  const pending = { count: 0, awaited: new WorkPerTurn(1), bodies };
  let closed = 0;
  const open = () => {
    let pass = (_: ArrayBuffer, _isLast: boolean): void => {};
    const response = {
      onAborted: () => {},
      onData: (handler: typeof pass) => {
        pass = handler;
      },
      close: () => closed++,
    };
    const body = new Reply(response as unknown as EngineResponse, pending).readBody(1e6);
    const write = (parts: number): void => {
      for (let i = 0; i < parts; i++) pass(new ArrayBuffer(1), false);
    };
    return { body, write, end: () => pass(new ArrayBuffer(0), true) };
  };
  for (let i = 0; i < 8; i++) open().write(512);
  t.equal(closed, 0);
  for (let i = 0; i < 10; i++) open().write(17);
  t.equal(closed, 10);
  const short = open();
  short.write(16);
  await nextTurn();
  await nextTurn();
  short.write(500);
  short.end();
  t.equal((await short.body).length, 516);
  t.equal(closed, 10);
});

t.test('open-connections', async (t) => {
  function connectionsOf(...addresses: readonly string[]) {
    const destroyed: number[] = [];
    const open = new OpenConnections();
    const connections = addresses.map((remoteAddress, i) => {
      const socket = { remoteAddress, writableLength: 0, destroy: () => void destroyed.push(i) } as unknown as Socket; // as far as it is used
      return new NodeConnection(socket);
    });
    for (const connection of connections) open.touch(connection);
    const count = (address: string): number => open.count(bytesOf(address));
    const closeIdle = (address: string): boolean => open.closeIdle(bytesOf(address));
    return { open, connections, destroyed, count, closeIdle };
  }

  const bytesOf = (address: string): ArrayBuffer => Uint8Array.from(ipaddr.parse(address).toByteArray()).buffer;

  t.test('the idle connection of an address whose last request came first makes room', async (t) => {
    const { open, connections, destroyed, count, closeIdle } = connectionsOf(
      '203.0.113.9',
      '::ffff:203.0.113.10',
      '203.0.113.10',
      '203.0.113.10',
    );
    const [, first] = connections;
    if (first !== undefined) open.touch(first);
    t.equal(count('203.0.113.10'), 3);
    t.ok(closeIdle('203.0.113.10'));
    t.same(destroyed, [2]);
    t.equal(count('203.0.113.10'), 2, 'before the socket has ended');
    t.ok(open.closeIdle());
    t.same(destroyed, [2, 0], 'of all');
    t.equal(count('203.0.113.9'), 0);
    t.notOk(closeIdle('203.0.113.9'));
  });

  t.test('a WebSocket counts, and neither it nor a connection with a request makes room', async (t) => {
    const { open, connections, destroyed, count, closeIdle } = connectionsOf('2001:db8::1', '2001:db8::2');
    const [socket, busy] = connections;
    if (socket !== undefined) open.upgrade(socket);
    busy?.pending.add({ abort() {}, onDrain() {} });
    t.equal(count('2001:db8::3'), 2, 'a /64 is one address');
    t.equal(open.httpCount, 1);
    t.notOk(closeIdle('2001:db8::4'));
    t.same(destroyed, []);
    if (socket !== undefined) open.delete(socket);
    t.equal(count('2001:db8::3'), 1);
  });
});

t.test('pipelining-budget', async (t) => {
  /** Opens a budget, and admits requests that take `costMs` of CPU time each. */
  function open() {
    let cpuMs = 0;
    const budget = new PipeliningBudget(() => {
      const startedMs = cpuMs;
      return () => cpuMs - startedMs;
    });
    const admit = (requests: number, connections: number, costMs: number, areHits = false): readonly Verdict[] =>
      Array.from({ length: requests }, () => {
        cpuMs += costMs;
        const verdict = budget.admit(connections);
        if (verdict === 'serve' && !areHits) budget.countOther();
        return verdict;
      });
    return { admit };
  }

  const count = (verdicts: readonly Verdict[], wanted: Verdict): number =>
    verdicts.filter((verdict) => verdict === wanted).length;

  t.test('64 connections with 16 hits in flight each are never refused', async (t) => {
    const { admit } = open();
    for (let turn = 0; turn < 1000; turn++) {
      t.equal(count(admit(64 * 16, 64, 0.05, true), 'serve'), 64 * 16);
      await nextTurn();
    }
  });

  t.test('a request on each of a thousand connections is never refused', async (t) => {
    const { admit } = open();
    for (let turn = 0; turn < 100; turn++) {
      t.equal(count(admit(1000, 1000, 0.05), 'refuse'), 0);
      await nextTurn();
    }
  });

  t.test('a connection has 64 to 128 requests served in a turn, then one refused, the others deferred', async (t) => {
    const { admit } = open();
    const verdicts = admit(12_000, 1, 0);
    const served = count(verdicts, 'serve');
    t.ok(served >= 64 && served <= 130, String(served));
    t.equal(count(verdicts, 'refuse'), 1);
    t.equal(verdicts.indexOf('refuse'), served, 'behind those that are served');
    await nextTurn();
    t.equal(admit(1, 1, 0)[0], 'serve', 'in the next turn');
  });

  t.test('nothing pipelined is served once the time of a turn is spent', (t) => {
    const { admit } = open();
    const verdicts = admit(12_000, 8, 0.1);
    t.ok(count(verdicts, 'serve') <= 64 + 88, String(count(verdicts, 'serve')));
    const cheap = open().admit(12_000, 100, 0.01, true);
    t.ok(count(cheap, 'serve') <= 64 + 1096, 'hits, too');
    t.equal(count(verdicts, 'refuse'), 1);
    t.end();
  });

  t.test('where it is not certain that anything is pipelined, nothing is refused', (t) => {
    const { admit } = open();
    const verdicts = admit(5000, 10_000, 0.1);
    t.equal(count(verdicts, 'refuse'), 0);
    t.ok(count(verdicts, 'defer') > 4700);
    t.end();
  });
});

t.test('pipelining-detector', async (t) => {
  type Verdict = 'unproven' | 'sequential' | 'pipelining';

  /** Runs turns of the event loop in which a peer sends requests over sockets. */
  function open() {
    let events = 0;
    const detector = new PipeliningDetector(() => events);
    const turn = async (peer: string, requests: number, sockets: number): Promise<Verdict> => {
      for (let i = 0; i < requests; i++) detector.countRequest();
      const isUnproven = detector.mayPipeline(peer);
      const verdict = detector.hasPipelined(peer) ? 'pipelining' : isUnproven ? 'unproven' : 'sequential';
      events += sockets;
      await nextTurn();
      return verdict;
    };
    /** Runs turns with one request each, and returns how many it took until the verdict was another. */
    const turnsUntil = async (peer: string, wanted: Verdict): Promise<number> => {
      for (let turns = 0; ; turns++) if ((await turn(peer, 1, 1)) === wanted) return turns;
    };
    return { detector, turn, turnsUntil };
  }

  t.test('a peer may pipeline until sixteen turns in a row have shown that nobody does', async (t) => {
    const { turn, turnsUntil } = open();
    t.equal(await turn('one', 1, 3), 'unproven');
    t.equal(await turnsUntil('one', 'sequential'), 15);
    t.equal(await turn('another', 1, 1), 'unproven');
  });

  t.test('more requests than sockets in a turn show pipelining, by any peer of the turn', async (t) => {
    const { detector, turn, turnsUntil } = open();
    await turnsUntil('one', 'sequential');
    detector.mayPipeline('one');
    t.equal(await turn('one', 3, 1), 'sequential');
    t.equal(await turn('one', 1, 1), 'pipelining');
    t.equal(await turnsUntil('one', 'sequential'), 31);
  });

  t.test('a peer whose connection was cut off counts as pipelining for a thousand turns', async (t) => {
    const { detector, turn, turnsUntil } = open();
    detector.recordCutOff('one');
    t.equal(await turn('another', 1, 1), 'unproven');
    t.equal(await turnsUntil('one', 'unproven'), 1000);
  });

  t.test('a new connection may pipeline whatever those before it did', async (t) => {
    const { detector, turnsUntil } = open();
    await turnsUntil('one', 'sequential');
    detector.countConnection('another');
    t.equal(await turnsUntil('one', 'sequential'), 0);
    detector.countConnection('one');
    t.equal(await turnsUntil('one', 'sequential'), 16);
  });

  t.test('a new connection does not end the doubt about a peer that was cut off', async (t) => {
    const { detector, turn } = open();
    detector.recordCutOff('one');
    detector.countConnection('one');
    t.equal(await turn('one', 1, 1), 'pipelining');
  });
});

t.test('request-guard', async (t) => {
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
    framingOf(request(headers), allowsBody).fault;
  const isLastOnConnection = (req: HttpRequest, allowsBody: boolean): boolean => framingOf(req, allowsBody).isLast;

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
      t.match(framingOf(request([host], url, query), false).fault, /escaped/, `${url}?${query}`);
    t.equal(framingOf(request([host], '/a%20b', 'x=%00&"'), false).fault, undefined);
  });

  t.test('a plain GET has one valid Host and no headers about a body', async (t) => {
    const classifier = new RequestClassifier();
    const classify = (...headers: Line[]) => classifier.classify(request(headers));
    t.equal(classify(host), 'plain');
    t.equal(classify(['accept', '*/*'], host, ['x-other', ''], ['connection', 'keep-alive']), 'plain');
    t.equal(classify(host, ['connection', 'Keep-Alive']), 'plain', 'as OkHttp and wget send it');
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
});

t.test('load-engine', async (t) => {
  const DEBIAN_13: Machine = { node: '24.21.0', abi: '137', platform: 'linux', arch: 'x64', glibc: '2.41' };

  t.test('the binaries of each package are judged by system, ABI and glibc', async (t) => {
    const cases: readonly (readonly [change: Partial<Machine>, uws: string, pack: string])[] = [
      [{}, '', 'Node 20, 21, 22, and this is 24.21.0'],
      [{ abi: '127', node: '22.23.3' }, '', ''],
      [{ abi: '115', glibc: '2.36' }, 'it needs glibc 2.38, and this system has 2.36', ''],
      [{ abi: '115', glibc: '2.17' }, 'it needs glibc 2.38', 'it needs glibc 2.27, and this system has 2.17'],
      [{ abi: '115', glibc: undefined }, 'another C library', 'another C library'],
      [{ abi: '147', node: '26.10.0' }, 'Node 20, 22, 24, 25, and this is 26.10.0', 'this is 26.10.0'],
      [{ abi: '120', node: '21.7.0' }, 'this is 21.7.0', ''],
      [{ abi: '127', platform: 'darwin', arch: 'arm64', glibc: undefined }, '', ''],
      [{ abi: '127', platform: 'win32', glibc: undefined }, '', ''],
      [{ abi: '127', platform: 'win32', arch: 'arm64', glibc: undefined }, 'no binary for win32 arm64', 'win32 arm64'],
    ];
    for (const [change, uws, pack] of cases) {
      const machine = { ...DEBIAN_13, ...change };
      const expect = (reason: string | undefined, expected: string): void => {
        if (expected === '') t.equal(reason, undefined, JSON.stringify(change));
        else t.match(reason, expected);
      };
      expect(whyNotLoadable('uws', machine), uws);
      expect(whyNotLoadable('uws-pack', machine), pack);
    }
  });

  t.test('auto names why each engine before the loaded one does not load, and what the loaded lacks', async (t) => {
    const { engine, skipped, drawback } = await loadEngine('auto', false, {
      ...DEBIAN_13,
      abi: '147',
      node: '26.10.0',
    });
    t.equal(engine.name, 'node');
    t.equal(engine.version, process.versions.node);
    t.match(skipped, [
      /^uws: it has binaries for Node 20, 22, 24, 25/,
      /^uws-pack: it has binaries for Node 20, 21, 22/,
    ]);
    t.match(drawback, 'node:http answers about');
  });

  t.test('an engine that was chosen and does not load ends the start with the reason', async (t) => {
    const alpine = { ...DEBIAN_13, glibc: undefined };
    await t.rejects(loadEngine('uws', false, alpine), {
      exitCode: 78,
      message: /^http\.engine is uws, .*another C library$/,
    });
  });

  t.test('node serves no workers before Node 22.12', async (t) => {
    const refusal = { exitCode: 78, message: /Node 22\.12 on: .* workers\.count to 0$/ };
    for (const node of ['20.19.0', '22.11.0', '23.0.0'])
      await t.rejects(loadEngine('node', true, { ...DEBIAN_13, node }), refusal);
    for (const node of ['22.12.0', '23.1.0', '26.0.0'])
      t.match(await loadEngine('node', true, { ...DEBIAN_13, node }), { engine: { name: 'node' } });
  });

  t.test('node is no drawback where it was chosen', async (t) => {
    t.match(await loadEngine('node', false, DEBIAN_13), { engine: { name: 'node' }, skipped: [], drawback: undefined });
  });
});

t.test('content-coding', async (t) => {
  t.test('a compressed body keeps no memory but its own', async (t) => {
    const meta = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
    const init = { key: '/a', slot: 1, policy: { slots: 2 }, meta, tipAtFetch: 1, validatedMs: 0 } as const;
    const entry = newEntry(JSON.stringify('a'.repeat(3000)), init);
    const body = Buffer.from(String(entry.result));
    for (const accept of ['br', 'gzip'] as const) {
      bodyFor(entry, body, accept, false);
      await waitFor(() => bodyFor(entry, body, accept, false).coding === accept, accept);
      const { body: compressed } = bodyFor(entry, body, accept, false);
      t.ok(compressed instanceof Buffer && compressed.buffer.byteLength === compressed.length, accept);
    }
  });

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
    t.equal(negotiateCoding(`br${','.repeat(16_000)}`), 'identity', 'too long to be read');
  });
});

t.test('openapi', async (t) => {
  /** What the tests read of a schema. */
  interface Schema {
    readonly required: readonly string[];
    readonly enum: readonly string[];
    readonly description: string;
    readonly pattern: string;
    readonly $ref: string;
    readonly anyOf: readonly [Schema, Schema, Schema];
    readonly properties: { readonly [name in 'error' | 'result' | 'data' | 'lamports']: Schema };
  }

  interface Body {
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  }

  interface Response extends Body {
    readonly headers: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>;
  }

  interface Operation {
    readonly operationId: string;
    readonly tags: readonly string[];
    readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
    readonly requestBody: Body;
    readonly responses: Readonly<Record<string, Response>>;
    readonly 'x-units'?: { readonly request?: number };
  }

  interface OpenApiDocument {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: {
      readonly schemas: Readonly<Record<string, Schema>>;
      readonly securitySchemes: Readonly<Record<string, { readonly name: string }>>;
    };
    readonly security: readonly object[];
  }

  const document = createOpenApiDocument(routes, '1.0.0') as OpenApiDocument;
  const operations = Object.values(document.paths).flatMap((path) => Object.entries(path));

  function operationAt(path: string, method = 'get'): Operation {
    const operation = document.paths[path]?.[method];
    if (operation === undefined) throw new Error(`${method} ${path} is not documented`);
    return operation;
  }

  function responseOf({ responses, operationId }: Operation, status: string): Response {
    const response = responses[status];
    if (response === undefined) throw new Error(`${operationId} documents no ${status}`);
    return response;
  }

  const schemaOf = ({ content }: Body): Schema => content['application/json'].schema;

  /** Returns the codes that a response names; none if it is not documented. */
  const codesOf = ({ responses }: Operation, status: string): readonly string[] => {
    const response = responses[status];
    return response === undefined ? [] : schemaOf(response).properties.error.enum;
  };

  const errorResponses = operations.flatMap(([, operation]) =>
    Object.keys(operation.responses)
      .filter((status) => Number(status) >= 400)
      .map((status) => [Number(status), codesOf(operation, status), operation.operationId] as const),
  );

  /** Returns the header parameters of a route. */
  const headersOf = (path: string, method = 'get'): readonly string[] =>
    (operationAt(path, method).parameters ?? []).filter((param) => param.in === 'header').map(({ name }) => name);

  t.test('the document and the code name the same errors, at the same statuses', async (t) => {
    const documented = new Map<string, Set<number>>();
    for (const [status, codes] of errorResponses)
      for (const code of codes) documented.set(code, (documented.get(code) ?? new Set()).add(status));
    t.same([...documented.keys()].sort(), Object.keys(ERRORS).sort());
    for (const [code, { status }] of Object.entries(ERRORS))
      t.ok(documented.get(code)?.has(status), `${code} ${status}`);
  });

  t.test('the document, the reference and the code name the same types of transactions', async (t) => {
    const chapter = new URL('../../../../src/pages/docs/chapters/transactions.md', import.meta.url); // from dist/test/…
    const [, paragraph = ''] = /^## Types\n\n(.*?)\n\n/ms.exec(readFileSync(chapter, 'utf8')) ?? [];
    const names = Object.keys(TRANSACTION_TYPES);
    const described = [...paragraph.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name);
    t.same(described, names);
    const { enum: documented = [], description = '' } = findTypes(document.components.schemas['Tx']) ?? {};
    t.same(documented, names);
    for (const [name, meaning] of Object.entries(TRANSACTION_TYPES))
      t.ok(description.includes(`- \`${name}\`: ${meaning}`), name);
  });

  /** Returns the schema of a transaction's type. */
  function findTypes(value: unknown): Partial<Schema> | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    const schema: Partial<Schema> = value;
    if (schema.enum?.includes('PROGRAM_UPGRADE')) return schema;
    return Object.values(value)
      .map(findTypes)
      .find((found) => found !== undefined);
  }

  t.test('no response names a code twice, and no two operations have one name', async (t) => {
    for (const [status, codes, operationId] of errorResponses)
      t.equal(new Set(codes).size, codes.length, `${operationId} ${status}`);
    const names = operations.map(([, { operationId }]) => operationId);
    t.equal(new Set(names).size, names.length);
    for (const name of names) t.match(name, /^(get|post)([A-Z][a-z]+)+$/);
    t.ok(
      ['getPriorityFee', 'getAddressPortfolio', 'getTokenHolders', 'getTokenAccounts'].every((id) =>
        names.includes(id),
      ),
    );
  });

  t.test('routes whose answers have a slot accept X-Min-Slot, name X-Slot, and may not be there yet', async (t) => {
    for (const route of routes) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
      const method = route.kind === 'post' ? 'post' : 'get';
      const operation = operationAt(path, method);
      const { responses } = operation;
      const expected = !['/health', '/pubkey', '/explain'].includes(path);
      t.equal(headersOf(path, method).includes('X-Min-Slot'), expected, path);
      t.equal('X-Slot' in responseOf(operation, '200').headers, expected, path);
      t.equal(codesOf(operation, '503').includes('min_slot_not_reached'), expected, path);
      if (!path.endsWith('/{slot}')) t.equal(codesOf(operation, '400').includes('invalid_slot'), expected, path);
      const isSigned = route.envelope === 'signed';
      t.equal(headersOf(path, method).includes('If-None-Match'), isSigned, path);
      t.equal('304' in responses, isSigned, path);
      t.equal('X-Slot' in (responses['304']?.headers ?? {}), isSigned, path);
    }
  });

  t.test('results have names, receipts have all their members, and lamports are 64-bit integers', async (t) => {
    const { schemas } = document.components;
    for (const name of ['Balance', 'AddressPortfolio', 'TokenAccounts', 'Block', 'Tx', 'Network'])
      t.ok(
        ['properties', 'items', 'anyOf'].some((member) => member in (schemas[name] ?? {})),
        name,
      );
    const { properties } = schemaOf(responseOf(operationAt('/balance/{addr}'), '200'));
    t.equal(properties.result.$ref, '#/components/schemas/Balance');
    const { Receipt: receipt, Balance: balance } = schemas;
    const ofVersion2 = ['agreed', 'previous'];
    t.same(
      receipt?.required,
      Object.keys(receipt?.properties ?? {}).filter((name) => !ofVersion2.includes(name)),
    );
    t.match(balance?.properties.lamports, { type: 'integer', format: 'int64', 'x-exact': 'sol' });
    for (const [, { tags, operationId }] of operations) t.match(tags, [/^(?!Others)[A-Z]/], operationId);
  });

  t.test('both forms of /rpc are documented, with the codes that JSON-RPC can carry', async (t) => {
    const operation = operationAt('/rpc', 'post');
    const [plain, jsonRpc] = schemaOf(operation.requestBody).anyOf;
    t.same(plain.required, ['method']);
    t.same(jsonRpc.required, ['jsonrpc', 'method']);
    const [, result, error] = schemaOf(responseOf(operation, '200')).anyOf;
    t.same(result.required, ['jsonrpc', 'result', 'id']);
    t.same(error.required, ['jsonrpc', 'error', 'id']);
    const codes = error.properties.error.properties.data.properties.error.enum;
    for (const code of ['rpc_error', 'min_slot_not_reached', 'invalid_params', 'overloaded', 'rate_limited'])
      t.ok(codes.includes(code));
    for (const code of ['invalid_json', 'invalid_api_key', 'payload_too_large']) t.notOk(codes.includes(code));
  });

  t.test('exactly the signed routes document the nonce and the signed 304', async (t) => {
    const signed = routes.filter(({ envelope }) => envelope === 'signed').map(({ path }) => path);
    t.ok(signed.length > 10);
    for (const { path } of routes) {
      const [operation] = Object.values(document.paths[path.replaceAll(/:(\w+)/g, '{$1}')] ?? {});
      const names = (operation?.parameters ?? []).map(({ name }) => name);
      t.equal(names.includes('X-Receipt-Nonce'), signed.includes(path), path);
      t.same(
        Object.keys(operation?.responses['304']?.headers ?? {}).includes('X-Receipt'),
        signed.includes(path),
        path,
      );
    }
  });

  t.test('every operation documents that it may refuse a nonce', async (t) => {
    for (const [method, operation] of operations)
      t.ok(codesOf(operation, '400').includes('invalid_nonce'), `${method} ${operation.operationId}`);
  });

  t.test('every operation documents that its reader may be owed too many bytes', async (t) => {
    const lacking = operations.filter(([, operation]) => {
      const isNamed = codesOf(operation, '503').includes('overloaded');
      return operation.operationId !== 'getStream' && !(isNamed && operation.responses['503']?.headers['Retry-After']);
    });
    t.same(lacking, []);
  });

  t.test('a stream of events documents that an account may be too large for it', async (t) => {
    t.same(codesOf(operationAt('/stream'), '413'), ['result_too_large']);
  });

  t.test('every operation documents what is refused before its route is known', async (t) => {
    for (const [method, operation] of operations)
      for (const [status, code] of [
        ['405', 'method_not_allowed'],
        ['414', 'uri_too_long'],
        ['431', 'headers_too_large'],
        ['500', 'internal_error'],
      ] as const)
        t.ok(codesOf(operation, status).includes(code), `${method} ${operation.operationId} ${code}`);
  });

  t.test('every operation names its price', async (t) => {
    const pricesOf = (path: string, method?: string) => operationAt(path, method)['x-units'];
    const unpriced = operations.filter(([, operation]) => operation['x-units']?.request === undefined);
    t.same(unpriced, []);
    t.same(pricesOf('/health'), { request: 0 });
    t.same(pricesOf('/stream'), { request: 1, subscribe: '1 for each address' });
    t.match(pricesOf('/balances'), {
      request: 1,
      nonce: 1,
      upstream: /^1 for each started 10 addresses/,
      answer: /MiB/,
    });
    t.match(pricesOf('/balance/{addr}'), { request: 1, nonce: 1, upstream: /^1 for each started 10 calls/ });
    t.match(pricesOf('/rpc', 'post'), { request: 1, body: /16 KiB/, upstream: /^1 for each started 10 keys/ });
    t.match(pricesOf('/token/{mint}/holders'), { request: 1, upstream: /^20 for each scan/ });
    t.match(pricesOf('/explain', 'post'), { request: 1, body: /16 KiB/, upstream: undefined });
  });

  t.test('the document describes the succession signed by the previous key', async (t) => {
    const { description, schema } = responseOf(operationAt('/pubkey'), '200').headers['X-Key-Succession'] ?? {};
    t.match(String(description), 'the previous key');
    t.match(`0123456789abcdef;1718900000000;${'0'.repeat(128)}`, new RegExp(String(schema?.pattern)));
  });

  t.test('the document describes API keys and stake proofs: both are optional, and how they are refused', async (t) => {
    const { securitySchemes } = document.components;
    const headers = Object.values(securitySchemes).map(({ name }) => name);
    t.same(headers, ['X-Api-Key', 'X-Stake-Wallet', 'X-Stake-Issued', 'X-Stake-Signature']);
    t.same(document.security[0], {});
    for (const shown of document.security) for (const name of Object.keys(shown)) t.ok(name in securitySchemes, name);
    for (const [, operation] of operations)
      t.same(codesOf(operation, '401'), ['invalid_api_key', 'invalid_stake_proof'], operation.operationId);
  });

  t.test('a list is written with commas in one parameter', async (t) => {
    const [list] = operationAt('/balances').parameters ?? [];
    t.match(list, { name: 'addresses', in: 'query', required: true, style: 'form', explode: false });
    t.match(list?.schema, { type: 'array', minItems: 1, maxItems: 40, uniqueItems: true, items: { type: 'string' } });
  });
});

t.test('response-headers', async (t) => {
  const number = fc.nat(80_000_000); // the largest limit that the configuration admits, for a /48
  const reset = fc.integer({ min: 1_000_000_000, max: 9_999_999_999 });
  const quota = fc.record({ allowed: fc.constant(true), limit: number, remaining: number, reset, retryAfter: number });

  /** Returns headers without the request id, which differs in each response. */
  const lines = (text: string): string => text.replace(/X-Request-Id: [0-9a-f]{16}/, 'X-Request-Id: …');

  t.test('headers filled in place equal formatted headers, whatever was filled before', async () => {
    const hitHead = new HeaderTemplate('no-cache', 'br');
    fc.assert(
      fc.property(
        quota,
        fc.maxSafeNat(),
        fc.constantFrom('', '0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)),
        (quota, slot, digest) => {
          const written = formatHeaders(200, quota, [
            ['X-Slot', String(slot)],
            ['X-Cache', 'HIT'],
            ['Cache-Control', 'no-cache'],
            ...(digest === '' ? [] : [['ETag', `W/"${digest.slice(0, 16)}"`] as const]),
            ['Content-Encoding', 'br'],
          ]);
          return lines(hitHead.fill(quota, { slot, digest }).toString('latin1')) === lines(written.text);
        },
      ),
      { numRuns: 1000 },
    );
  });

  t.test('those of a miss name the time that the upstream took, to a tenth of a millisecond', async () => {
    const missHead = new MissHeaders();
    fc.assert(
      fc.property(quota, fc.maxSafeNat(), fc.nat(9_999_999), (quota, slot, tenths) => {
        const written = formatHeaders(200, quota, [
          ['X-Slot', String(slot)],
          ['X-Cache', 'MISS'],
          ['Cache-Control', 'no-cache'],
          ['Server-Timing', `upstream;dur=${Math.floor(tenths / 10)}.${tenths % 10}`],
        ]);
        return (
          lines(missHead.fill(quota, { slot, digest: '' }, tenths / 10).toString('latin1')) === lines(written.text)
        );
      }),
      { numRuns: 1000 },
    );
  });

  t.test('each response has a unique request id', async (t) => {
    const hitHead = new HeaderTemplate('no-cache');
    const some = { allowed: true, limit: 100, remaining: 9, reset: 1_700_000_000, retryAfter: 1 };
    const ids = Array.from(
      { length: 1000 },
      () =>
        hitHead
          .fill(some, { slot: 1, digest: '' })
          .toString()
          .match(/Request-Id: (\w+)/)?.[1],
    );
    ids.push(formatHeaders(404, some, []).requestId);
    t.equal(new Set(ids).size, 1001);
  });

  t.test('headers have the reason phrase, and those of a preflight', async (t) => {
    const some = { allowed: false, limit: 1, remaining: 0, reset: 2, retryAfter: 3 };
    t.match(formatHeaders(429, some, []).text, /^429 Too Many Requests\r\n/);
    t.match(formatHeaders(204, some, PREFLIGHT_HEADERS).text, 'Access-Control-Max-Age: 86400');
  });
});
