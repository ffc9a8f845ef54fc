import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { encodeBase58 } from '../../../../src/solana/codec/base58.ts';
import { formatInstructionTable } from '../../../../src/solana/programs/generation/instruction-sources.ts';
import { KNOWN_PROGRAMS, programName, programRole } from '../../../../src/solana/programs/known-programs.ts';
import { findProgramInstruction } from '../../../../src/solana/programs/program-instruction.ts';
import { inExecutionOrder } from '../../../../src/solana/transactions/instruction.ts';
import { recordedTransactions } from '../../../support/recorded-transactions.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../../../../src/solana/programs/${path}`, import.meta.url), 'utf8');

t.test('the table is what the sources make', async (t) => {
  const files = readdirSync(new URL('../../../../../src/solana/programs/generation/sources', import.meta.url)).sort();
  t.equal(
    formatInstructionTable(files.map((file) => read(`generation/sources/${file}`))),
    read('program-instruction-table.ts'),
  );
});

t.test('a source that is wrong is refused', async (t) => {
  const head = 'program\tPhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY\thttps://example.org/a\t2026-01-01';
  t.throws(() => formatInstructionTable([`${head}\nswap\t00\tSWAPPED\t`]), /no instruction/);
  t.throws(() => formatInstructionTable([`${head}\nswap\t00\tSWAP\tsomebody=3`]), /no instruction/);
  t.throws(() => formatInstructionTable([`${head}\nswap\t00\tSWAP\t\nsell\t00\tSWAP\t`]), /same discriminator/);
  t.throws(() => formatInstructionTable([head, head]), /two sources/);
  t.throws(() => formatInstructionTable([head.replace('PhoeNiXZ', 'PhoeNiXY')]), /no known program/);
});

t.test('an instruction is found by the first bytes of its data', async (t) => {
  const accounts = Array.from({ length: 20 }, (_, index) => `account ${index}`);
  const find = (programId: string, hex: string, more = accounts): unknown =>
    findProgramInstruction({ programId, data: encodeBase58(Buffer.from(hex, 'hex')), accounts: more });
  const PHOENIX = 'PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY';
  const LIMIT_ORDER = 'j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X';
  const DRIFT = 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH';
  const CORE = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d';
  t.strictSame(find(PHOENIX, '0b01'), {
    name: 'cancel_multiple_orders_by_id_with_free_funds',
    type: 'CANCEL_ORDER',
    roles: { owner: 'account 3' },
  });
  t.strictSame(find(LIMIT_ORDER, '856e4aaf709ff59f0000'), {
    name: 'initialize_order',
    type: 'OPEN_ORDER',
    roles: { owner: 'account 1', order: 'account 2', inputMint: 'account 7', outputMint: 'account 8' },
  });
  t.strictSame(find(LIMIT_ORDER, 'e445a52e51cb9a1d00'), { name: 'emit_event', type: null, roles: {} });
  t.strictSame(find(CORE, '0e00', ['asset', CORE, 'payer', CORE, 'new owner']), {
    name: 'transfer_v1',
    type: 'NFT_TRANSFER',
    roles: { mint: 'asset', user: 'payer', newOwner: 'new owner' }, // Core itself stands for an account that is left out
  });
  t.match(find(DRIFT, 'ffffffff0086b5b6'), { name: 'update_mm_oracle_native', type: 'ORACLE_UPDATE' });
  t.match(find(DRIFT, 'f223c68952e1f2b6'), { name: 'deposit', type: 'DEPOSIT' });
  t.equal(find(PHOENIX, ''), null);
  t.equal(find(PHOENIX, 'ff'), null);
  t.equal(find(LIMIT_ORDER, '856e4aaf'), null);
  t.equal(find('VordrNZMkkryqCDFhFRcti4x3j94KY8fog3RhjGDVok', '09'), null);
  t.equal(findProgramInstruction({ programId: PHOENIX, data: null, accounts }), null);
  t.equal(findProgramInstruction({ programId: PHOENIX, data: '5'.repeat(100_000), accounts }), null);
});

t.test('recorded calls are found, and those who signed stand where the table says', async (t) => {
  const transactions = ['transactions', 'mainnet-block'].flatMap(recordedTransactions);
  let known = 0;
  let found = 0;
  const unsigned = new Set<string>();
  for (const { transaction } of transactions) {
    const signers = transaction.accounts.filter(({ signer }) => signer).map(({ address }) => address);
    for (const topLevel of transaction.instructions) {
      for (const call of inExecutionOrder([topLevel])) {
        if (call.data === null || !KNOWN_PROGRAMS.has(call.programId) || programRole(call.programId) === 'core')
          continue;
        const instruction = findProgramInstruction(call);
        if (programName(call.programId) !== 'HumidiFi') known++; // which masks its data
        if (instruction === null) continue;
        found++;
        const { user, owner, seller, buyer, keeper } = instruction.roles;
        const wallets = [user, owner, seller, buyer, keeper].filter((wallet) => wallet !== undefined);
        if (call === topLevel && wallets.length > 0 && !wallets.some((wallet) => signers.includes(wallet)))
          unsigned.add(`${programName(call.programId)} ${instruction.name}`);
      }
    }
  }
  t.comment(`${found} of ${known} calls`);
  t.ok(found / known > 0.85);
  t.strictSame([...unsigned].sort(), ['Bubblegum mint_to_collection_v1', 'Bubblegum mint_v1']); // whose owner only receives
});
