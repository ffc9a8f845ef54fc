import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import t from 'tap';
import { Admission, type AdmittedCaller } from '../../../src/gateway/access/limits/admission.ts';
import {
  type ConnectionPeer,
  createClientIpResolver,
  isLoopback,
} from '../../../src/gateway/access/limits/client-ip.ts';
import { ConnectionLimiter } from '../../../src/gateway/access/limits/connection-limiter.ts';
import { RateLimiter } from '../../../src/gateway/access/limits/rate-limiter.ts';
import type { RequestAccount } from '../../../src/gateway/access/limits/request-account.ts';
import { StreamQuota } from '../../../src/gateway/access/limits/stream-quota.ts';
import type { Tier } from '../../../src/gateway/access/limits/tiers.ts';
import { CounterMember } from '../../../src/gateway/access/quota/counter-member.ts';
import type { CounterConnection, CounterListener } from '../../../src/gateway/access/quota/counter-store.ts';
import { addressKeyOf, callerNameOf } from '../../../src/gateway/access/quota/rate-limit-key.ts';
import { MemoryStore } from '../../../src/gateway/fleet/counters/memory-store.ts';
import { StartError } from '../../../src/shared/domain/start-error.ts';
import { EventLoopLag } from '../../../src/shared/runtime/event-loop-lag.ts';
import { runAdmitted } from '../../../src/shared/runtime/fair-semaphore.ts';
import { jumpClock } from '../../support/access/clock-jump.ts';
import { DEFAULT_TIERS } from '../../support/access/default-tiers.ts';
import { FORWARDED_FOR_CASES, TRUSTED_PROXIES } from '../../support/access/forwarded-for-cases.ts';
import { limiterDifference } from '../../support/access/limiter-model.ts';
import { windowEdgeFaults } from '../../support/access/window-edges.ts';
import { ManualClock } from '../../support/manual-clock.ts';

