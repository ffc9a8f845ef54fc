import * as z from 'zod';
import { toSol } from '../../shared/domain/sol-amount.ts';
import { parseAccountLamports } from '../upstream/reads/account-info.ts';
import { accountRoute } from './routing/account-route.ts';
import { SMALL_READ_UNITS } from './routing/route.ts';
import { lamports } from './routing/schemas.ts';

export const balance = accountRoute({
  path: '/balance/:addr',
  summary: "The SOL balance of an account; 0 if it doesn't exist",
  result: z.strictObject(lamports),
  mostUnitsOf: () => SMALL_READ_UNITS,
  envelope: 'signed',
  isExact: ({ commitment }) => commitment === 'finalized',
  shape: 'lamports',
  answerOf({ slot, provenFrom, agreement, account, lease }) {
    const lamports = account === null ? 0n : parseAccountLamports(account);
    return { slot, provenFrom, agreement, lease, result: { lamports, sol: toSol(lamports) } };
  },
});
