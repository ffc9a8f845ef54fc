import { RateLimiter } from '../../../src/access/limits/rate-limiter.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { ManualClock } from '../manual-clock.ts';
import type { AddressFamily, CallerFloodResult } from './caller-flood.ts';

// Child process whose memory holds nothing else: a limiter with the default settings counts callers, all in one window,
// and prints the result.

const [family, callers] = [process.argv[2] as AddressFamily, Number(process.argv[3])]; // as its parent passes it
const { limits } = loadConfig({ cwd: '/' });

/** Consecutive addresses: of IPv4, or each in another /64 of one IPv6 /48, as far as it has any. */
const ADDRESS_OF: Readonly<Record<AddressFamily, (n: number) => ArrayBuffer>> = {
  ipv4(n) {
    const address = new ArrayBuffer(4);
    new DataView(address).setUint32(0, n);
    return address;
  },
  ipv6(n) {
    const address = new ArrayBuffer(16);
    const view = new DataView(address);
    view.setBigUint64(0, 0x2001_0db8_0001_0000n + BigInt(n & 0xffff));
    view.setUint32(12, n);
    return address;
  },
};

/** Returns the limiter, so that it is still in memory when that is measured. */
function floodWithCallers(identities: number): { readonly limiter: RateLimiter; readonly admitted: number } {
  const limiter = new RateLimiter({ free: limits.free, identities }, new ManualClock());
  let admitted = 0;
  for (let n = 0; n < callers; n++) if (limiter.consume(ADDRESS_OF[family](n), 1).allowed) admitted++;
  return { limiter, admitted };
}

floodWithCallers(100); // the code itself takes memory once
collectGarbage();
const before = process.memoryUsage.rss();
const { limiter, admitted } = floodWithCallers(limits.identities);
collectGarbage();
const result: CallerFloodResult = { grownBytes: process.memoryUsage.rss() - before, admitted, windows: limiter.size };
console.log(JSON.stringify(result));
