import { malformedCalls, REJECTED_METHOD_NAMES } from '../../../support/method-spellings.ts';
import { client } from '../../../support/open.ts';
import { none, shown } from '../../row.ts';
import { all, type Row } from '../row.ts';
import { ASKED_BY_ITSELF } from './called.ts';

/** A read that passes, and that the gateway does not ask for by itself. */
const READ = 'getClusterNodes';

export const misnamedMethods: Row = {
  id: '15',
  what: 'methods in other spellings, batches, and methods that are no text',
  async run({ url, node }) {
    const { rpc } = client(url);
    const bodies = [...REJECTED_METHOD_NAMES.map((method) => ({ method, params: [] })), ...malformedCalls(READ)];
    const before = node.asked.get(READ) ?? 0;
    let refused = 0;
    for (const body of bodies) {
      const { status } = await rpc(JSON.stringify(body));
      if (status === 400 || status === 403) refused++;
      else console.error(`   ${status} ${JSON.stringify(body)}`);
    }
    const reached = REJECTED_METHOD_NAMES.filter(
      (method) => !ASKED_BY_ITSELF.includes(method) && node.asked.has(method),
    ).length;
    return [
      shown('sent', bodies.length),
      all('refused', refused, bodies.length),
      none('that the node was asked for', reached + (node.asked.get(READ) ?? 0) - before),
    ];
  },
};
