import { Pool } from 'undici';
import { READ_METHODS } from '../../../../src/domain/rpc-methods.ts';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { expectNone, info } from '../../findings.ts';
import { batches, rpcBody } from '../fuzz-generators.ts';
import { countFor, type WireRow } from '../wire-row.ts';

const AT_ONCE = 64;
const HEADERS = { 'content-type': 'application/json' };

/** Methods outside the allow-list that the gateway itself calls. */
export const OWN_RPC_METHODS: readonly string[] = ['getGenesisHash', 'getProgramAccounts'];

/** Bodies for `/rpc` that try to reach another method. */
export const rpcAllowList: WireRow = {
  id: '14',
  title: 'generated /rpc bodies: repeated members, writes, batches, prototypes',
  async run({ url, node }, runLength) {
    const count = countFor(runLength, 3000, 30_000, 1_000_000);
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
    const pool = new Pool(url, { connections: AT_ONCE });
    const statusCounts = new Map<number, number>();
    const ownBefore = node.requestCounts.get('getProgramAccounts') ?? 0;
    let odd = 0;
    await forEachConcurrent(batches(rpcBody, seed, count), AT_ONCE, async (sent) => {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/api/v1/rpc',
        headers: HEADERS,
        body: sent,
      });
      const text = await body.text();
      statusCounts.set(statusCode, (statusCounts.get(statusCode) ?? 0) + 1);
      if (![200, 400, 403, 404, 503].includes(statusCode)) {
        odd++;
        console.error(`   ${statusCode} ${text} for ${sent}`);
      }
    });
    await pool.destroy();
    const allowed: readonly string[] = [...READ_METHODS, ...OWN_RPC_METHODS];
    const escaped = [...node.requestCounts.keys()].filter((method) => !allowed.includes(method));
    return [
      info('sent', count),
      info('seed', String(seed)),
      ...[...statusCounts].sort().map(([status, times]) => info(String(status), times)),
      expectNone('other statuses', odd),
      expectNone('methods outside the 21 that reached the node', escaped.length),
      expectNone('getProgramAccounts', (node.requestCounts.get('getProgramAccounts') ?? 0) - ownBefore),
    ];
  },
};
