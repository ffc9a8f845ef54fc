import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import {
  readSignaturePage,
  type SignaturePage,
  type SignatureQuery,
} from '../../../../src/upstream/reads/signature-page.ts';
import { RPC_ERROR_CODE } from '../../../../src/upstream/rpc/rpc-error-code.ts';
import type { RpcResponse } from '../../../../src/upstream/rpc/rpc-response.ts';

/** History of one address, and a mesh that returns it. A few transactions share a slot. */
class Past {
  readonly signatures: string[] = [];
  readonly #perSlot = 3;

  constructor(length: number) {
    this.arrive(length);
  }

  arrive(count: number): void {
    for (let i = 0; i < count; i++) this.signatures.push(`s${this.signatures.length}`);
  }

  slotOf = (place: number): number => 1000 + Math.floor(place / this.#perSlot);

  readonly mesh: Pick<Mesh, 'call' | 'tip'> = {
    tip: (commitment) => this.slotOf(this.signatures.length) - (commitment === 'finalized' ? 32 : 0),
    call: async (_, [, config] = []): Promise<RpcResponse> => {
      // parameters of readSignaturePage, in the node's names
      const { limit, before, commitment, minContextSlot } = config as {
        readonly limit: number;
        readonly before?: string;
        readonly commitment: 'confirmed' | 'finalized';
        readonly minContextSlot: number;
      };
      const tip = this.mesh.tip(commitment) ?? 0;
      if (minContextSlot > tip)
        throw new GatewayError('rpc_error', 'behind', {
          rpcCode: RPC_ERROR_CODE.minContextSlotNotReached,
          status: 503,
        });
      const knownCount = Math.min(this.signatures.length, (tip + 1 - this.slotOf(0)) * this.#perSlot);
      const end = before === undefined ? knownCount : Number(before.slice(1)); // signatures are s0, s1, and so on
      if (!(end < knownCount || before === undefined))
        throw new GatewayError('rpc_error', 'not found', {
          rpcCode: RPC_ERROR_CODE.filterTransactionNotFound,
          status: 404,
        });
      const rows = this.signatures.slice(Math.max(0, end - limit), end).map((signature, i) => ({
        blockTime: null,
        confirmationStatus: this.slotOf(Math.max(0, end - limit) + i) <= tip - 32 ? 'finalized' : 'confirmed',
        err: null,
        memo: null,
        signature,
        slot: this.slotOf(Math.max(0, end - limit) + i),
      }));
      const result = Buffer.from(JSON.stringify(rows.reverse()));
      return { slot: minContextSlot, result, value: result };
    },
  };

  page = (query: Partial<SignatureQuery> = {}): Promise<SignaturePage> =>
    readSignaturePage(this.mesh, {
      address: 'a',
      before: undefined,
      limit: 100,
      commitment: 'confirmed',
      minSlot: undefined,
      ...query,
    });
}

t.test('paging reaches the end of a growing history: no duplicate, no gap, no loop', async (t) => {
  const length = 10_000;
  const step = fc.record({ limit: fc.integer({ min: 1, max: 100 }), arrivals: fc.integer({ min: 0, max: 40 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 10 }),
      fc.constantFrom('confirmed', 'finalized'),
      async (steps, commitment) => {
        const past = new Past(length);
        const finalized = past.signatures.filter((_, place) => past.slotOf(place) <= (past.mesh.tip(commitment) ?? 0));
        const walked: string[] = [];
        let before: string | undefined;
        for (let i = 0; ; i++) {
          const { limit = 1, arrivals = 0 } = steps[i % steps.length] ?? {};
          const { rows, nextBefore } = await past.page({ limit, before, commitment });
          walked.push(...rows.map(({ signature }) => signature));
          if (nextBefore === null) break;
          before = nextBefore;
          past.arrive(arrivals);
          if (i > length) throw new Error('the walk goes in circles');
        }
        return walked.join() === finalized.reverse().join();
      },
    ),
    { numRuns: 6 },
  );
  t.pass('as the property says');
});

t.test('a full page below a finalized cursor is final, and no other', async (t) => {
  const past = new Past(1000);
  const newest = await past.page();
  t.equal(newest.isFinal, false, 'the first page');
  t.equal(newest.slot, past.mesh.tip('confirmed'));
  const recent = await past.page({ before: newest.rows[3]?.signature });
  t.equal(recent.isFinal, false, 'the cursor is not finalized');
  const old = await past.page({ before: newest.nextBefore ?? '' });
  t.equal(old.isFinal, true);
  t.equal(old.slot, past.mesh.tip('finalized'), 'its slot is that of the call');
  const last = await past.page({ before: 's50' });
  t.match(last, { isFinal: false, nextBefore: null });
  t.equal(last.rows.length, 50);
});

t.test('a page that ends exactly with the history is followed by an empty one', async (t) => {
  const past = new Past(200);
  const page = await past.page({ before: 's100' });
  t.equal(page.nextBefore, 's0');
  t.match(await past.page({ before: 's0' }), { rows: [], nextBefore: null, isFinal: false });
});

t.test('a page is never older than one before', async (t) => {
  const past = new Past(1000);
  const minSlot = past.mesh.tip('confirmed') ?? 0;
  t.equal((await past.page({ before: 's100', minSlot })).slot, minSlot);
  await t.rejects(past.page({ minSlot: minSlot + 1 }), { code: 'stale', status: 503 });
});

t.test('an unknown cursor has its own error', async (t) => {
  await t.rejects(new Past(10).page({ before: 'unknown' }), { code: 'cursor_not_found', status: 404 });
});

/** Reads a page with exactly these signatures. */
function pageOf(...signatures: string[]): Promise<SignaturePage> {
  const rows = signatures.map((signature) => ({ signature, slot: 5, err: { InstructionError: [0, 'Custom'] } }));
  const result = Buffer.from(JSON.stringify(rows));
  const mesh: Pick<Mesh, 'call' | 'tip'> = {
    tip: () => 9,
    call: async () => ({ slot: 9, result, value: result }),
  };
  const query = { address: 'a', before: 'c', limit: 3, commitment: 'finalized', minSlot: undefined } as const;
  return readSignaturePage(mesh, query);
}

t.test('rows at or above the cursor were on an earlier page, so they are dropped', async (t) => {
  const page = await pageOf('b', 'c', 'd');
  t.strictSame(page.rows, [
    {
      signature: 'd',
      slot: 5,
      blockTime: null,
      confirmationStatus: 'finalized',
      err: '{"InstructionError":[0,"Custom"]}',
      memo: null,
    },
  ]);
  t.match(page, { nextBefore: 'd', isFinal: false });
});

t.test('a node that returns the same page again causes an error, not a loop', async (t) => {
  await t.rejects(pageOf('a', 'b', 'c'), { code: 'upstream_error' });
});
