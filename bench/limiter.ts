import { generateApiKey } from '../src/access/api-keys/api-key.ts';
import { RateLimiter } from '../src/access/limits/rate-limiter.ts';
import { tiersOf } from '../src/access/limits/tiers.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { systemClock } from '../src/runtime/system-clock.ts';

// Cost of counting a request.

const CALLS = 5_000_000;

const { limits } = loadConfig({ cwd: '/' });
const tiers = tiersOf(limits);
const free = { ...limits.free, requests: 2 ** 30 }; // refusals are cheaper

type Write = (address: DataView, n: number) => void;
const ipv4: Write = (address, n) => address.setUint32(0, n);
const ipv6: Write = (address, n) => {
  address.setBigUint64(0, 0x2001_0db8_0001_0000n + BigInt(n & 0xffff));
  address.setUint32(12, n);
};
const addressOf = (write: Write, bytes: number, n: number): ArrayBuffer => {
  const address = new ArrayBuffer(bytes);
  write(new DataView(address), n);
  return address;
};
const key = { id: `key ${generateApiKey().slice(-8)}`, key: 'k', tier: tiers.scale, perIpLimit: undefined };

function nanoseconds(name: string, take: (limiter: RateLimiter, i: number) => void): void {
  const limiter = new RateLimiter({ free, identities: limits.identities }, systemClock);
  for (let i = 0; i < CALLS / 10; i++) take(limiter, i);
  const before = process.cpuUsage(); // CPU time of this process alone
  for (let i = 0; i < CALLS; i++) take(limiter, i);
  const { user, system } = process.cpuUsage(before);
  const ns = ((user + system) * 1000) / CALLS;
  console.log(`${name.padEnd(44)} ${ns.toFixed(0).padStart(6)} ns`);
}

const addresses = Array.from({ length: 10_000 }, (_, n) => addressOf(ipv4, 4, n));
const subnets = Array.from({ length: 10_000 }, (_, n) => addressOf(ipv6, 16, n));
const one = addressOf(ipv4, 4, 0);
nanoseconds('one address', (limiter) => limiter.consume(one, 1));
nanoseconds('10,000 addresses in turn', (limiter, i) => limiter.consume(addresses[i % 10_000] ?? one, 1));
nanoseconds('10,000 IPv6 /64 of one /48 in turn', (limiter, i) => limiter.consume(subnets[i % 10_000] ?? one, 1));
nanoseconds('a key', (limiter) => limiter.consume(one, 1, key));