t.test('admission', async (t) => {
  const free = (inFlight: number): Tier => ({ ...DEFAULT_TIERS.free, inFlight });
  const scale = (inFlight: number): Tier => ({ ...DEFAULT_TIERS.scale, inFlight });
  const OVERLOADED = { code: 'overloaded', status: 503, retryAfter: 1 };

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Creates an admission and work that runs until the test ends it. */
  function admissionOf({ inFlight: maxInFlight = 100, queue: maxQueued = 100 } = {}) {
    const clock = new ManualClock();
    const state = { late: false };
    const admission = new Admission({ maxInFlight, maxQueued, maxWaitMs: 1000, clock, isOverloaded: () => state.late });
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (name: string, identity: string, tier: Tier, more: Partial<AdmittedCaller> = {}): Promise<string> => {
      const work = (): Promise<string> => {
        started.push(name);
        return new Promise((resolve) => ends.set(name, () => resolve(name)));
      };
      const running = runAdmitted((placed) => admission.enter({ key: identity, tier, ...more }, placed), work);
      running.catch(() => {}); // the test checks it later
      return running;
    };
    const end = async (name: string): Promise<void> => {
      ends.get(name)?.();
      await settle();
    };
    return { admission, clock, state, started, run, end };
  }

  t.test('a caller has limited work running, queues as much again, and the rest is rejected', async (t) => {
    const { admission, started, run, end } = admissionOf();
    for (const name of ['a1', 'a2', 'a3', 'a4']) run(name, 'a', free(2));
    await t.rejects(run('a5', 'a', free(2)), OVERLOADED);
    t.same(started, ['a1', 'a2']);
    run('b1', 'b', free(2));
    t.same(started, ['a1', 'a2', 'b1'], 'other callers are not affected');
    await end('b1');
    t.same(started.length, 3, 'capacity freed by other callers does not raise its limit');
    await end('a2');
    t.same(started.slice(3), ['a3']);
    t.match(admission, { ofCallers: { running: 2, waiting: 1 }, refused: 1 });
  });

  t.test('the queue is served in order, priority tiers first', async (t) => {
    const { started, run, end } = admissionOf({ inFlight: 1 });
    run('first', 'a', free(9));
    run('free 1', 'b', free(9));
    run('free 2', 'c', free(9));
    run('scale 1', 'd', scale(9));
    run('scale 2', 'e', scale(9));
    for (const name of ['first', 'scale 1', 'scale 2', 'free 1', 'free 2']) await end(name);
    t.same(started, ['first', 'scale 1', 'scale 2', 'free 1', 'free 2']);
  });

  t.test('in a full queue a priority request displaces the last one without priority', async (t) => {
    const { run } = admissionOf({ inFlight: 1, queue: 2 });
    run('under way', 'a', free(9));
    const kept = run('free 1', 'b', free(9));
    const last = run('free 2', 'c', free(9));
    await t.rejects(run('free 3', 'd', free(9)), OVERLOADED);
    run('scale 1', 'e', scale(9));
    await t.rejects(last, OVERLOADED);
    run('scale 2', 'f', scale(9));
    await t.rejects(kept, OVERLOADED);
    await t.rejects(run('scale 3', 'g', scale(9)), OVERLOADED, 'all that wait have priority');
  });

  t.test('a request that waited too long is rejected, and its place in the queue is free', async (t) => {
    const { admission, clock, run } = admissionOf({ inFlight: 1, queue: 1 });
    run('under way', 'a', free(9));
    const waiting = run('waiting', 'b', free(9));
    clock.advance(999);
    t.equal(admission.ofCallers.waiting, 1);
    clock.advance(1);
    await t.rejects(waiting, OVERLOADED);
    t.equal(admission.ofCallers.waiting, 0);
  });

  t.test('nothing is started while the event loop lags', async (t) => {
    const { state, run, end } = admissionOf();
    state.late = true;
    await t.rejects(run('a', 'a', free(9)), OVERLOADED);
    state.late = false;
    const placed = run('b', 'a', free(9));
    await end('b');
    t.equal(await placed, 'b');
  });

  t.test('work that fails frees its capacity and passes on its error', async (t) => {
    const { admission } = admissionOf({ inFlight: 1 });
    for (let i = 0; i < 3; i++) {
      const failing = runAdmitted(
        (work) => admission.enter({ key: 'a', tier: free(1) }, work),
        () => Promise.reject(new Error(`no ${i}`)),
      );
      await t.rejects(failing, { message: `no ${i}` });
    }
    t.equal(admission.ofCallers.running, 0);
  });

  const CLAIM = fc.record({ who: fc.integer({ min: 0, max: 5 }), priority: fc.boolean(), ends: fc.nat(3) });

  t.test('in any order of requests no limit is exceeded, nothing waits in vain, and no state remains', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(CLAIM, { maxLength: 60 }), async (claims) => {
        const { admission, clock, started, run, end } = admissionOf({ inFlight: 6, queue: 8 });
        const under = new Map<string, number>();
        const ended = new Set<string>();
        const look = (): boolean => {
          under.clear();
          for (const name of started) {
            const who = name.slice(0, 1);
            if (!ended.has(name)) under.set(who, (under.get(who) ?? 0) + 1);
          }
          const total = [...under.values()].reduce((a, b) => a + b, 0);
          const isIdle = total < 6 && [...under.values()].every((count) => count < 3);
          return (
            total === admission.ofCallers.running &&
            total <= 6 &&
            [...under.values()].every((count) => count <= 3) &&
            admission.ofCallers.waiting <= 8 &&
            (!isIdle || admission.ofCallers.waiting === 0)
          );
        };
        for (const [i, { who, priority, ends }] of claims.entries()) {
          run(`${who} ${i}`, `${who}`, (priority ? scale : free)(3));
          for (const name of started.filter((name) => !ended.has(name)).slice(0, ends === 3 ? 1 : 0)) {
            ended.add(name);
            await end(name);
          }
          if (!look()) return false;
        }
        clock.advance(1000);
        for (const name of started) if (!ended.has(name)) await end(name);
        return admission.ofCallers.running === 0 && admission.ofCallers.waiting === 0;
      }),
      { numRuns: 100 },
    );
  });

  t.test('one /48 has at most half of the places and of the queue', async (t) => {
    const { admission, run, end } = admissionOf({ inFlight: 8, queue: 4 });
    const siteKey = -1n;
    for (let i = 0; i < 6; i++) run(`s${i}`, `subnet ${i}`, free(2), { siteKey });
    t.match(admission.ofCallers, { running: 4, waiting: 2 });
    await t.rejects(run('s6', 'subnet 6', free(2), { siteKey }), OVERLOADED);
    run('other', 'b', free(2));
    t.match(admission.ofCallers, { running: 5, waiting: 2 }, 'others have theirs');
    await end('other');
    t.match(admission.ofCallers, { running: 4, waiting: 2 });
    await end('s0');
    t.match(admission.ofCallers, { running: 4, waiting: 1 });
  });

  t.test('work waits until its caller has room for what it may cost, and is refused if it has none', async (t) => {
    const { admission, started, run, end } = admissionOf();
    let room = 1;
    const reserve = (): boolean => {
      if (room < 0) throw new Error('no units are left');
      return room-- > 0;
    };
    run('a1', 'a', free(9), { reserve });
    run('a2', 'a', free(9), { reserve: () => room > 0 });
    run('b', 'b', free(9));
    t.same(started, ['a1', 'b']);
    room = 1;
    await end('a1');
    t.same(started, ['a1', 'b', 'a2']);
    room = -1;
    await t.rejects(run('a3', 'a', free(9), { reserve }), { message: 'no units are left' });
    t.equal(admission.ofCallers.waiting, 0);
  });

  t.test('work of the gateway itself has places of its own, neither more nor fewer', async (t) => {
    const { admission, started, run } = admissionOf({ inFlight: 2, queue: 1 });
    const ends: (() => void)[] = [];
    const own = (): Promise<void> =>
      runAdmitted(
        (work) => admission.enterOwn(work),
        () => new Promise((resolve) => ends.push(resolve)),
      );
    for (let i = 0; i < 3; i++) void own();
    t.same(admission.own, { running: 2, waiting: 1 });
    await t.rejects(own(), OVERLOADED);
    run('a', 'a', free(2));
    t.same(started, ['a'], 'it takes no place from callers');
    ends[0]?.();
    await settle();
    t.same([ends.length, admission.own], [3, { running: 2, waiting: 0 }]);
  });
});

