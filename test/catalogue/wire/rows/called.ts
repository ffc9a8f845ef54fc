import { Pool } from 'undici';
import { READ_METHODS } from '../../../../src/domain/rpc-methods.ts';
import { inTurn } from '../../../support/in-turn.ts';
import { none, shown } from '../../row.ts';
import { batches, rpcBody } from '../fuzz.ts';
import { type Row, times } from '../row.ts';

const AT_ONCE = 64;
const HEADERS = { 'content-type': 'application/json' };

/** What the gateway asks for by itself. */
export const ASKED_BY_ITSELF: readonly string[] = ['getGenesisHash', 'getProgramAccounts'];

/** Bodies for `/rpc` that try to get another method through. */
export const called: Row = {
  id: '14',
  what: 'generated /rpc bodies: repeated members, writes, batches, prototypes',
  async run({ url, node }, pace) {
    const count = times(pace, 3000, 30_000, 1_000_000);
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
    const pool = new Pool(url, { connections: AT_ONCE });
    const said = new Map<number, number>();
    const ownBefore = node.asked.get('getProgramAccounts') ?? 0;
    let odd = 0;
    await inTurn(batches(rpcBody, seed, count), AT_ONCE, async (sent) => {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/api/v1/rpc',
        headers: HEADERS,
        body: sent,
      });
      const text = await body.text();
      said.set(statusCode, (said.get(statusCode) ?? 0) + 1);
      if (![200, 400, 403, 404, 503].includes(statusCode)) {
        odd++;
        console.error(`   ${statusCode} ${text} for ${sent}`);
      }
    });
    await pool.destroy();
    const allowed: readonly string[] = [...READ_METHODS, ...ASKED_BY_ITSELF];
    const escaped = [...node.asked.keys()].filter((method) => !allowed.includes(method));
    return [
      shown('sent', count),
      shown('seed', String(seed)),
      ...[...said].sort().map(([status, times]) => shown(String(status), times)),
      none('other statuses', odd),
      none('methods outside the 21 that reached the node', escaped.length),
      none('getProgramAccounts', (node.asked.get('getProgramAccounts') ?? 0) - ownBefore),
    ];
  },
};
