import { startStepped } from '../../../support/harness.ts';
import { breakEachRoute, createRouteCaller, WITHOUT_LIVE_DATA } from '../../../support/route-defects.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, info } from '../../findings.ts';
import { expectAll, type WireRow } from '../wire-row.ts';

/** Each function of each route throws or rejects; in this process, where functions can be replaced. */
export const routeDefects: WireRow = {
  id: '10',
  title: 'defects in every route',
  run: () =>
    withTestScope(async (place) => {
      const world = await startStepped(place, { set: WITHOUT_LIVE_DATA });
      const routes = new Set<string>();
      let [faults, right, well] = [0, 0, 0];
      for await (const { path, fault, wrong, statusAfter } of breakEachRoute(world, await createRouteCaller(world))) {
        routes.add(path);
        faults++;
        if (wrong.length === 0) right++;
        if (statusAfter === 200) well++;
        for (const one of wrong) console.error(`   ${path}, ${fault}: ${one}`);
      }
      const alive = (await world.get('/health')).status === 200;
      return [
        info('routes', routes.size),
        expectAll('answered by 500, with the three headers', right, faults),
        expectAll('and recovered', well, faults),
        expectNone('exits', alive ? 0 : 1),
      ];
    }),
};
