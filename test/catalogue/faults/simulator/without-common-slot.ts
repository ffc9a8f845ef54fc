import { combinedLease } from '../../../../src/domain/lease.ts';
import type { LiveAccounts } from '../../../../src/routing/route.ts';
import { parseAccountLamports } from '../../../../src/upstream/reads/account-info.ts';

/**
 * Reads several balances one by one and dates them at the oldest of their slots, whether they held at that slot or not:
 * a control that the simulator must catch.
 */
export const withoutCommonSlot = (liveAccounts: LiveAccounts): LiveAccounts => ({
  read: (query) => liveAccounts.read(query),
  readLive: (query) => liveAccounts.readLive(query),
  readLiveBalances: () => undefined,
  subscribe: (...args) => liveAccounts.subscribe(...args),
  async readBalances({ addresses, ...options }) {
    const reads = await Promise.all(
      addresses.map((address) => liveAccounts.read({ address, shape: 'lamports', ...options })),
    );
    const leases = reads.flatMap(({ lease }) => lease ?? []);
    return {
      slot: Math.min(...reads.map(({ slot }) => slot)),
      lamports: reads.map(({ account }) => (account === null ? 0n : parseAccountLamports(account))),
      lease: leases.length === reads.length ? combinedLease(leases) : undefined,
    };
  },
});
