import { setTimeout as sleep } from 'node:timers/promises';
import { openConnections } from '../../../support/raw-connection.ts';
import { info } from '../../findings.ts';
import { Bystander } from '../bystander.ts';
import { get } from '../http/raw-request.ts';
import { countFor, expectAll, expectBelowWhenQuiet, expectGrowth, type WireRow } from '../wire-row.ts';

/** Connections that stay open after one request. */
export const idleConnections: WireRow = {
  id: '5',
  title: 'idle connections',
  async run({ url, gateway }, runLength) {
    const count = countFor(runLength, 500, 4000, 10_000);
    const bystander = new Bystander(url);
    const before = await gateway.memory();
    const connections = await openConnections(url, count);
    for (const connection of connections.filter((_, i) => i % 2 === 0)) connection.write(get());
    const during = await gateway.memory();
    await bystander.takeP99Ms();
    await sleep(2000);
    const p99Ms = await bystander.takeP99Ms();
    const open = connections.filter(({ closed }) => !closed).length;
    await bystander.stop();
    for (const connection of connections) connection.reset();
    return [
      info('opened', count),
      info('still open', open),
      expectAll('good answers', bystander.requested - bystander.failed, bystander.requested),
      expectBelowWhenQuiet(runLength, 'their p99', p99Ms, 10, ' ms'),
      ...expectGrowth(before, during, { kept: 10, resident: 40 }),
    ];
  },
};
