import { z } from 'zod';
import { API_PREFIX } from '../../domain/canonical-request.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { readRoute, type Uses } from '../../routing/route.ts';
import { accountKindOf } from '../../solana/accounts/account-kind.ts';
import { domainHolderOf, resolveDomain, type SolDomain } from '../../solana/accounts/sol-domain.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import type { AccountSource } from '../../upstream/reads/account-batcher.ts';
import { parseAccountInfo } from '../../upstream/reads/account-info.ts';
import { type ReadOptions, readEncodedAccounts } from '../../upstream/reads/encoded-accounts.ts';
import { blockExists, transactionExists } from '../../upstream/reads/existence-checks.ts';
import { readLargestTokenAccounts } from '../../upstream/reads/largest-token-accounts.ts';
import { RPC_ERROR_CODE } from '../../upstream/rpc/rpc-error-code.ts';
import { searchTerm } from './search-term.ts';

const RESULT_TYPES = ['address', 'mint', 'signature', 'slot', 'domain'] as const;
const DOMAIN_METHODS = ['nft', 'record-v2', 'record-v1', 'owner'] as const;

export const search = readRoute({
  path: '/search',
  summary: 'Classifies a pasted text and names the route that shows it',
  params: { q: searchTerm },
  result: z.strictObject({
    query: z.string(),
    type: z.enum(RESULT_TYPES),
    id: z.string(),
    path: z.string(),
    exists: z.boolean(),
    kind: z.string().nullable(),
    domain: z.strictObject({ name: z.string(), nameAccount: z.string(), method: z.enum(DOMAIN_METHODS) }).nullable(),
  }),
  envelope: 'signed',
  cache: { slots: 4 },
  commitmentOf: () => 'confirmed',
  errors: ['unclassifiable', 'not_found'],

  async resolve({ q: term }, { mesh, accounts }: Uses<'mesh' | 'accounts'>, { minSlot }) {
    const { query } = term;
    if (term.type === 'domain') {
      const { name, nameAccount } = term.domain;
      const { slot, address, method } = await resolveDomainAddress(mesh, term.domain, minSlot);
      const { exists, kind } = await readAccountKind(accounts, address, slot);
      const domain = { name, nameAccount, method };
      return {
        slot,
        result: { query, type: 'domain' as const, id: address, path: pathTo('account', address), exists, kind, domain },
      };
    }
    const { id } = term;
    if (term.type === 'address') {
      const { slot, exists, kind, isMint } = await readAccountKind(accounts, id, minSlot);
      const [type, path] = isMint
        ? (['mint', pathTo('token', id)] as const)
        : (['address', pathTo('account', id)] as const);
      return { slot, result: { query, type, id, path, exists, kind, domain: null } };
    }
    const isSlot = term.type === 'slot';
    const { slot, exists } = await (isSlot
      ? blockExists(mesh, BigInt(id), minSlot)
      : transactionExists(mesh, id, minSlot));
    const path = pathTo(isSlot ? 'block' : 'tx', id);
    return { slot, result: { query, type: term.type, id, path, exists, kind: null, domain: null } };
  },
});

const pathTo = (route: string, id: string): string => `${API_PREFIX}/${route}/${id}`;

/** Reads the kind of account at an address, named as by `/account`. */
async function readAccountKind(accounts: AccountSource, address: string, minContextSlot: Slot | undefined) {
  const { slot, account } = await accounts.read({ address, shape: 'parsed', commitment: 'confirmed', minContextSlot });
  if (account === null) return { slot, exists: false, kind: null, isMint: false };
  const { owner, parsed } = parseAccountInfo(account);
  const kind = accountKindOf(owner, parsed);
  return { slot, exists: true, kind, isMint: /^spl-token(-2022)?:mint$/.test(kind) };
}

/** Resolves a .sol name to the address that payments go to. Throws `not_found` if there is none. */
async function resolveDomainAddress(
  mesh: Mesh,
  domain: SolDomain,
  minContextSlot: Slot | undefined,
): Promise<{ readonly slot: Slot; readonly address: string; readonly method: (typeof DOMAIN_METHODS)[number] }> {
  const at = { commitment: 'confirmed', minContextSlot } as const;
  const { slots, accounts } = await readEncodedAccounts(mesh, domain.accounts, at);
  const slot = Math.min(...slots);
  const found = resolveDomain(
    domain,
    domain.accounts.map((address) => accounts.get(address) ?? null),
  );
  if (found.status === 'resolved') return { slot, address: found.address, method: found.method };
  const holder = found.status === 'holder' ? await readNftHolder(mesh, found.mint, slot) : undefined;
  if (holder === undefined) throw new GatewayError('not_found', 'this name resolves to no address');
  return { slot, address: holder, method: 'nft' };
}

/** Returns the owner of the one token of a wrapped (tokenized) name. */
async function readNftHolder(mesh: Mesh, mint: string, minContextSlot: Slot): Promise<string | undefined> {
  const at: ReadOptions = { commitment: 'confirmed', minContextSlot };
  const [largest] = await readLargestTokenAccounts(mesh, mint, at).then(({ addresses }) => addresses, emptyIfNoMint);
  if (largest === undefined) return undefined;
  const { accounts } = await readEncodedAccounts(mesh, [largest], at);
  return domainHolderOf(mint, accounts.get(largest) ?? null);
}

/** Returns no accounts for a mint that doesn't exist, for which a node answers with an error. */
function emptyIfNoMint(thrown: unknown): readonly string[] {
  if (thrown instanceof GatewayError && thrown.rpcCode === RPC_ERROR_CODE.invalidParams) return [];
  throw thrown;
}
