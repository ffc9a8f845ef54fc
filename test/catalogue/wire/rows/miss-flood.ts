import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { Pool } from 'undici';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { expectNone, info } from '../../findings.ts';
import { countFor, expectAtMost, type WireRow } from '../wire-row.ts';
import { withWireTestbed } from '../wire-testbed.ts';

const AT_ONCE = 64;
const LIMIT = 100;

/** One caller requests random accounts as fast as possible. */
export const missFlood: WireRow = {
  id: '38',
  title: 'random addresses from one caller',
  run: (_, runLength) =>
    withWireTestbed([`limits.free.requests=${LIMIT}`, 'limits.free.windowSeconds=600'], async ({ url, node }) => {
      const count = countFor(runLength, 2000, 10_000, 100_000);
      const addresses = new Set(Array.from({ length: count }, () => bs58.encode(randomBytes(32))));
      const asked = new Set<string>();
      node.overrides.set('getMultipleAccounts', ([names]: readonly string[][]) => {
        for (const name of names ?? []) if (addresses.has(name)) asked.add(name);
        return undefined;
      });
      const pool = new Pool(url, { connections: AT_ONCE });
      const statusCounts = new Map<number, number>();
      await forEachConcurrent(addresses, AT_ONCE, async (address) => {
        const { statusCode, body } = await pool.request({ method: 'GET', path: `/api/v1/balance/${address}` });
        await body.dump();
        statusCounts.set(statusCode, (statusCounts.get(statusCode) ?? 0) + 1);
      });
      await pool.destroy();
      const admitted = count - (statusCounts.get(429) ?? 0);
      return [
        info('asked', count),
        expectAtMost('admitted', admitted, LIMIT),
        expectAtMost('that the node was asked for', asked.size, LIMIT),
        expectNone('other statuses', admitted - (statusCounts.get(200) ?? 0)),
      ];
    }),
};
