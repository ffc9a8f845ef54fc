import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import { MergedSignatures } from '../../../../src/upstream/reads/merged-signatures.ts';
import { cursorNotFound, type SignaturePage } from '../../../../src/upstream/reads/signature-page.ts';
import { RPC_ERROR_CODE } from '../../../../src/upstream/rpc/rpc-error-code.ts';
import type { RpcResponse } from '../../../../src/upstream/rpc/rpc-response.ts';

/** A transaction of the ledger: which of the lists name it, as bits. A block is a list of them, in its order. */
interface Landed {
  readonly signature: string;
  readonly slot: number;
  readonly lists: number;
}

const ADDRESSES = ['owner', 'account 1', 'account 2'] as const;
const FIRST_SLOT = 1000;

/** A ledger, and a node over it that pages as agave does: by place in the block, below any transaction it knows. */
class Ledger {
  readonly landed: readonly Landed[];
  readonly calls: string[] = [];
  readonly floors = new Set<number>();
  readonly mesh: Pick<Mesh, 'call' | 'tip'>;
  readonly #tip: number;

  /** A skipped slot is null; each other one is the lists of each of its transactions. */
  constructor(blocks: readonly (readonly number[] | null)[]) {
    let n = 0;
    this.landed = blocks.flatMap((block, i) =>
      (block ?? []).map((lists) => ({ signature: scrambled(n++), slot: FIRST_SLOT + i, lists })),
    );
    this.#tip = FIRST_SLOT + blocks.length - 1;
    const finalized = this.#tip - 3;
    this.mesh = {
      tip: (commitment) => (commitment === 'finalized' ? finalized : this.#tip),
      call: async (method, [subject, config] = []): Promise<RpcResponse> => {
        this.calls.push(method);
        const known = (config as { commitment: string }).commitment === 'finalized' ? finalized : this.#tip;
        const result = Buffer.from(
          JSON.stringify(
            method === 'getBlock'
              ? this.#block(Number(subject), blocks, known)
              : this.#list(String(subject), config as ListConfig, known),
          ),
        );
        return { slot: known, result, value: result };
      },
    };
  }

  /** Returns the list as it should be told: newest slot first, then by signature. */
  get expected(): string[] {
    return this.landed
      .filter(({ lists }) => lists > 0)
      .toSorted((a, b) => b.slot - a.slot || (a.signature < b.signature ? -1 : 1))
      .map(({ signature }) => signature);
  }

  #block(slot: number, blocks: readonly (readonly number[] | null)[], known: number): object {
    if (slot > known || blocks[slot - FIRST_SLOT] == null)
      throw new GatewayError('rpc_error', 'skipped', { rpcCode: RPC_ERROR_CODE.slotSkipped, status: 404 });
    return { signatures: this.landed.filter((each) => each.slot === slot).map(({ signature }) => signature) };
  }

  #list(address: string, { before, limit, minContextSlot }: ListConfig, known: number): object[] {
    this.floors.add(minContextSlot);
    const bit = 1 << ADDRESSES.indexOf(address as (typeof ADDRESSES)[number]); // none other is asked for
    const end = before === undefined ? this.landed.length : this.landed.findIndex((each) => each.signature === before);
    if (end < 0 || (this.landed[end]?.slot ?? 0) > known)
      throw new GatewayError('rpc_error', 'unknown', {
        rpcCode: RPC_ERROR_CODE.filterTransactionNotFound,
        status: 404,
      });
    return this.landed
      .slice(0, end)
      .filter(({ lists, slot }) => (lists & bit) > 0 && slot <= known)
      .slice(-limit)
      .toReversed()
      .map(({ signature, slot }) => ({ signature, slot, err: null, memo: null, blockTime: null }));
  }
}

interface ListConfig {
  readonly commitment: string;
  readonly before?: string;
  readonly limit: number;
  readonly minContextSlot: number;
}

/** Returns a signature whose place in the alphabet says nothing about its place in the ledger. */
const scrambled = (n: number): string => ((n * 7919 + 13) % 100_003).toString(36).padStart(5, '0');

/** Reads a page. Each merger has met the pages that it read itself. */
const readPage = (ledger: Ledger, merger: MergedSignatures, limit: number, before?: string): Promise<SignaturePage> =>
  merger.read(ledger.mesh, {
    addresses: ADDRESSES,
    before,
    limit,
    commitment: 'confirmed',
    minSlot: undefined,
    slotOfCursor: async (cursor) => {
      const found = ledger.landed.find(({ signature }) => signature === cursor);
      if (found === undefined) throw cursorNotFound();
      return found.slot;
    },
  });

