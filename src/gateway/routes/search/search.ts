import * as z from 'zod';
import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import { firstSlotOfEpoch } from '../../../shared/domain/epoch-info.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { accountKindOf, resolveDomain, type SolDomain } from '../../../transactions/index.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { parseAccountInfoYielding } from '../../upstream/reads/account-info.ts';
import { readEncodedAccounts } from '../../upstream/reads/encoded-accounts.ts';
import { blockExists, transactionExists } from '../../upstream/reads/existence-checks.ts';
import { readNftOwner } from '../../upstream/reads/largest-token-accounts.ts';
import { readEpochInfo } from '../../upstream/reads/network-statistics.ts';
import { RPC_ERROR_CODE } from '../../upstream/rpc/rpc-error-code.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import type { RequestScope } from '../routing/request-scope.ts';
import { type AccountReads, readRoute, type Uses } from '../routing/route.ts';
import { type SearchTerm, searchTerm } from './search-term.ts';

const RESULT_TYPES = ['address', 'mint', 'signature', 'slot', 'epoch', 'domain'] as const;
const DOMAIN_METHODS = ['nft', 'record-v2', 'record-v1', 'owner'] as const;

export const search = readRoute({
  path: '/search',
  summary:
    'Classifies a pasted text and names the route that shows it; of an epoch that is over or to come: its first block',
  params: { q: searchTerm },
  result: z.strictObject({
    query: z.string(),
    type: z.enum(RESULT_TYPES),
    id: z.string(),
    path: z.string(),
    exists: z.boolean(),
    kind: z.string().nullable(),
    domain: z.strictObject({ name: z.string(), nameAccount: z.string(), method: z.enum(DOMAIN_METHODS) }).nullable(),
    name: z.string().nullable().describe('The known ticker or program that the text named'),
    alternatives: z
      .array(z.strictObject({ id: z.string(), path: z.string() }))
      .describe('Other addresses of the same name'),
  }),
  envelope: 'signed',
  cache: { slots: 4 },
  claimNumberOf: () => 2,
  errors: ['unclassifiable', 'not_found'],

  async resolve({ q: term }, context: SearchUses, scope) {
    const { slot, ...found } = await find(term, context, scope);
    return { slot, result: { query: term.query, domain: null, name: null, alternatives: [], ...found } };
  },
});

type SearchUses = Uses<'callsFor' | 'accounts' | 'seenBlocks'>;

async function find(term: SearchTerm, { callsFor, accounts, seenBlocks }: SearchUses, scope: RequestScope) {
  const { minSlot } = scope;
  const rpc = callsFor(scope);
  switch (term.type) {
    case 'domain': {
      const { slot, address, method } = await resolveDomainAddress(rpc, term.domain, minSlot);
      const { name, nameAccount } = term.domain;
      const { exists, kind } = await readAccountKind(accounts, address, { ...scope, minSlot: slot });
      const domain = { name, nameAccount, method };
      return { slot, type: term.type, id: address, path: pathTo('account', address), exists, kind, domain };
    }
    case 'name': {
      const [id, ...others] = term.known.addresses;
      const alternatives = others.map((other) => ({ id: other, path: pathTo('account', other) }));
      return { ...(await findAccount(accounts, id, scope)), name: term.known.name, alternatives };
    }
    case 'address': {
      const blockSlot = seenBlocks.slotOf(term.id);
      return blockSlot === undefined ? findAccount(accounts, term.id, scope) : findSlot(rpc, `${blockSlot}`, minSlot);
    }
    case 'slot':
      return findSlot(rpc, term.id, minSlot);
    case 'epoch': {
      const { slot, exists, kind, firstSlot } = await readEpochKind(rpc, Number(term.id), minSlot);
      const path = kind === 'current' ? `${API_PREFIX}/epoch` : pathTo('block', `${firstSlot}`);
      return { slot, type: term.type, id: term.id, path, exists, kind };
    }
    case 'signature': {
      const { slot, exists } = await transactionExists(rpc, term.id, minSlot);
      return { slot, type: term.type, id: term.id, path: pathTo('tx', term.id), exists, kind: null };
    }
  }
}

const pathTo = (route: string, id: string): string => `${API_PREFIX}/${route}/${id}`;

async function findAccount(accounts: AccountReads, id: string, scope: RequestScope) {
  const { slot, exists, kind, isMint } = await readAccountKind(accounts, id, scope);
  const type = isMint ? ('mint' as const) : ('address' as const);
  return { slot, type, id, path: pathTo(isMint ? 'token' : 'account', id), exists, kind };
}

async function findSlot(rpc: Pick<Mesh, 'call' | 'tip'>, id: string, minSlot: Slot | undefined) {
  const { slot, exists } = await blockExists(rpc, BigInt(id), minSlot);
  return { slot, type: 'slot' as const, id, path: pathTo('block', id), exists, kind: null };
}

async function readEpochKind(rpc: RpcCaller, epoch: number, minSlot: Slot | undefined) {
  const { slot, result: current } = await readEpochInfo(rpc, 'confirmed', minSlot);
  const kind = epoch === current.epoch ? 'current' : epoch < current.epoch ? 'past' : 'future';
  return { slot, exists: kind !== 'future', kind, firstSlot: firstSlotOfEpoch(current, epoch) };
}

async function readAccountKind(accounts: AccountReads, address: string, { minSlot, cost }: RequestScope) {
  const query = { address, shape: 'parsed', commitment: 'confirmed', minContextSlot: minSlot, cost } as const;
  const { slot, account } = await accounts.read(query);
  if (account === null) return { slot, exists: false, kind: null, isMint: false };
  const { owner, parsed } = await parseAccountInfoYielding(account);
  const kind = accountKindOf(owner, parsed);
  return { slot, exists: true, kind, isMint: /^spl-token(-2022)?:mint$/.test(kind) };
}

/** Resolves a .sol name to the address that payments go to. Throws `not_found` if there is none. */
async function resolveDomainAddress(
  rpc: RpcCaller,
  domain: SolDomain,
  minContextSlot: Slot | undefined,
): Promise<{ readonly slot: Slot; readonly address: string; readonly method: (typeof DOMAIN_METHODS)[number] }> {
  const at = { commitment: 'confirmed', minContextSlot } as const;
  const { slots, accounts } = await readEncodedAccounts(rpc, domain.accounts, at);
  const slot = Math.min(...slots);
  const found = resolveDomain(
    domain,
    domain.accounts.map((address) => accounts.get(address) ?? null),
  );
  if (found.status === 'resolved') return { slot, address: found.address, method: found.method };
  const holder =
    found.status === 'holder'
      ? await readNftOwner(rpc, found.mint, { ...at, minContextSlot: slot }).catch(undefinedIfNoMint)
      : undefined;
  if (holder === undefined) throw new GatewayError('not_found', 'this name resolves to no address');
  return { slot, address: holder, method: 'nft' };
}

/** Returns undefined for a mint that doesn't exist, for which a node answers with an error. */
function undefinedIfNoMint(thrown: unknown): undefined {
  if (thrown instanceof GatewayError && thrown.rpcCode === RPC_ERROR_CODE.invalidParams) return undefined;
  throw thrown;
}
