import { httpClient } from '../../../support/harness.ts';
import { malformedCalls, REJECTED_METHOD_NAMES } from '../../../support/rpc-method-spellings.ts';
import { expectNone, info } from '../../findings.ts';
import { expectAll, type WireRow } from '../wire-row.ts';
import { OWN_RPC_METHODS } from './rpc-allow-list.ts';

/** An allowed method that the gateway itself does not call. */
const READ_METHOD = 'getClusterNodes';

export const rpcMethodSpellings: WireRow = {
  id: '15',
  title: 'methods in other spellings, batches, and methods that are not text',
  async run({ url, node }) {
    const { rpc } = httpClient(url);
    const bodies = [...REJECTED_METHOD_NAMES.map((method) => ({ method, params: [] })), ...malformedCalls(READ_METHOD)];
    const before = node.requestCounts.get(READ_METHOD) ?? 0;
    let refused = 0;
    for (const body of bodies) {
      const { status } = await rpc(JSON.stringify(body));
      if (status === 400 || status === 403) refused++;
      else console.error(`   ${status} ${JSON.stringify(body)}`);
    }
    const reached = REJECTED_METHOD_NAMES.filter(
      (method) => !OWN_RPC_METHODS.includes(method) && node.requestCounts.has(method),
    ).length;
    return [
      info('sent', bodies.length),
      expectAll('refused', refused, bodies.length),
      expectNone('that the node was asked for', reached + (node.requestCounts.get(READ_METHOD) ?? 0) - before),
    ];
  },
};