t.test('client-ip', async (t) => {
  const bytes = (address: string): ArrayBuffer => Uint8Array.from(ipaddr.parse(address).toByteArray()).buffer;
  const text = (address: ArrayBuffer): string => ipaddr.fromByteArray([...new Uint8Array(address)]).toString();

  /** Creates a request with these X-Forwarded-For lines between other headers. */
  const lines = (...values: string[]) => ({
    forEach(visit: (name: string, value: string) => void): void {
      visit('host', '9.9.9.9');
      for (const value of values) visit('x-forwarded-for', value);
      visit('forwarded', 'for=9.9.9.9');
      visit('x-real-ip', '9.9.9.9');
    },
  });

  /** Creates a connection with a remote address and the address in a PROXY header. */
  const peerAt = (address: ArrayBuffer, proxied = new ArrayBuffer(0)): ConnectionPeer => ({
    getRemoteAddress: () => address,
    getProxiedRemoteAddress: () => proxied,
  });

  const find = createClientIpResolver(TRUSTED_PROXIES);
  const client = (peer: string, ...forwardedFor: string[]): string =>
    text(find.resolve(peerAt(bytes(peer)), lines(...forwardedFor)));

  t.test('without trusted proxies the peer is the client, and no header is read', async (t) => {
    const peer = bytes('203.0.113.9');
    const find = createClientIpResolver([]);
    t.equal(find.resolve(peerAt(peer), { forEach: () => t.fail('read the headers') }), peer);
  });

  t.test('20: an untrusted peer is the client; behind a trusted one the first hop that is no proxy is', async (t) => {
    for (const { byProxy, lines, counts } of FORWARDED_FOR_CASES) {
      const peer = byProxy ? '10.1.1.1' : '203.0.113.77';
      t.equal(client(peer, ...lines), counts ?? peer, `${peer}: ${lines.join(' | ').slice(0, 100)}`);
    }
    t.equal(FORWARDED_FOR_CASES.length, 60);
    for (const stranger of ['192.0.2.8', '2001:db8::1', '11.0.0.1']) t.equal(client(stranger, '10.0.0.1'), stranger);
  });

  t.test('a proxy is recognized on IPv4 and IPv6 sockets', async (t) => {
    for (const proxy of ['fd12::1', '::1', '192.0.2.7', '::ffff:10.1.1.1', '172.16.5.5'])
      t.equal(client(proxy, '1.2.3.4, 203.0.113.9'), '203.0.113.9', proxy);
  });

  t.test('20: forged hops on the left never change the client', async (t) => {
    const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom('10.0.0.1', '192.0.2.7'));
    fc.assert(
      fc.property(fc.array(hop), fc.array(hop), (forged, more) => {
        return client('10.1.1.1', forged.join(), `${more.join()},203.0.113.9, 10.2.2.2`) === '203.0.113.9';
      }),
    );
    t.pass();
  });

  t.test('a socket without an address stays without one', async (t) => {
    t.equal(find.resolve(peerAt(new ArrayBuffer(0)), lines('203.0.113.9')).byteLength, 0);
  });

  t.test('a network that cannot be parsed stops the start', async (t) => {
    for (const network of [
      '',
      '10.0.0.0/33',
      '10.0.0/8',
      'proxy.local',
      '::/129',
      '10.0.0.0/8/8',
      '10',
      '0x0a.0.0.0/8',
    ])
      t.throws(() => createClientIpResolver(['127.0.0.1', network]), StartError, network);
  });

  t.test('a PROXY header is the hop before the peer, and only a trusted proxy can have one', async (t) => {
    const behind = (peer: string, proxied: string, ...forwardedFor: string[]): string =>
      text(find.resolve(peerAt(bytes(peer), bytes(proxied)), lines(...forwardedFor)));
    t.equal(behind('10.1.1.1', '203.0.113.9'), '203.0.113.9');
    t.equal(behind('10.1.1.1', '2001:db8::5'), '2001:db8::5');
    t.equal(behind('10.1.1.1', '::ffff:203.0.113.9'), '203.0.113.9');
    t.equal(behind('203.0.113.1', '1.2.3.4'), '203.0.113.1', 'an untrusted peer has sent it');
    t.equal(behind('10.1.1.1', '203.0.113.9', '1.2.3.4'), '203.0.113.9', 'nothing counts left of the first non-proxy');
    t.equal(behind('10.1.1.1', '10.2.2.2', '203.0.113.9'), '203.0.113.9', 'a trusted proxy before a trusted one');
    t.equal(find.hasProxyHeader(peerAt(bytes('10.1.1.1'), bytes('1.2.3.4'))), true);
    t.equal(find.hasProxyHeader(peerAt(bytes('10.1.1.1'))), false);
    t.equal(find.hasProxyHeader(peerAt(bytes('203.0.113.1'), bytes('1.2.3.4'))), false);
    t.equal(createClientIpResolver([]).hasProxyHeader(peerAt(bytes('10.1.1.1'), bytes('1.2.3.4'))), false);
  });

  t.test('loopback addresses are those of this machine, in either family', async (t) => {
    for (const own of ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1']) t.ok(isLoopback(bytes(own)), own);
    for (const other of ['128.0.0.1', '10.0.0.1', '0.0.0.0', '::', '::ffff:10.0.0.1', '::7f00:1', 'fe80::1'])
      t.notOk(isLoopback(bytes(other)), other);
    t.notOk(isLoopback(new ArrayBuffer(0)), 'a connection that has ended');
  });
});

