import type { RequestCost } from '../domain/request-cost.ts';
import { rowsOfRecord } from '../domain/units.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { TransactionRead } from '../upstream/reads/transaction-record.ts';
import { callsForRequest } from '../upstream/rpc/calls-for-request.ts';
import type { RouteContext } from './route.ts';

/**
 * Returns the context of one request: whatever a route reads through it counts for that request, so no route can forget
 * it. What outlives the request, such as a live session or a refresh, doesn't keep the cost. `signal` is aborted when
 * the caller has gone.
 */
export function contextForRequest(context: RouteContext, cost: RequestCost, signal?: AbortSignal): RouteContext {
  const { mesh, accounts, liveAccounts, tokenLists, holderTables, stakeTables, knownMints, prices, decoder } = context;
  const { transactionRecords } = context;
  const requester = { caller: cost.caller, signal };
  /** Counts a record that is decoded, also one that was kept. */
  const countRecord = (read: TransactionRead): TransactionRead => {
    cost.rows += rowsOfRecord(read.record?.length ?? 0);
    return read;
  };
  return {
    ...context,
    mesh: meshForRequest(mesh, cost),
    accounts: {
      read: (query) => accounts.read({ ...query, cost }),
      readBalances: (query) => accounts.readBalances({ ...query, cost }),
    },
    liveAccounts: {
      read: (query) => liveAccounts.read({ ...query, cost }),
      readBalances: (query) => liveAccounts.readBalances({ ...query, cost }),
      readLive: (query) => liveAccounts.readLive(query),
      readLiveBalances: (query) => liveAccounts.readLiveBalances(query),
      subscribe: (...subscription) => liveAccounts.subscribe(...subscription),
    },
    tokenLists: { read: (query) => tokenLists.read({ ...query, cost }) },
    holderTables: {
      get: (mint, minSlot) => holderTables.get(mint, minSlot),
      getOrRead: (query, read) => holderTables.getOrRead(query, read, cost),
    },
    stakeTables: { getOrScan: (query, scan) => stakeTables.getOrScan(query, scan, cost) },
    knownMints: {
      findVerified: (mints) => knownMints.findVerified(mints, cost),
      isImitation: (mint) => knownMints.isImitation(mint),
    },
    decoder: {
      explain: (body) => decoder.explain(body, requester),
      enhance: (record, labels) => decoder.enhance(record, labels, requester),
      findTransfers: (record, query) => decoder.findTransfers(record, query, requester),
      listBlock: (block) => decoder.listBlock(block, { caller: cost.caller }), // others may wait for it, too
    },
    transactionRecords: {
      read: (...query) => transactionRecords.read(...query).then(countRecord),
      readAll: (...query) => transactionRecords.readAll(...query).then((reads) => reads.map(countRecord)),
    },
    prices: { ...prices, find: (mints, asOf) => prices.find(mints, { ...asOf, cost }) },
    countRows(count) {
      cost.rows += count;
    },
  };
}

function meshForRequest(mesh: Mesh, cost: RequestCost): Mesh {
  const { call } = callsForRequest(mesh, cost);
  return {
    call,
    tip: (commitment) => mesh.tip(commitment),
    onTip: (commitment, listener) => mesh.onTip(commitment, listener),
    nodes: () => mesh.nodes(),
    figures: () => mesh.figures(),
    connect: () => mesh.connect(),
    openSession: () => mesh.openSession(),
    close: () => mesh.close(),
    get genesisHash() {
      return mesh.genesisHash;
    },
    get apiVersion() {
      return mesh.apiVersion;
    },
    get requestCount() {
      return mesh.requestCount;
    },
  };
}
