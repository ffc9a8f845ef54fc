import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import { callWithMaxSupportedVersion } from '../../../../src/upstream/reads/max-supported-version.ts';
import { parseTransactionRecord } from '../../../../src/upstream/reads/transaction-record.ts';
import { TransactionRecords } from '../../../../src/upstream/reads/transaction-records.ts';
import { RPC_ERROR_CODE } from '../../../../src/upstream/rpc/rpc-error-code.ts';

type Reader = Pick<Mesh, 'call'>;

const UNSUPPORTED = new GatewayError('rpc_error', '-32015: Transaction version (3) is not supported by the client', {
  rpcCode: RPC_ERROR_CODE.unsupportedTransactionVersion,
  status: 400,
});

t.test('an unknown version is requested by the number that the node names, once', async (t) => {
  const versions: unknown[] = [];
  const mesh: Reader = {
    call: async (_, params = []) => {
      const { maxSupportedTransactionVersion } = Object(params[1]);
      versions.push(maxSupportedTransactionVersion);
      if (maxSupportedTransactionVersion !== 3) throw UNSUPPORTED;
      return { slot: 1, result: Buffer.from('{}'), value: Buffer.from('{}') };
    },
  };
  const read = { method: 'getBlock', subject: 7, config: { rewards: true }, commitment: 'confirmed' } as const;
  t.equal((await callWithMaxSupportedVersion(mesh, read)).slot, 1);
  t.strictSame(versions, [1, 3]);
  const stubborn: Reader = { call: () => Promise.reject(UNSUPPORTED) };
  await t.rejects(callWithMaxSupportedVersion(stubborn, read), { code: 'rpc_error' });
});

t.test('many records are read eight at a time, and returned in the order of the signatures', async (t) => {
  let [under, most] = [0, 0];
  const mesh: Reader = {
    call: async (_, [signature] = []) => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => setImmediate(resolve));
      under--;
      const result = Buffer.from(signature === 's3' ? 'null' : JSON.stringify({ signature }));
      return { slot: 1, result, value: result };
    },
  };
  const signatures = Array.from({ length: 25 }, (_, i) => `s${i}`);
  const reader = new TransactionRecords({ tip: () => 1 }, 100_000);
  const listed = signatures.map((signature) => ({ signature, slot: 1 }));
  const read = await reader.readAll(mesh, listed, { commitment: 'confirmed', minSlot: undefined });
  const records = read.map(({ record }) => record);
  t.equal(most, 8);
  t.strictSame(
    records.map((record) => record && JSON.parse(record.toString()).signature),
    signatures.map((signature) => (signature === 's3' ? null : signature)),
  );
});

t.test('a finalized record is read once; another is read again unless a list has it in the same slot', async (t) => {
  const tips = { confirmed: 40, finalized: 8 };
  let calls = 0;
  const mesh: Reader = {
    call: async (_, [signature] = []) => {
      calls++;
      const result = Buffer.from(`{"slot":${signature === 'final' ? 8 : 39}}`);
      return { slot: tips.confirmed, result, value: result };
    },
  };
  const reader = new TransactionRecords({ tip: (commitment) => Object(tips)[commitment] }, 10_000);
  const read = async (signature: string, slot?: number, minSlot?: number): Promise<number> => {
    const before = calls;
    await reader.read(mesh, { signature, slot }, { commitment: 'confirmed', minSlot });
    return calls - before;
  };
  t.strictSame([await read('final'), await read('final'), await read('final', 8)], [1, 0, 0]);
  t.equal(await read('final', undefined, 41), 1, 'a slot that is not reached');
  t.strictSame([await read('new'), await read('new'), await read('new', 39), await read('new', 38)], [1, 1, 0, 1]);
  for (let i = 0; i < 100; i++) await read(`other ${i}`);
  t.equal(await read('final'), 1, 'the bytes are bounded');
});

t.test('a record keeps its digits; what old ones leave out is null', async (t) => {
  const old = Buffer.from('{"slot":5,"transaction":{"b":18446744073709551615,"a":1.0}}');
  t.strictSame(await parseTransactionRecord(old), {
    slot: 5,
    blockTime: null,
    transactionIndex: null,
    version: null,
    transaction: '{"a":1.0,"b":18446744073709551615}',
    meta: 'null',
  });
  const version = async (spelled: string): Promise<unknown> =>
    (await parseTransactionRecord(Buffer.from(`{"slot":5,"transaction":[],"version":${spelled}}`))).version;
  t.strictSame([await version('"legacy"'), await version('0'), await version('1')], ['legacy', 0, 1]);
  for (const spelled of ['"newest"', '-1.5', '{}']) await t.rejects(version(spelled), { code: 'upstream_error' });
  await t.rejects(parseTransactionRecord(Buffer.from('{"slot":5}')), { code: 'upstream_error' });
});
