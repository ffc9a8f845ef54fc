import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import t from 'tap';
import { type ConnectionPeer, createClientIpResolver, isLoopback } from '../../../../src/access/limits/client-ip.ts';
import { StartError } from '../../../../src/domain/start-error.ts';
import { FORWARDED_FOR_CASES, TRUSTED_PROXIES } from '../../../support/access/forwarded-for-cases.ts';

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

t.test('20: an untrusted peer is the client; behind a trusted one it is the first hop that is no proxy', async (t) => {
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

t.test('a network that can not be parsed stops the start', async (t) => {
  for (const network of ['', '10.0.0.0/33', '10.0.0/8', 'proxy.local', '::/129', '10.0.0.0/8/8', '10', '0x0a.0.0.0/8'])
    t.throws(() => createClientIpResolver(['127.0.0.1', network]), StartError, network);
});

t.test('a PROXY header is the hop before the peer, and only a trusted proxy can have one', async (t) => {
  const behind = (peer: string, proxied: string, ...forwardedFor: string[]): string =>
    text(find.resolve(peerAt(bytes(peer), bytes(proxied)), lines(...forwardedFor)));
  t.equal(behind('10.1.1.1', '203.0.113.9'), '203.0.113.9');
  t.equal(behind('10.1.1.1', '2001:db8::5'), '2001:db8::5');
  t.equal(behind('10.1.1.1', '::ffff:203.0.113.9'), '203.0.113.9');
  t.equal(behind('203.0.113.1', '1.2.3.4'), '203.0.113.1', 'an untrusted peer has sent it');
  t.equal(
    behind('10.1.1.1', '203.0.113.9', '1.2.3.4'),
    '203.0.113.9',
    'nothing counts left of the first hop that is no proxy',
  );
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