t.test('connection-limiter', async (t) => {
  const [HOME, PROXY] = [Uint8Array.of(203, 0, 113, 9).buffer, Uint8Array.of(10, 0, 0, 1).buffer];

  function doorOf(connections: number) {
    const clock = new ManualClock();
    const door = new ConnectionLimiter({
      connections,
      trackedAddresses: 100,
      idleSeconds: 32,
      processes: 3,
      clientIp: createClientIpResolver(['10.0.0.0/8']),
      clock,
    });
    const admitted = (address: ArrayBuffer, times: number): number =>
      Array.from({ length: times }, () => door.accepts(address)).filter((admits) => admits).length;
    return { clock, door, admitted };
  }

  t.test('an address opens a limited number of connections per second', async (t) => {
    const { clock, door, admitted } = doorOf(3);
    t.equal(admitted(HOME, 10), 3);
    t.equal(door.refused, 7);
    clock.advance(999);
    t.equal(admitted(HOME, 1), 0);
    clock.advance(1);
    t.equal(admitted(HOME, 10), 3);
  });

  t.test('other addresses are not affected', async (t) => {
    const { admitted } = doorOf(3);
    admitted(HOME, 10);
    t.equal(admitted(Uint8Array.of(203, 0, 113, 10).buffer, 1), 1);
  });

  t.test('a trusted proxy opens any number of connections', async (t) => {
    const { door, admitted } = doorOf(3);
    t.equal(admitted(PROXY, 100), 100);
    t.equal(door.refused, 0);
  });

  t.test('while it is crowded, an address opens few more connections until those before end as idle', async (t) => {
    const { clock, door } = doorOf(1000);
    const admitted = (address: ArrayBuffer, times: number, isCrowded: boolean): number =>
      Array.from({ length: times }, () => door.accepts(address, isCrowded)).filter((admits) => admits).length;
    t.equal(admitted(HOME, 500, false), 500);
    t.equal(admitted(HOME, 10, true), 0, 'it has enough');
    t.equal(admitted(Uint8Array.of(203, 0, 113, 10).buffer, 200, true), 112, 'another one gets some');
    t.equal(admitted(PROXY, 200, true), 200);
    clock.advance(31_999);
    t.equal(admitted(HOME, 1, true), 0);
    clock.advance(1);
    t.equal(admitted(HOME, 200, true), 112);
  });

  t.test('the connections that an address may have open are spread over the processes', async (t) => {
    const { door } = doorOf(3);
    t.equal(door.maxOpenOf(HOME), 341);
    t.equal(door.maxOpenOf(PROXY), Number.POSITIVE_INFINITY);
  });
});

t.test('event-loop-lag', async (t) => {
  /** Creates an event loop that lags as much as the test sets. */
  function lateLoop() {
    let nowMs = 0;
    let due: { readonly atMs: number; readonly work: () => void } | undefined;
    const clock = {
      now: () => nowMs,
      monotonic: () => nowMs,
      after(ms: number, work: () => void) {
        due = { atMs: nowMs + ms, work };
        return () => {
          due = undefined;
        };
      },
    };
    const delay = new EventLoopLag(clock);
    const looks = (count: number, lateMs: number): void => {
      for (let i = 0; i < count && due !== undefined; i++) {
        nowMs = due.atMs + lateMs;
        due.work();
      }
    };
    return { delay, looks, isWaiting: () => due !== undefined };
  }

  t.test('one long pause does not count as overload', async (t) => {
    const { delay, looks } = lateLoop();
    looks(1, 60_000);
    t.equal(delay.medianMs, 0);
    looks(20, 2);
    t.equal(delay.medianMs, 2);
    looks(4, 60_000);
    t.equal(delay.medianMs, 2);
  });

  t.test('repeated lag is reported, and so is the recovery', async (t) => {
    const { delay, looks } = lateLoop();
    looks(5, 150);
    t.equal(delay.medianMs, 150);
    looks(5, 1);
    t.equal(delay.medianMs, 1);
  });

  t.test('a closed one takes no more samples', async (t) => {
    const { delay, looks, isWaiting } = lateLoop();
    looks(1, 0);
    delay.close();
    t.notOk(isWaiting());
  });
});

t.test('rate-limit-key', async (t) => {
  const nameOf = (...bytes: readonly number[]): string => callerNameOf(addressKeyOf(Uint8Array.from(bytes).buffer));
  const ipv6 = (...start: readonly number[]): readonly number[] => [...start, ...Array(16 - start.length).fill(0)];

  t.test('all of a /48 has one name, and every other caller another', async (t) => {
    const site = [0x20, 1, 0xd, 0xb8, 0, 7];
    t.equal(nameOf(...ipv6(...site)), nameOf(...ipv6(...site, 0xff, 0xff, 1, 2)));
    const others = [
      nameOf(...ipv6(...site)),
      nameOf(...ipv6(0x20, 1, 0xd, 0xb8, 0, 8)),
      nameOf(10, 0, 0, 1),
      nameOf(10, 0, 0, 2),
    ];
    t.equal(new Set([...others, callerNameOf('key a'), callerNameOf('wallet b')]).size, 6);
  });
});

t.test('rate-limiter-model', async (t) => {
  t.test('18: over sequences of requests it admits what an exact model admits', async (t) => {
    const differences = Array.from({ length: 3_000 }, (_, seed) => limiterDifference(seed, { hasDebt: false }));
    t.same([...new Set(differences)], [undefined]);
  });

  t.test('over sequences with charges that come later, too', async (t) => {
    const differences = Array.from({ length: 3_000 }, (_, seed) => limiterDifference(seed, { hasDebt: true }));
    t.same([...new Set(differences)], [undefined]);
  });
});

