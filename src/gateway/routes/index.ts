export type { Param } from './routing/params.ts';
export type { PreSerialized } from './routing/schemas.ts';
export type { TopicName } from './stream-topics.ts';

import { account } from './account.ts';
import { balance } from './balance.ts';
import { balances } from './balances.ts';
import { block } from './block/block.ts';
import { epoch } from './epoch.ts';
import { explain } from './explain.ts';
import { health } from './health.ts';
import { history } from './history/history.ts';
import { holders } from './holders.ts';
import { leaders } from './leaders.ts';
import { network } from './network.ts';
import { networkHistory } from './network-history.ts';
import { performance } from './performance.ts';
import { portfolio } from './portfolio/portfolio.ts';
import { priorityFee } from './priority-fee.ts';
import { pubkey } from './pubkey.ts';
import { createRouteMatcher } from './routing/match-route.ts';
import type { Route } from './routing/route.ts';
import { rpc } from './rpc/rpc.ts';
import { search } from './search/search.ts';
import { slot } from './slot.ts';
import { token } from './token.ts';
import { tokenAccounts } from './token-accounts.ts';
import { tx } from './tx/tx.ts';

/** All routes, in the order of the document. The types of the SDK derive from them. */
export const routes = [
  slot,
  epoch,
  health,
  performance,
  priorityFee,
  network,
  networkHistory,
  balance,
  balances,
  account,
  tokenAccounts,
  portfolio,
  token,
  history,
  block,
  leaders,
  tx,
  holders,
  search,
  pubkey,
  rpc,
  explain,
] as const satisfies readonly Route[];

export const matchRoute = createRouteMatcher(routes);
