import { liveRoute } from './routing/route.ts';
import { integer } from './routing/schemas.ts';

export const slot = liveRoute({
  path: '/slot',
  summary: 'The newest processed slot',
  result: integer,
  envelope: 'signed',
  commitment: 'processed',
});