t.test('rate-limiter', async (t) => {
  const START_S = 1_700_000_000;
  const free = { units: 100, windowSeconds: 10 };

  const ip = (...bytes: number[]): ArrayBuffer => Uint8Array.from(bytes).buffer;
  const mapped = (...bytes: number[]): ArrayBuffer => ip(...Array(10).fill(0), 0xff, 0xff, ...bytes);

  function limiterOf(trackedAddresses = 1000) {
    const clock = new ManualClock(START_S * 1000);
    return { clock, limiter: new RateLimiter({ free, trackedAddresses }, clock) };
  }

  const home = ip(127, 0, 0, 1);

  t.test('what is given back is left again, and never more than the limit', async (t) => {
    const { limiter } = limiterOf();
    limiter.consume(home, 5);
    t.match(limiter.giveBack(home, 2), { allowed: true, remaining: 97 });
    t.match(limiter.giveBack(home, 9), { remaining: 100 });
    t.equal(limiter.giveBack(home, 1).remaining, 100);
  });

  t.test('an IPv4 address and its IPv4-mapped IPv6 form are one caller; every other address is another', async (t) => {
    const { limiter } = limiterOf();
    limiter.consume(ip(203, 0, 113, 9), 1);
    t.equal(limiter.consume(mapped(203, 0, 113, 9), 1).remaining, 98);
    t.equal(limiter.consume(ip(203, 0, 113, 10), 1).remaining, 99);
  });

  t.test('addresses that only look alike are counted apart', async (t) => {
    const { limiter } = limiterOf();
    limiter.consume(ip(203, 0, 113, 9), 1);
    t.equal(limiter.consume(ip(...Array(8).fill(0), 0, 2, 0xff, 0xff, 203, 0, 113, 9), 1).remaining, 99);
    limiter.consume(ip(0x20, 1, 0x0d, 0xb8, 0, 1, ...Array(10).fill(0)), 1);
    t.equal(
      limiter.peek(ip(0, 0, 0x20, 1, 0x0d, 0xb8, 0, 1, ...Array(8).fill(0))).limit,
      100,
      'a /64 whose number equals that of a /48',
    );
  });

  t.test('a socket without an address is counted too', async (t) => {
    const { limiter } = limiterOf();
    limiter.consume(ip(), 1);
    t.equal(limiter.consume(ip(), 1).remaining, 98);
  });

  t.test('21: a million callers use no more memory than the limit', async (t) => {
    const { clock, limiter } = limiterOf(1000);
    const address = ip(0, 0, 0, 0);
    const view = new DataView(address);
    let largest = 0;
    for (let i = 0; i < 1_000_000; i++) {
      view.setUint32(0, i);
      limiter.consume(address, 1);
      if (i % 100 === 0) clock.advance(1000);
      largest = Math.max(largest, limiter.size);
    }
    t.ok(largest <= 1000, `${largest} windows`);
  });

  t.test('22: a jump of the wall clock gives nobody more requests and takes none away', async (t) => {
    for (const byMs of [86_400_000, -86_400_000, 3_600_000, -3_600_000, 1000, -1000, 500, -500, 128, -128])
      for (const afterMs of [0, 1, 100, 900, 2_500, 5_000, 7_500, 9_900, 9_998])
        t.same(
          jumpClock(byMs, afterMs),
          { freeRequests: 0, lostRequests: 0, isResetChanged: false },
          `${byMs} ms after ${afterMs}`,
        );
  });

  t.test('ended windows of principals are dropped', async (t) => {
    const { clock, limiter } = limiterOf();
    const consume = (id: string) =>
      limiter.consume(home, 1, { id, key: undefined, tier: DEFAULT_TIERS.scale, perIpLimit: undefined });
    for (let i = 0; i < 100; i++) consume(`wallet ${i}`);
    clock.advance(60_000);
    for (let i = 0; i < 100; i++) consume(`other ${i}`);
    t.equal(limiter.size, 100);
  });

  t.test('19: at the edges of a window exactly the limit is admitted, and the headers say so', async (t) => {
    for (let offsetMs = 0; offsetMs < 1000; offsetMs += 37) t.same(windowEdgeFaults(offsetMs), []);
  });
});

