import { live } from '../routing/route.ts';
import { integer } from '../routing/shapes.ts';

export const slot = live({
  path: '/slot',
  summary: 'The newest processed slot',
  result: integer,
  envelope: 'signed',
  commitment: 'processed',
});
