import { live } from './route.ts';
import { integer } from './shapes.ts';

export const slot = live({
  path: '/slot',
  summary: 'The newest processed slot',
  result: integer,
  envelope: 'signed',
  commitment: 'processed',
});