t.test('request-account', async (t) => {
  const [LIMIT, WINDOW_S, START_S] = [100, 10, 1_700_000_000];
  const home = Uint8Array.of(127, 0, 0, 1).buffer;
  /** An IPv6 address in the /64 of this number. */
  const ipv6 = (subnet: number): ArrayBuffer =>
    Uint8Array.of(0x20, 1, 0x0d, 0xb8, 0, 1, 0, subnet, ...Array(8).fill(0)).buffer;

  /** Settles a request that costs so much in all. */
  const settleAt = (account: RequestAccount, units: number) => account.settle(units, true);

  function open() {
    const clock = new ManualClock(START_S * 1000);
    const limiter = new RateLimiter({ free: { units: LIMIT, windowSeconds: WINDOW_S }, trackedAddresses: 100 }, clock);
    const openAccount = (address = home): RequestAccount => limiter.openAccount(address, undefined, DEFAULT_TIERS.free);
    const accountOf = (paid: number): RequestAccount => {
      const account = openAccount();
      account.reserve(paid);
      return account;
    };
    return { clock, limiter, openAccount, accountOf };
  }

  t.test('what is known only afterwards leads into debt, which the next window pays', async (t) => {
    const { clock, limiter, accountOf } = open();
    t.match(settleAt(accountOf(1), 21), { limit: LIMIT, remaining: 79, reset: START_S + WINDOW_S });
    t.match(settleAt(accountOf(1), 109), { remaining: 0, reset: START_S + WINDOW_S }, 'in debt until the next window');
    t.match(limiter.consume(home, 1), { allowed: false, remaining: 0, retryAfter: WINDOW_S });
    t.match(limiter.consume(home, 71), { allowed: false, retryAfter: 2 * WINDOW_S }, 'it has 70');
    clock.advance(WINDOW_S * 1000 - 1);
    t.equal(limiter.consume(home, 1).allowed, false);
    clock.advance(1);
    t.match(limiter.peek(home), { limit: LIMIT, remaining: 70, reset: START_S + 2 * WINDOW_S });
    clock.advance(WINDOW_S * 1000);
    t.match(limiter.peek(home), { remaining: LIMIT, reset: START_S + 3 * WINDOW_S }, 'the debt is paid');
    t.equal(limiter.size, 0, 'and the window is dropped');
    t.match(limiter.counts, { charged: 130, givenBack: 0, debt: 30, decisions: { free: { allowed: 2, refused: 3 } } });
  });

  t.test('a debt is at most one limit, and then a unit is free only after the next window', async (t) => {
    const { clock, limiter, accountOf } = open();
    settleAt(accountOf(1), 1_000_000);
    t.match(limiter.counts, { charged: 2 * LIMIT, debt: LIMIT });
    t.match(limiter.consume(home, 1), { allowed: false, reset: START_S + 2 * WINDOW_S, retryAfter: 2 * WINDOW_S });
    clock.advance(2 * WINDOW_S * 1000 - 1);
    t.match(limiter.consume(home, 1), { allowed: false, remaining: 0, retryAfter: 1 });
    clock.advance(1);
    t.match(limiter.consume(home, 1), { allowed: true, remaining: LIMIT - 1 });
  });

  t.test('a debt counts for the site and for one address of a key, too', async (t) => {
    const { limiter, openAccount } = open();
    for (let subnet = 0; subnet < 8; subnet++) settleAt(openAccount(ipv6(subnet)), 150);
    t.match(limiter.consume(ipv6(99), 1), { allowed: false, limit: 8 * LIMIT, remaining: 0 });
    const key = { id: 'key 1', key: '1', tier: DEFAULT_TIERS.build, perIpLimit: 5 };
    settleAt(limiter.openAccount(home, key, key.tier), 8);
    t.match(limiter.consume(home, 1, key), { allowed: false, limit: 5, remaining: 0 });
    t.match(limiter.consume(ipv6(1), 1, key), { allowed: true, limit: 5 });
  });

  t.test('what is given back is left again, and what is refused consumes nothing', async (t) => {
    const { limiter, accountOf } = open();
    t.equal(settleAt(accountOf(21), 1).remaining, LIMIT - 1);
    t.equal(settleAt(accountOf(1), 0).remaining, LIMIT - 1);
    const account = accountOf(1);
    t.throws(() => account.reserve(LIMIT), { code: 'rate_limited' });
    t.match(account.refusal, { allowed: false, units: LIMIT + 1, remaining: LIMIT - 1 });
    t.equal(limiter.peek(home).remaining, LIMIT - 1);
    t.match(limiter.counts, { charged: 23, givenBack: 22, debt: 0, decisions: { free: { allowed: 3, refused: 1 } } });
  });

  t.test('work reserves its highest cost: in turn, if all together might pass the greatest debt', async (t) => {
    const { accountOf } = open();
    const [one, other, third] = [accountOf(1), accountOf(1), accountOf(1)];
    t.equal(one.reserve(0, 90), true);
    t.equal(other.reserve(0, 90), true);
    t.equal(third.reserve(0, 90), false);
    settleAt(one, 2);
    t.equal(third.reserve(0, 90), true);
    const refused = accountOf(1);
    t.throws(() => refused.reserve(98, 0), { code: 'rate_limited' }, 'the units that it surely costs are not left');
  });

  t.test('a full window allows one request, whatever it may cost', async (t) => {
    const { accountOf, limiter } = open();
    const account = accountOf(1);
    t.equal(account.reserve(5 * LIMIT, 9 * LIMIT), true);
    settleAt(account, 9 * LIMIT);
    t.equal(limiter.peek(home).remaining, 0);
  });

  interface Running {
    readonly account: RequestAccount;
    readonly highest: number;
  }

  t.test('nothing that was reserved goes uncharged, whatever runs at one time', async () => {
    const step = fc.record({ waitMs: fc.nat(4000), units: fc.integer({ min: 1, max: 60 }), ends: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { clock, limiter, openAccount } = open();
        const running: Running[] = [];
        let settled = 0;
        const end = ({ account, highest }: Running): void => {
          settleAt(account, 1 + highest); // each costs the most that it may
          settled += 1 + highest;
        };
        for (const { waitMs, units, ends } of steps) {
          clock.advance(waitMs);
          const account = openAccount();
          try {
            account.reserve(1);
            if (account.reserve(0, units)) running.push({ account, highest: units });
            else settleAt(account, 0);
          } catch {
            settleAt(account, 0);
          }
          for (const each of running.splice(0, ends < 5 ? 0 : ends)) end(each);
          if (limiter.peek(home).remaining < 0) return false;
        }
        for (const each of running) end(each);
        const windows = Math.floor((clock.now() / 1000 - START_S) / WINDOW_S) + 1;
        return settled <= windows * LIMIT + LIMIT;
      }),
    );
  });

  t.test('Retry-After is when the units are free: not a second before', async () => {
    const step = fc.record({
      waitMs: fc.nat(12_000),
      later: fc.nat(250),
      units: fc.integer({ min: 1, max: LIMIT }),
      host: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const { clock, limiter } = open();
        for (const { waitMs, later, units, host } of steps) {
          clock.advance(waitMs);
          const address = host === 0 ? home : ipv6(host);
          if (later > 0) limiter.charge(address, later);
          const { allowed, retryAfter, remaining, reset } = limiter.consume(address, units);
          if (remaining < 0) return false;
          if (allowed) continue;
          if (Math.abs(reset - (clock.now() / 1000 + retryAfter)) >= 1) return false;
          clock.advance((retryAfter - 1) * 1000);
          if (limiter.consume(address, units).allowed) return false;
          clock.advance(1000);
          if (!limiter.consume(address, units).allowed) return false;
        }
        return true;
      }),
    );
  });

  t.test('units beyond the greatest debt were not charged, so they are not given back', async (t) => {
    const { clock, limiter, accountOf } = open();
    const account = accountOf(1);
    settleAt(account, 1000);
    settleAt(accountOf(0), 5);
    settleAt(account, 2 * LIMIT + 50);
    t.match(limiter.consume(home, 1), { allowed: false, retryAfter: 2 * WINDOW_S }, 'the whole debt is still owed');
    settleAt(account, LIMIT + 30);
    clock.advance(WINDOW_S * 1000);
    t.match(limiter.peek(home), { remaining: 70 }, 'what is below it is given back');
  });
});

