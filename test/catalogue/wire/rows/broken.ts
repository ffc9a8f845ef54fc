import { breakRoutes, createRouteCaller, WITHOUT_LIVE_DATA } from '../../../support/broken-routes.ts';
import { openStepped } from '../../../support/open.ts';
import { inPlace } from '../../../support/place.ts';
import { none, shown } from '../../row.ts';
import { all, type Row } from '../row.ts';

/** Each function of each route throws, or rejects: in this process, where it can be made to. */
export const broken: Row = {
  id: '10',
  what: 'defects in every route',
  run: () =>
    inPlace(async (place) => {
      const world = await openStepped(place, { set: WITHOUT_LIVE_DATA });
      const routes = new Set<string>();
      let [faults, right, well] = [0, 0, 0];
      for await (const { path, fault, wrong, statusAfter } of breakRoutes(world, await createRouteCaller(world))) {
        routes.add(path);
        faults++;
        if (wrong.length === 0) right++;
        if (statusAfter === 200) well++;
        for (const one of wrong) console.error(`   ${path}, ${fault}: ${one}`);
      }
      const alive = (await world.get('/health')).status === 200;
      return [
        shown('routes', routes.size),
        all('told by 500, with the three headers', right, faults),
        all('and well again', well, faults),
        none('exits', alive ? 0 : 1),
      ];
    }),
};
