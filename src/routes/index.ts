import { account } from './account.ts';
import { balance } from './balance.ts';
import { epoch } from './epoch.ts';
import { health } from './health.ts';
import { network } from './network.ts';
import { performance } from './performance.ts';
import { priorityFee } from './priority-fee.ts';
import { pubkey } from './pubkey.ts';
import type { Route } from './route.ts';
import { rpc } from './rpc.ts';
import { slot } from './slot.ts';

/** Every endpoint, in the order of the document. */
export const routes: readonly Route[] = [
  slot,
  epoch,
  health,
  performance,
  priorityFee,
  network,
  balance,
  account,
  pubkey,
  rpc,
];