t.test('stream-quota', async (t) => {
  const tier: Tier = { ...DEFAULT_TIERS.free, streams: 2, messages: 15 };

  /** A /64 in 2001:db8:<site>::/48. */
  const subnet = (site: number, which: number): bigint =>
    0x2001_0db8_0000_0000n + (BigInt(site) << 16n) + BigInt(which);

  t.test('a caller has a limited number of connections; a closed one frees a slot', async (t) => {
    const quota = new StreamQuota(new ManualClock());
    const first = quota.acquire(1, tier);
    t.ok(quota.acquire(1, tier));
    t.equal(quota.acquire(1, tier), undefined);
    t.ok(quota.acquire(2, tier), 'other callers have their own slots');
    first?.release();
    t.ok(quota.acquire(1, tier));
  });

  t.test('an IPv6 /48 has eight times as many connections as a /64 in it', async (t) => {
    const quota = new StreamQuota(new ManualClock());
    const open = Array.from({ length: 40 }, (_, i) => quota.acquire(subnet(1, i), tier)).filter(
      (slot) => slot !== undefined,
    );
    t.equal(open.length, 16);
    t.equal(quota.acquire(subnet(1, 99), tier), undefined);
    t.ok(quota.acquire(subnet(2, 0), tier), 'another /48');
    for (const slot of open) slot.release();
    t.equal(quota.size, 2, 'callers without connections are dropped');
  });

  t.test('ten messages per second are allowed on a connection, and a limited number on all of a caller', async (t) => {
    const clock = new ManualClock();
    const quota = new StreamQuota(clock);
    const [one, two] = [quota.acquire('key 1', tier), quota.acquire('key 1', tier)];
    const said = (times: number, slot = one): number =>
      Array.from({ length: times }, () => slot?.consumeMessage()).filter((verdict) => verdict === 'handle').length;
    t.equal(said(11), 10);
    t.equal(said(10, two), 5, 'the rest of the fifteen of this caller');
    t.equal(said(1, quota.acquire('key 2', tier)), 1);
    clock.advance(1000);
    t.equal(said(10), 10);
    t.equal(said(5, two), 5);
  });

  t.test('the fiftieth message over the pace within five seconds closes the connection, fewer never do', async (t) => {
    const clock = new ManualClock();
    const quota = new StreamQuota(clock);
    const slot = quota.acquire('key 1', { ...tier, messages: 1000 });
    const say = (times: number): unknown[] =>
      Array.from({ length: times }, () => slot?.consumeMessage()).filter((verdict) => verdict !== 'handle');
    for (let second = 0; second < 60; second++) {
      t.same(say(19), Array(9).fill('refuse'), 'nine over the pace each second are 45 in five seconds');
      clock.advance(1000);
    }
    clock.advance(5000);
    t.same(say(59), Array(49).fill('refuse'));
    clock.advance(4999);
    t.same(say(10), []);
    t.same(say(1), ['close']);
  });

  t.test('a caller may subscribe immediately to all addresses of one connection, then at the pace', async (t) => {
    const clock = new ManualClock();
    const quota = new StreamQuota(clock);
    const [one, two] = [quota.acquire('key 1', tier), quota.acquire('key 1', tier)];
    const granted = (slot = one): number => {
      for (let count = 0; ; count++) if (slot?.consumeSubscribe() !== 0) return count;
    };
    t.equal(granted(), tier.subscriptions);
    t.equal(granted(two), 0, 'all connections of a caller together');
    const waitMs = one?.consumeSubscribe() ?? 0;
    t.equal(waitMs, Math.ceil(1000 / tier.messages));
    clock.advance(waitMs);
    t.equal(granted(two), 1);
    clock.advance(600);
    t.equal(granted(), Math.floor(0.6 * tier.messages));
    clock.advance(3_600_000);
    t.equal(granted(), tier.subscriptions, 'no more are saved up');
  });

  t.test('whoever closes a connection and opens another has no more addresses than on one', async (t) => {
    const clock = new ManualClock();
    const quota = new StreamQuota(clock);
    const granted = (): number => {
      const slot = quota.acquire('key 1', tier);
      for (let count = 0; ; count++) {
        if (slot?.consumeSubscribe() === 0) continue;
        slot?.release();
        return count;
      }
    };
    t.equal(granted(), tier.subscriptions);
    t.equal(granted(), 0);
    clock.advance(400);
    t.equal(granted(), 0.4 * tier.messages);
    t.equal(quota.size, 1);
    clock.advance((tier.subscriptions / tier.messages) * 1000 + 1);
    t.equal(quota.size, 0, 'forgotten once all are back');
    t.equal(granted(), tier.subscriptions);
  });

  /** Lets messages arrive. */
  const arrive = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };

  /** Starts processes that share streams. Returns how the store is replaced, too. */
  function shareStreams(count: number, afterTurn = (work: () => void) => work()) {
    const clock = new ManualClock();
    let store = new MemoryStore(100, clock);
    let joined = 0;
    const processes = Array.from({ length: count }, () => {
      let listener: CounterListener | undefined;
      let connection: CounterConnection | undefined;
      const connect = (): void => {
        connection = listener && store.join(`${joined++}`, listener);
      };
      const remote = {
        join(_: string, joining: CounterListener): CounterConnection {
          listener = joining;
          connect();
          return {
            members: () => count,
            report: async (reports) => (await connection?.report(reports)) ?? [],
            leave: () => connection?.leave(),
          };
        },
      };
      const member = new CounterMember({ store: remote, member: '', clock, afterTurn });
      const rejoin = (): void => {
        connect();
        listener?.onStale();
      };
      return { quota: new StreamQuota(clock, member.streams), rejoin, leave: () => member.close() };
    });
    const replaceStore = (): void => {
      store = new MemoryStore(100, clock);
      for (const { rejoin } of processes) rejoin();
    };
    return { processes, replaceStore, callers: () => store.size };
  }

  t.test('a caller has as many connections over all processes, until one of these ends', async (t) => {
    const { processes, replaceStore, callers } = shareStreams(3);
    const keys = [1, 'key 1', subnet(1, 1)] as const;
    const acquire = (process: number, key: (typeof keys)[number]) => processes[process]?.quota.acquire(key, tier);
    const open = keys.map((key) => [acquire(0, key), acquire(1, key)]);
    await arrive();
    const refused = (): unknown[] => keys.map((key) => acquire(2, key));
    t.same(refused(), [undefined, undefined, undefined]);
    replaceStore();
    await arrive();
    t.same(refused(), [undefined, undefined, undefined], 'another store is informed');
    processes[1]?.leave();
    t.ok(acquire(2, 1), 'what an ended process had is free');
    await arrive();
    for (const [slot] of open) slot?.release();
    await arrive();
    t.ok(acquire(2, 'key 1'));
    t.equal(callers(), 2, 'a caller without any is forgotten');
  });

  t.test('the pace of a caller is that of its connections at this process', async (t) => {
    const { processes } = shareStreams(2);
    const limits = { ...tier, messages: 8, subscriptions: 4 };
    const here = processes[0]?.quota.acquire('key 1', limits);
    await arrive();
    const there = processes[1]?.quota.acquire('key 1', limits);
    await arrive();
    const said = Array.from({ length: 10 }, () => here?.consumeMessage()).filter((verdict) => verdict === 'handle');
    t.equal(said.length, 4);
    const subscribed = Array.from({ length: 10 }, () => there?.consumeSubscribe()).filter((waitMs) => waitMs === 0);
    t.equal(subscribed.length, 2);
  });

  t.test('of connections opened at several processes in one moment those reported last are revoked', async (t) => {
    const waiting: (() => void)[] = [];
    const { processes } = shareStreams(2, (work) => waiting.push(work));
    const revoked: number[] = [];
    for (const [i, process] of [0, 1, 0, 1].entries()) {
      const slot = processes[process]?.quota.acquire(subnet(1, 1), tier);
      slot?.onRevoked(() => {
        revoked.push(i);
        slot.release();
      });
    }
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      work();
      await arrive();
    }
    t.same(revoked, [1, 3]);
    t.equal(processes[1]?.quota.acquire(subnet(1, 1), tier), undefined);
  });

  t.test('without the store each process has its part of the streams of a caller', async (t) => {
    const clock = new ManualClock();
    const gone = { members: () => 2, report: () => Promise.reject(new Error('gone')), leave: () => {} };
    const member = new CounterMember({ store: { join: () => gone }, member: '', clock, afterTurn: (work) => work() });
    const quota = new StreamQuota(clock, member.streams);
    const open = (): number => {
      for (let count = 0; ; count++) if (quota.acquire('key 1', { ...tier, streams: 5 }) === undefined) return count;
    };
    t.ok(quota.acquire('key 1', tier));
    await arrive();
    t.equal(1 + open(), 3);
  });
});

