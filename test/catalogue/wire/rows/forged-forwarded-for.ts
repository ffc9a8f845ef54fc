import { FORWARDED_FOR_CASES, TRUSTED_PROXIES } from '../../../support/access/forwarded-for-cases.ts';
import { exchange } from '../../../support/raw-http.ts';
import { request } from '../http/raw-request.ts';
import { expectAll, type WireRow } from '../wire-row.ts';
import { withWireTestbed } from '../wire-testbed.ts';

const [PROXY, STRANGER] = ['127.0.0.1', '127.200.0.1'];
const SET = [`trustedProxies=${JSON.stringify([...TRUSTED_PROXIES, '127.0.0.0/9'])}`];

/** Callers with forged addresses. The caller is identified by whose remaining quota falls. */
export const forgedForwardedFor: WireRow = {
  id: '20',
  title: 'forged X-Forwarded-For, from a stranger and through a trusted proxy',
  run: () =>
    withWireTestbed(SET, async ({ url }) => {
      const remaining = async (path: string, from: string, lines: readonly string[]): Promise<number> => {
        const headers = lines.map((line) => `X-Forwarded-For: ${line}`);
        const { text } = await exchange(url, [request(`GET /api/v1${path}`, ...headers)], { localAddress: from });
        return Number(/\r\nx-ratelimit-remaining: (\d+)\r\n/i.exec(text)?.[1]);
      };
      let right = 0;
      for (const { byProxy, lines, counts } of FORWARDED_FOR_CASES) {
        const from = byProxy ? PROXY : STRANGER;
        const left = (): Promise<number> => remaining('/health', from, byProxy && counts !== undefined ? [counts] : []);
        const before = await left();
        const remainingNow = await remaining('/slot', from, lines);
        if (remainingNow === before - 1 && (await left()) === remainingNow) right++;
        else
          console.error(`   ${remainingNow} of ${before} are left by ${from}: ${JSON.stringify(lines).slice(0, 200)}`);
      }
      return [expectAll('counted for the right caller', right, FORWARDED_FOR_CASES.length)];
    }),
};