/** Walks from the newest to the end. */
async function walk(ledger: Ledger, limit: number, mergerOf: () => MergedSignatures): Promise<string[]> {
  const signatures: string[] = [];
  for (let before: string | undefined; ; ) {
    const { rows, nextBefore } = await readPage(ledger, mergerOf(), limit, before);
    if (rows.length > limit) throw new Error(`${rows.length} rows`);
    signatures.push(...rows.map(({ signature }) => signature));
    if (nextBefore === null) return signatures;
    before = nextBefore;
  }
}

const blocks = fc.array(fc.option(fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 6 })), {
  minLength: 1,
  maxLength: 25,
});

t.test(
  'a walk tells each transaction once, in order, whatever the pages and whoever read the one before',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(blocks, fc.integer({ min: 1, max: 9 }), async (blocks, limit) => {
        const ledger = new Ledger(blocks);
        const merger = new MergedSignatures();
        const walks = [
          await walk(ledger, limit, () => merger),
          await walk(ledger, limit, () => new MergedSignatures()),
        ];
        const floors = ledger.floors.size; // one for each commitment
        return floors <= 2 && walks.every((told) => isDeepStrictEqual(told, ledger.expected));
      }),
      { numRuns: 80 },
    );
    t.pass();
  },
);

t.test('any transaction of the lists is a cursor', async (t) => {
  await fc.assert(
    fc.asyncProperty(blocks, fc.nat(), async (blocks, pick) => {
      const ledger = new Ledger(blocks);
      const { expected } = ledger;
      if (expected.length === 0) return true;
      const place = pick % expected.length;
      const { rows } = await readPage(ledger, new MergedSignatures(), 5, expected[place]);
      const signatures = rows.map(({ signature }) => signature);
      return isDeepStrictEqual(signatures, expected.slice(place + 1, place + 6));
    }),
    { numRuns: 80 },
  );
  t.pass();
});

t.test('a slot with more rows than a page is paged like any other', async (t) => {
  const ledger = new Ledger([[1], Array.from({ length: 60 }, (_, i) => 1 + (i % 7)), [2], null, [4]]);
  const merger = new MergedSignatures();
  t.same(await walk(ledger, 7, () => merger), ledger.expected);
  t.same(await walk(ledger, 7, () => new MergedSignatures()), ledger.expected);
});

t.test('a walk costs a call for each list and page: what is above a cursor is remembered', async (t) => {
  const ledger = new Ledger(Array.from({ length: 60 }, (_, i) => [1 + (i % 7), 0]));
  const merger = new MergedSignatures();
  await walk(ledger, 10, () => merger);
  t.same(ledger.calls, Array(ADDRESSES.length * 6).fill('getSignaturesForAddress'));
  ledger.calls.length = 0;
  await readPage(ledger, new MergedSignatures(), 10, ledger.expected[10]);
  t.same(
    ledger.calls.filter((method) => method === 'getBlock'),
    ['getBlock'],
  );
});

t.test('a page below a finalized cursor may change: a closed account is not merged any more', async (t) => {
  const ledger = new Ledger(Array.from({ length: 40 }, () => [3]));
  t.notOk((await readPage(ledger, new MergedSignatures(), 5, ledger.expected[10])).isFinal);
});

t.test('a cursor that nobody knows is told as such, and a node that repeats a slot is given up', async (t) => {
  const ledger = new Ledger([[1], [2]]);
  await t.rejects(readPage(ledger, new MergedSignatures(), 5, 'nobody'), { code: 'cursor_not_found' });
  const row = { slot: FIRST_SLOT, err: null, memo: null, blockTime: null };
  const endless = Buffer.from(JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ ...row, signature: `${i}` }))));
  let calls = 0;
  const mesh: Ledger['mesh'] = {
    tip: () => FIRST_SLOT,
    call: async () => {
      calls++;
      return { slot: FIRST_SLOT, result: endless, value: endless };
    },
  };
  const query = { addresses: ADDRESSES, before: undefined, limit: 5, commitment: 'confirmed', minSlot: 0 } as const;
  const reading = new MergedSignatures().read(mesh, { ...query, slotOfCursor: async () => 0 });
  await t.rejects(reading, { code: 'upstream_error' });
  t.ok(calls <= 24, `${calls} calls`);
});