t.test('tiers', async (t) => {
  t.test('the default tiers are those documented', async (t) => {
    t.match(DEFAULT_TIERS.free, { units: 100, windowSeconds: 10, streams: 5, subscriptions: 10, priority: false });
    t.match(DEFAULT_TIERS.build, { units: 500, windowSeconds: 10, streams: 50, subscriptions: 100, priority: false });
    t.match(DEFAULT_TIERS.scale, {
      units: 30_000,
      windowSeconds: 60,
      streams: 250,
      subscriptions: 1000,
      priority: true,
    });
  });

  t.test('each step of a wallet’s balance adds the free tier once more, up to the limits', async () => {
    const least = (most: number, each: number, steps: bigint): number =>
      steps > 1_000_000n ? most : Math.min(most, each + each * Number(steps));
    fc.assert(
      fc.property(fc.oneof(fc.bigInt({ min: 1n, max: 300n }), fc.bigInt({ min: 1n, max: 2n ** 64n })), (steps) => {
        const { units, windowSeconds, streams, subscriptions, priority } = DEFAULT_TIERS.staked(steps);
        return (
          units === least(20_000, 100, steps) &&
          streams === least(250, 5, steps) &&
          subscriptions === least(1000, 10, steps) &&
          windowSeconds === 10 &&
          priority
        );
      }),
    );
  });
});
