import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { WRAPPED_SOL } from '../../../src/shared/domain/known-mints.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import {
  CLOCK_SYSVAR,
  MEMO_PROGRAM,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../src/shared/domain/well-known-addresses.ts';
import { readTables } from '../../../src/shared/runtime/files/read-tables.ts';
import { findProgramAddress } from '../../../src/transactions/accounts/program-derived-address.ts';
import { extractTransfers } from '../../../src/transactions/analysis/extract-transfers.ts';
import { parseTransaction } from '../../../src/transactions/analysis/parse-transaction.ts';
import { decodeBase58, encodeBase58, isBase58Of } from '../../../src/transactions/codec/base58.ts';
import { decodeKey, encodeKey } from '../../../src/transactions/codec/base58-key.ts';
import { asArray, asObject } from '../../../src/transactions/codec/json-fields.ts';
import { commonNameOf, loggedNamesOf } from '../../../src/transactions/programs/called-names.ts';
import { INSTRUCTION_ROLES } from '../../../src/transactions/programs/instruction-roles.ts';
import { ownerLabelsOf } from '../../../src/transactions/programs/known-owners.ts';
import {
  fallbackTypeOf,
  isIncidentalProgram,
  isTradingProgram,
  KNOWN_PROGRAMS,
  programName,
  programRole,
} from '../../../src/transactions/programs/known-programs.ts';
import { idlPlacesOf, MAX_IDL_BYTES, readIdlNames } from '../../../src/transactions/programs/program-idl.ts';
import { findProgramInstruction } from '../../../src/transactions/programs/program-instruction.ts';
import { PROGRAM_ROLES } from '../../../src/transactions/programs/program-roles.ts';
import { isTipAccount, JITO_TIP_ACCOUNTS, tipRelayOf } from '../../../src/transactions/programs/tip-accounts.ts';
import { TRANSACTION_TYPES } from '../../../src/transactions/programs/transaction-types.ts';
import { decodeInstruction } from '../../../src/transactions/records/decode-instruction.ts';
import { inExecutionOrder } from '../../../src/transactions/records/instruction.ts';
import { withLoggedDepths } from '../../../src/transactions/records/logged-depths.ts';
import {
  normalizeTransaction,
  readTransaction,
  type Transaction,
} from '../../../src/transactions/records/transaction.ts';
import { findExceededBound } from '../../../src/transactions/records/transaction-bounds.ts';
import { addressOfNumber } from '../../support/address-of-number.ts';
import { recordedTransactions } from '../../support/recorded-transactions.ts';
import {
  addressOf,
  bytesOf,
  type SyntheticBalance,
  type SyntheticCall,
  syntheticTransaction,
  u64Bytes,
} from '../../support/synthetic-transaction.ts';

t.test('base58', async (t) => {
  t.test('bytes and texts are converted as the library converts them', async (t) => {
    const zeros = fc.nat(8).map((length) => Array<number>(length).fill(0));
    const bytes = fc.oneof(
      fc.constantFrom([255], [1, 0], Array<number>(300).fill(255)),
      fc.array(fc.nat(255), { maxLength: 400 }),
    );
    fc.assert(
      fc.property(zeros, bytes, (first, rest) => {
        const all = Uint8Array.from([...first, ...rest]);
        const text = encodeBase58(all);
        return text === bs58.encode(all) && Buffer.compare(decodeBase58(text) ?? Buffer.of(1), all) === 0;
      }),
    );
    for (const text of ['0', '1O', ' 1', 'z\n', 'é']) t.equal(decodeBase58(text), undefined, text);
  });

  /** The only length of 0 to 70 bytes that a text may have; undefined for none. */
  const lengthOf = (text: string): number | undefined => {
    const lengths = Array.from({ length: 71 }, (_, length) => length).filter((length) => isBase58Of(text, length));
    t.ok(lengths.length < 2, text);
    return lengths[0];
  };

  t.test('bytes have the length that they are encoded from, leading zeros included', async () => {
    const zeros = fc.nat(8).map((length) => Array<number>(length).fill(0));
    const ends = fc.constantFrom([0], [255], [1], Array<number>(31).fill(255), [1, ...Array<number>(31).fill(0)]);
    const bytes = fc.oneof(ends, fc.array(fc.nat(255), { maxLength: 62 }));
    fc.assert(
      fc.property(zeros, bytes, (first, rest) => {
        const all = Uint8Array.from([...first, ...rest]);
        return lengthOf(bs58.encode(all)) === all.length;
      }),
    );
  });

  t.test('a text has a length just where a decoder accepts it', async () => {
    const unit = fc.constantFrom(
      ...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
      ...'0OIl +\n\u00e9\u0131',
    );
    const texts = fc.array(unit, { maxLength: 88 }).map((characters) => characters.join(''));
    fc.assert(
      fc.property(texts, (text) => lengthOf(text) === bs58.decodeUnsafe(text)?.length),
      { examples: [[''], ['1'], ['z'.repeat(44)], [' 1'], ['1 '], ['1\n']] },
    );
  });

  t.test('keys are converted as the library converts them, other texts are none', async (t) => {
    const zeros = fc.nat(32).map((length) => new Uint8Array(length));
    const bytes = fc.oneof(fc.constant(new Uint8Array(32).fill(255)), fc.uint8Array({ minLength: 32, maxLength: 32 }));
    fc.assert(
      fc.property(zeros, bytes, (first, rest) => {
        const key = Buffer.concat([first, rest]).subarray(0, 32);
        return encodeKey(key) === bs58.encode(key) && key.equals(decodeKey(bs58.encode(key)) ?? Buffer.of());
      }),
    );
    const digits = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz');
    fc.assert(
      fc.property(fc.array(digits, { minLength: 30, maxLength: 46 }), (text) => {
        const known = bs58.decode(text.join(''));
        const key = decodeKey(text.join(''));
        return known.length === 32 ? Buffer.compare(known, key ?? Buffer.of()) === 0 : key === undefined;
      }),
    );
    for (const bad of ['', 'z'.repeat(44), '0'.repeat(43), `${'2'.repeat(42)}é`])
      t.equal(decodeKey(bad), undefined, bad);
  });
});

t.test('called-names', async (t) => {
  const [ONE, TWO, PRECOMPILED] = [addressOfNumber(1), addressOfNumber(2), addressOfNumber(3)];
  const called = (id: string, depth: number, ...lines: readonly string[]): readonly string[] => [
    `Program ${id} invoke [${depth}]`,
    ...lines.map((line) => `Program log: ${line}`),
  ];

  t.test('a top-level instruction has the name that its program logs first', async (t) => {
    const logs = [
      ...called(ONE, 1, 'Instruction: Swap'),
      ...called(TWO, 2, 'Instruction: Inner'),
      `Program ${TWO} success`,
      `Program ${ONE} success`,
      ...called(TWO, 1, 'first', 'Instruction: Late'),
      `Program ${TWO} success`,
      ...called(ONE, 1, `Instruction: ${'x'.repeat(65)}`),
      ...called(ONE, 1, 'Instruction: Second'),
    ];
    const names = loggedNamesOf(logs, [ONE, PRECOMPILED, TWO, ONE, ONE]); // the second one logs no call
    t.strictSame(
      [...names],
      [
        [0, 'Swap'],
        [4, 'Second'],
      ],
    );
  });

  t.test('a common name is recognized by the discriminator that Anchor makes from it', async (t) => {
    const dataOf = (name: string) => {
      const discriminator = createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
      return bs58.encode(Buffer.concat([discriminator, Buffer.of(1, 2, 3)]));
    };
    t.equal(commonNameOf(dataOf('initialize')), 'initialize');
    t.equal(commonNameOf(dataOf('deposit')), 'deposit');
    t.equal(commonNameOf(dataOf('a_name_of_one_program')), null);
    t.equal(commonNameOf(''), null);
    t.equal(commonNameOf(null), null);
  });
});

t.test('known-owners', async (t) => {
  t.test('each label of a vault is proved by the program and the seed that its address derives from', async (t) => {
    const file = new URL('../../../src/transactions/programs/data/known-owners.tsv', import.meta.url);
    const rows = readTables(file, 'owners').flatMap((table) => table.rows);
    const derived = rows.flatMap(([address, , program, seed]) =>
      program === undefined ? [] : [{ address, derived: findProgramAddress(program, [seed ?? '']) }],
    );
    t.ok(derived.length > 8);
    const wrong = derived.filter(({ address, derived }) => address !== derived);
    t.strictSame(wrong, []);
  });

  t.test("a mint's own bonding curve is labelled, another mint's is not", async (t) => {
    // as a recorded trade on the curve has them: tx/33LHUzKfhBvU
    const mint = 'HfJVjBdkhAD2ynVM8PdTSii4ECZdsxNTCx5wpEqUpump';
    const curve = '6fogeBTRjgm9Kb9dVtqpjDf6bGvjGgdScmTu5nCVPJPn';
    t.equal(ownerLabelsOf(mint)(curve), 'Pump.fun bonding curve');
    t.equal(ownerLabelsOf(curve)(curve), null);
    t.equal(ownerLabelsOf(mint)('1nc1nerator11111111111111111111111111111111'), 'Incinerator (burned)');
  });
});

t.test('known-programs', async (t) => {
  const tables = readTables(new URL('../../../src/transactions/programs/data/programs.tsv', import.meta.url), 'role');
  const rows = tables.flatMap(({ rows }) => rows);

  t.test('each program has a role and is an address, named once, with a name and a source', async (t) => {
    for (const { head } of tables) t.ok(head.length === 1 && Object.hasOwn(PROGRAM_ROLES, head[0] ?? ''), head.join());
    t.equal(rows.length, KNOWN_PROGRAMS.size);
    t.strictSame(
      rows.filter(
        ([id = '', name = '', source = '']) => !isBase58Of(id, 32) || name === '' || !/^[A-Z][A-Z0-9_]+$/.test(source),
      ),
      [],
    );
  });

  t.test('a role says what a transaction is while its instruction is unknown', async (t) => {
    const PYTH = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ';
    const PHOENIX = 'PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY';
    const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
    const UNKNOWN = 'VordrNZMkkryqCDFhFRcti4x3j94KY8fog3RhjGDVok';
    const rowOf = (id: string): unknown[] => [
      programRole(id),
      fallbackTypeOf(id),
      isTradingProgram(id),
      isIncidentalProgram(id),
    ];
    t.strictSame(rowOf(PYTH), ['oracle', 'ORACLE_UPDATE', false, true]);
    t.strictSame(rowOf(PHOENIX), ['orderBook', 'PLACE_ORDER', true, false]);
    t.strictSame(rowOf(JUPITER), ['aggregator', null, true, false]);
    t.strictSame(rowOf(UNKNOWN), ['other', null, false, false]);
  });

  t.test('each account of tips is an address of one relay', async (t) => {
    const file = new URL('../../../src/transactions/programs/data/tip-accounts.tsv', import.meta.url);
    const relays = readTables(file, 'relay');
    const accounts = relays.flatMap(({ rows }) => rows.map(([address = '']) => address));
    const wrong = accounts.filter((address) => !isBase58Of(address, 32) || !isTipAccount(address));
    t.strictSame(wrong, []);
    t.equal(new Set(accounts).size, accounts.length);
    t.equal(JITO_TIP_ACCOUNTS.size, 8);
    t.equal(tipRelayOf('HWEoBxYs7ssKuudEjzjmpfJVX7Dvi7wescFsVx2L5yoY'), 'bloXroute');
    t.equal(tipRelayOf('AsTRADtvb6tTmrsqULQ9Wji9PigDMjhfEMza6zkynEvV'), 'Astralane');
    t.equal(tipRelayOf('moonQBUKBpkifLcTd78bfxxt4PYLwmJ5admLW6cBBs8'), 'Lunar Lander');
    t.equal(tipRelayOf('11111111111111111111111111111111'), null);
  });
});

t.test('program-idl', async (t) => {
  const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
  const [ANCHOR, METADATA] = idlPlacesOf(JUPITER);

  /** An account with a compressed text behind its header. */
  function accountOf(place: typeof ANCHOR, compressed: Uint8Array, length = compressed.length): Buffer {
    const header = Buffer.alloc(place?.headerBytes ?? 0);
    header.writeUInt32LE(length, place?.lengthAt);
    return Buffer.concat([header, compressed, Buffer.alloc(100)]);
  }

  const namesOf = (idl: unknown, place = ANCHOR, compress = deflateSync) =>
    place && [...readIdlNames({ data: accountOf(place, compress(JSON.stringify(idl))), place })];

  t.test('an IDL lies where Anchor and the Program Metadata program put it', async (t) => {
    t.match(ANCHOR, { address: 'C88XWfp26heEmDkmfSzeXP7Fd7GQJ2j9dDTUsyiZbUTa', owner: JUPITER });
    t.match(METADATA, { owner: 'ProgM6JCCvbYkfKqJYHePx4xxSUSqJp7rh8Lyv7nk7S', headerBytes: 96 });
  });

  t.test('names are read with the discriminators that an IDL writes or Anchor makes', async (t) => {
    const sharedAccountsRoute = 'c1209b3341d69c81'; // of Jupiter's calls
    t.strictSame(namesOf({ instructions: [{ name: 'sharedAccountsRoute' }] }), [
      [sharedAccountsRoute, 'sharedAccountsRoute'],
    ]);
    const discriminator = [...Buffer.from(sharedAccountsRoute, 'hex')];
    const written = {
      instructions: [
        { name: 'any', discriminator },
        { name: 'x', discriminant: { type: 'u8', value: 7 } },
      ],
    };
    const names = [
      [sharedAccountsRoute, 'any'],
      ['07', 'x'],
    ];
    t.strictSame(namesOf(written), names);
    t.strictSame(namesOf({ program: written }, METADATA, gzipSync), names);
    t.strictSame(namesOf({ instructions: [{ name: 7 }, null, { name: 'odd', discriminator: [1] }] }), []);
    t.equal(namesOf({ instructions: [{ name: 'n'.repeat(1000) }] })?.[0]?.[1].length, 64);
  });

  t.test('neither a long account nor a text that grows when it is inflated is read', async (t) => {
    if (ANCHOR === undefined) throw new Error('no place');
    const read = (data: Uint8Array) => readIdlNames({ data, place: ANCHOR });
    t.throws(() => read(accountOf(ANCHOR, deflateSync(Buffer.alloc(64 << 20)))), { code: 'ERR_BUFFER_TOO_LARGE' });
    t.throws(() => read(accountOf(ANCHOR, Buffer.alloc(MAX_IDL_BYTES + 1))), /too long/);
    t.throws(() => read(accountOf(ANCHOR, Buffer.alloc(1), 500)), /too long/);
    t.throws(() => read(Buffer.alloc(10)));
    t.throws(() => read(accountOf(ANCHOR, Buffer.from('no zlib'))));
  });
});

t.test('program-instruction', async (t) => {
  const FOLDER = new URL('../../../src/transactions/programs/data/instructions/', import.meta.url);

  const anchorDiscriminator = (name: string): string =>
    createHash('sha256').update(`global:${name}`).digest('hex').slice(0, 16);

  t.test('each table names its source, known programs once, types, roles and no discriminator twice', async (t) => {
    const tables = readdirSync(FOLDER).flatMap((file) => readTables(new URL(file, FOLDER), 'program'));
    const programs = tables.flatMap(({ head: [ids = ''] }) => ids.split(' '));
    t.ok(programs.length > 100);
    t.equal(new Set(programs).size, programs.length);
    for (const id of programs) t.ok(KNOWN_PROGRAMS.has(id), id);
    for (const { head, rows } of tables) {
      t.match(head.join('\t'), /^\w+( \w+)*\thttps:\/\/\S+\t\d{4}-\d\d-\d\d$/);
      const discriminators = rows.map(([name = '', start]) => (start === '-' ? anchorDiscriminator(name) : start));
      t.equal(new Set(discriminators).size, rows.length, head.join());
      for (const [name = '', start = '', type = '', roles = '', fields, mostAccounts = '', ...rest] of rows) {
        t.match(name, /^\w+$/);
        t.match(start, /^(([0-9a-f]{2}){1,8}|-)$/);
        t.ok(type === '-' || Object.hasOwn(TRANSACTION_TYPES, type), `${name} ${type}`);
        t.match(roles, /^(\w+=\d+( \w+=\d+)*)?$/);
        for (const [role] of roles.matchAll(/\w+(?==)/g)) t.ok(Object.hasOwn(INSTRUCTION_ROLES, role), role);
        if (fields !== undefined) t.match(fields, /^-:\d+( (-|amount|currencyMint|holder|collateral|debt):\S+)+$/);
        t.match(mostAccounts, /^\d*$/);
        t.strictSame(rest, []);
      }
    }
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
      values: {},
    });
    t.strictSame(find(LIMIT_ORDER, '856e4aaf709ff59f0000'), {
      name: 'initialize_order',
      type: 'OPEN_ORDER',
      roles: { owner: 'account 1', order: 'account 2', inputMint: 'account 7', outputMint: 'account 8' },
      values: {},
    });
    t.match(find(LIMIT_ORDER, 'e445a52e51cb9a1d00'), { name: 'emit_event', type: null, roles: {} });
    t.strictSame(find(CORE, '0e00', ['asset', CORE, 'payer', CORE, 'new owner']), {
      name: 'transfer_v1',
      type: 'NFT_TRANSFER',
      roles: { mint: 'asset', user: 'payer', newOwner: 'new owner' }, // Core itself stands for an account that is left out
      values: {},
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

  t.test('recorded calls are found, and their signers stand where the table says', async (t) => {
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
});

t.test('decode-instruction', async (t) => {
  /** Returns 32 bytes of the value `byte`. */
  const filled = (byte: number): number[] => Array<number>(32).fill(byte);
  const key = (byte: number): string => bs58.encode(Uint8Array.from(filled(byte)));
  const f64 = (value: number): number[] => [...new Uint8Array(Float64Array.of(value).buffer)];
  const u64 = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];

  const read = (program: string, accounts: readonly string[], ...data: readonly number[]) =>
    decodeInstruction(program, accounts, Uint8Array.from(data));

  t.test('a multiplier is written in plain digits, as in the decoded mint', async (t) => {
    for (const [multiplier, text] of [
      [1.5, '1.5'],
      [1e21, '1000000000000000000000'],
      [1.5e-7, '0.00000015'],
      [Number.POSITIVE_INFINITY, 'inf'],
    ] as const) {
      t.strictSame(read(TOKEN_2022_PROGRAM, ['mint'], 43, 0, ...filled(1), ...f64(multiplier)), {
        type: 'initializeScaledUiAmountConfig',
        info: { mint: 'mint', authority: key(1), multiplier: text },
      });
      t.strictSame(read(TOKEN_2022_PROGRAM, ['mint', 'owner'], 43, 1, ...f64(multiplier), ...u64(9n)), {
        type: 'updateMultiplier',
        info: { mint: 'mint', newMultiplier: text, newMultiplierTimestamp: 9n, authority: 'owner' },
      });
    }
  });

  t.test('an amount with more decimals than a node can divide by has no uiAmount', async (t) => {
    const info = (decimals: number) =>
      read(TOKEN_PROGRAM, ['source', 'mint', 'to', 'owner'], 12, ...u64(5n), decimals)?.info['tokenAmount'];
    t.strictSame(info(1), { amount: '5', decimals: 1, uiAmount: 0.5, uiAmountString: '0.5' });
    t.strictSame(info(20), { amount: '5', decimals: 20, uiAmount: null, uiAmountString: '0.00000000000000000005' });
  });

  t.test('instructions that their program would refuse are not decoded', async (t) => {
    const newOwner = (flag: number) => read(TOKEN_PROGRAM, ['account', 'owner'], 6, 2, flag, ...filled(1));
    t.strictSame(newOwner(1)?.info['newAuthority'], key(1));
    t.equal(newOwner(2), null, 'a flag is 0 or 1');
    t.strictSame(read(MEMO_PROGRAM, [], 0x68, 0x69), { type: 'memo', info: { memo: 'hi' } });
    t.equal(read(MEMO_PROGRAM, [], 0xff), null, 'a memo is UTF-8');
    t.equal(read(TOKEN_PROGRAM, ['mint'], 24, 0xff), null, 'an amount given as text is UTF-8');
  });

  t.test('the stake program’s accounts are named with and without the sysvars, as in nodes', async (t) => {
    const [CLOCK, HISTORY, CONFIG] = [CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, STAKE_CONFIG];
    const stake = (accounts: readonly string[], tag: number, ...data: readonly number[]) =>
      read(STAKE_PROGRAM, accounts, tag, 0, 0, 0, ...data)?.info;
    const short = { stakeAccount: 's', voteAccount: 'v', stakeAuthority: 'a' };
    const sysvars = { clockSysvar: CLOCK, stakeHistorySysvar: HISTORY };
    t.strictSame(stake(['s', 'v', 'a'], 2), short);
    const { stakeAuthority: _, ...unsigned } = short; // the program looks at the clock alone, as nodes do
    t.strictSame(stake(['s', 'v', CLOCK, HISTORY, 'a'], 2), { ...unsigned, ...sysvars, stakeConfigAccount: 'a' });
    t.strictSame(stake(['s', 'v', CLOCK, HISTORY, CONFIG, 'a'], 2), {
      ...short,
      ...sysvars,
      stakeConfigAccount: CONFIG,
    });
    const withdrawal = { stakeAccount: 's', destination: 'd', withdrawAuthority: 'a', lamports: 5n };
    t.strictSame(stake(['s', 'd', 'a'], 4, ...u64(5n)), withdrawal);
    t.strictSame(stake(['s', 'd', CLOCK, HISTORY, 'a', 'c'], 4, ...u64(5n)), {
      ...withdrawal,
      ...sysvars,
      custodian: 'c',
    });
    t.strictSame(stake(['s', 'd', CLOCK, 'h', 'a'], 4, ...u64(5n)), {
      ...withdrawal,
      ...sysvars,
      stakeHistorySysvar: 'h',
    });
    t.strictSame(stake(['d', 's', 'a'], 7), { destination: 'd', source: 's', stakeAuthority: 'a' });
    t.strictSame(stake(['s', 'a'], 5), { stakeAccount: 's', stakeAuthority: 'a' });
    t.equal(stake(['s', CLOCK, 'a'], 1, ...filled(1), 7, 0, 0, 0), undefined, 'there are two authority types');
  });

  t.test('instructions of votes with BLS keys and commissions in basis points', async (t) => {
    const vote = (accounts: readonly string[], tag: number, ...data: readonly number[]) =>
      read(VOTE_PROGRAM, ['v', ...accounts], tag, 0, 0, 0, ...data);
    const keys = [...filled(1), ...filled(2), ...Array<number>(144).fill(9), ...filled(3)];
    const state = {
      ...{ voteAccount: 'v', node: 'n', authorizedVoter: key(2), authorizedWithdrawer: key(3) },
      ...{ inflationRewardsCommissionBps: 513, blockRevenueCommissionBps: 1, inflationRewardsCollector: 'i' },
      blockRevenueCollector: 'b',
    };
    t.strictSame(vote(['n', 'i', 'b'], 16, ...keys, 1, 2, 1, 0), { type: 'initializeV2', info: state });
    t.match(vote(['n'], 16, ...keys, 1, 2, ...filled(4), 1, 0, ...filled(5)), {
      info: { inflationRewardsCollector: key(4), blockRevenueCollector: key(5) },
    });
    t.strictSame(vote(['c', 'w'], 17, 1, 0, 0, 0), {
      type: 'updateCommissionCollector',
      info: { voteAccount: 'v', newCollector: 'c', withdrawAuthority: 'w', commissionKind: 'BlockRevenue' },
    });
    t.strictSame(vote(['w'], 18, 1, 2, 0, 0, 0, 0), {
      type: 'updateCommissionBps',
      info: { voteAccount: 'v', withdrawAuthority: 'w', commissionBps: 513, commissionKind: 'InflationRewards' },
    });
    t.match(vote(['s'], 19, ...u64(6n)), { type: 'depositDelegatorRewards', info: { source: 's', deposit: 6n } });
  });

  t.test('unwrapped lamports, groups, permissioned burns and accounts created over lamports', async (t) => {
    const unwrap = { source: 'a', destination: 'd', authority: 'o' };
    t.strictSame(read(TOKEN_PROGRAM, ['a', 'd', 'o'], 45, 0), { type: 'unwrapLamports', info: unwrap });
    t.strictSame(read(TOKEN_2022_PROGRAM, ['a', 'd', 'o'], 45, 1, ...u64(3n))?.info, { ...unwrap, amount: '3' });
    t.equal(read(TOKEN_PROGRAM, ['a', 'd', 'o'], 45, 2), null, 'a flag is 0 or 1');
    const group = [121, 113, 108, 39, 54, 51, 0, 4];
    t.strictSame(read(TOKEN_2022_PROGRAM, ['g', 'm', 'o'], ...group, ...filled(1), ...u64(9n)), {
      type: 'initializeTokenGroup',
      info: { group: 'g', mint: 'm', mintAuthority: 'o', updateAuthority: key(1), maxSize: 9n },
    });
    t.strictSame(read(TOKEN_2022_PROGRAM, ['a', 'm', 'p', 'o'], 46, 1, ...u64(9n)), {
      type: 'permissionedBurn',
      info: { account: 'a', mint: 'm', permissionedBurnAuthority: 'p', authority: 'o', amount: '9' },
    });
    const created = { newAccount: 'n', space: 8n, owner: key(1) };
    const create = (accounts: readonly string[], lamports: bigint) =>
      read(SYSTEM_PROGRAM, accounts, 13, 0, 0, 0, ...u64(lamports), ...u64(8n), ...filled(1))?.info;
    t.strictSame(create(['n'], 0n), created);
    t.strictSame(create(['n', 's'], 5n), { ...created, source: 's', lamports: 5n });
    t.equal(create(['n'], 5n), undefined, 'lamports come from somewhere');
  });

  t.test('sources whose number is in the data are no signers of a multisig', async (t) => {
    const withdraw = (accounts: readonly string[], sources: number) =>
      read(TOKEN_2022_PROGRAM, accounts, 26, 3, sources)?.info;
    const common = { mint: 'm', feeRecipient: 'r' };
    t.strictSame(withdraw(['m', 'r', 'a', 's', 't'], 2), {
      ...common,
      withdrawWithheldAuthority: 'a',
      sourceAccounts: ['s', 't'],
    });
    t.strictSame(withdraw(['m', 'r', 'a', 'p', 'q', 's'], 1), {
      ...common,
      multisigWithdrawWithheldAuthority: 'a',
      signers: ['p', 'q'],
      sourceAccounts: ['s'],
    });
    t.strictSame(withdraw(['m', 'r', 'a'], 0), { ...common, withdrawWithheldAuthority: 'a', sourceAccounts: [] });
    t.equal(withdraw(['m', 'r', 'a', 's'], 2), undefined, 'as nodes: the authority is missing');
  });

  t.test('what an instruction leaves out is null or absent, as in nodes', async (t) => {
    const load = (accounts: readonly string[], tag: number, ...data: readonly number[]) =>
      read(UPGRADEABLE_LOADER, accounts, tag, 0, 0, 0, ...data)?.info;
    t.strictSame(load(['p', 'a'], 4), { account: 'p', authority: 'a', newAuthority: null });
    t.strictSame(load(['p', 'r', 'a'], 5), { account: 'p', recipient: 'r', authority: 'a', programAccount: null });
    const extension = { programDataAccount: 'd', programAccount: 'p', additionalBytes: 8 };
    t.strictSame(load(['d', 'p'], 6, 8, 0, 0, 0), { ...extension, systemProgram: null, payerAccount: null });
    const payers = { authority: 'a', systemProgram: 's', payerAccount: 'y' };
    t.strictSame(load(['d', 'p', 'a', 's', 'y'], 9, 8, 0, 0, 0), { ...extension, ...payers });
    const size = (...types: readonly number[]) => read(TOKEN_2022_PROGRAM, ['m'], 21, ...types)?.info;
    t.strictSame(size(), { mint: 'm' });
    t.strictSame(size(7, 0, 26, 0), { mint: 'm', extensionTypes: ['immutableOwner', 'pausable'] });
    t.equal(size(255, 0), undefined, 'there is no such extension');
  });
});

t.test('token-batch', async (t) => {
  const [wallet, shop, thief, mint] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)];
  const [walletTokens, shopTokens, walletSol] = [addressOf(11), addressOf(12), addressOf(13)];

  /** The data of a batch: counts of accounts and bytes before each instruction. */
  const batchData = (...instructions: readonly (readonly [accounts: number, data: readonly number[]])[]): number[] => [
    255,
    ...instructions.flatMap(([accounts, data]) => [accounts, data.length, ...data]),
  ];

  const transferChecked = [12, ...u64Bytes(250n), 6];
  const burn = [8, ...u64Bytes(7n)];
  const giveAway = [6, 2, 1, ...bytesOf(3)]; // setAuthority: the owner
  const close = [9];

  const accounts = [
    ...[walletTokens, mint, shopTokens, wallet],
    ...[walletTokens, mint, wallet],
    ...[walletTokens, wallet],
    ...[walletSol, wallet, wallet],
  ];
  const data = batchData([4, transferChecked], [3, burn], [2, giveAway], [3, close]);

  const tokens: readonly SyntheticBalance[] = [
    { account: walletTokens, mint, owner: wallet, before: 1_000n, after: 743n, ownerAfter: thief },
    { account: shopTokens, mint, owner: shop, before: 0n, after: 250n },
    { account: walletSol, mint: WRAPPED_SOL, owner: wallet, before: 50n, after: null },
  ];

  for (const programId of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
    const raw: SyntheticCall = { programId, accounts, data };
    const parsed: SyntheticCall = {
      programId,
      program: 'spl-token',
      parsed: decodeInstruction(programId, accounts, Uint8Array.from(data)) ?? {},
    };
    const program = programId === TOKEN_PROGRAM ? 'the token program' : 'Token-2022';

    t.test(`a batch of ${program} is what is in it, raw and decoded`, async (t) => {
      t.match(parsed.parsed, { type: 'batch', info: { instructions: [{ type: 'transferChecked' }, {}, {}, {}] } });
      for (const call of [raw, parsed]) {
        const transaction = syntheticTransaction({ calls: [call], signers: [wallet], tokens });
        t.strictSame(
          transaction.instructions.map(({ parsed, index, innerIndex }) => [parsed?.type, index, innerIndex]),
          ['transferChecked', 'burn', 'setAuthority', 'closeAccount'].map((type) => [type, 0, null]),
        );
        const view = parseTransaction(transaction);
        t.match(view.tokenTransfers, [
          { fromUserAccount: wallet, toUserAccount: shop, amount: '250', mint },
          { fromUserAccount: wallet, toUserAccount: null, amount: '7' },
        ]);
        t.match(view.authorityChanges, [
          { kind: 'setAuthority', authorityType: 'accountOwner', from: wallet, to: thief, tokenBalance: '743' },
        ]);
      }
    });

    t.test(`a batch that a program calls ${program} for has the place of that call`, async (t) => {
      const own: SyntheticCall = { programId: addressOf(99), accounts: [], data: [1] };
      for (const call of [raw, parsed]) {
        const transaction = syntheticTransaction({ calls: [own, own], inner: [own, call], signers: [wallet], tokens });
        const rows = extractTransfers(transaction).map((row) => [row.type, row.call.index, row.call.innerIndex]);
        t.strictSame(
          rows,
          ['transfer', 'burn', 'changeOwner', 'unwrap', 'closeAccount'].map((type) => [type, 0, 1]),
        );
      }
    });
  }

  t.test('an instruction of a batch that is not known hides none of the others', async (t) => {
    const call = { programId: TOKEN_PROGRAM, accounts, data: batchData([1, [99]], [4, transferChecked]) };
    const others = [walletTokens, ...accounts];
    t.equal(decodeInstruction(TOKEN_PROGRAM, others, Uint8Array.from(call.data)), null, 'as in nodes');
    const { instructions } = syntheticTransaction({ calls: [{ ...call, accounts: others }], tokens });
    t.match(instructions, [{ parsed: null }, { parsed: { type: 'transferChecked', info: { source: walletTokens } } }]);
  });

  t.test('a batch that the program refuses stays whole', async (t) => {
    const refused: readonly (readonly number[])[] = [
      [255],
      [255, 1],
      batchData([4, transferChecked]).slice(0, -1),
      batchData([200, transferChecked]),
      batchData([4, []]),
      batchData([4, transferChecked], [3, batchData([3, burn])]),
    ];
    for (const data of refused) {
      const { instructions } = syntheticTransaction({ calls: [{ programId: TOKEN_PROGRAM, accounts, data }], tokens });
      t.match(instructions, [{ parsed: null, accounts }]);
    }
    const nested = { type: 'batch', info: { instructions: [{ type: 'batch', info: { instructions: [] } }] } };
    const { instructions } = syntheticTransaction({
      calls: [{ programId: TOKEN_PROGRAM, program: 'spl-token', parsed: nested }],
      tokens,
    });
    t.match(instructions, [{ parsed: { type: 'batch' } }]);
  });

  t.test('batches turn into no more instructions than a transaction can have', async (t) => {
    const sync = Array.from({ length: 600 }, (): [number, number[]] => [0, [17]]);
    const call = { programId: TOKEN_PROGRAM, accounts: [], data: batchData(...sync) };
    const { instructions } = syntheticTransaction({ calls: [call, call, call], signers: [wallet] });
    t.equal(inExecutionOrder(instructions).length, 602, 'the first is read, the others stay whole');
  });

  t.test('a failure in a batch is one of its instruction', async (t) => {
    const err = { InstructionError: [1, { Custom: 1 }] };
    const call = { programId: TOKEN_PROGRAM, accounts, data };
    const failed = syntheticTransaction({
      calls: [call, { ...call, programId: addressOf(9) }],
      signers: [wallet],
      err,
    });
    t.match(parseTransaction(failed).transactionError, { instructionIndex: 1, programId: addressOf(9) });
  });
});

t.test('transaction-bounds', async (t) => {
  const ADDRESS = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
  const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
  const record = (message: object, meta: object = {}, signatures = ['s']) => ({
    transaction: { signatures, message: { accountKeys: [ADDRESS], ...message } },
    meta,
  });

  t.test('every recorded transaction is within the bounds', async (t) => {
    const recordings = recordedTransactions('transactions');
    t.ok(recordings.length > 50);
    for (const { name, result } of recordings) t.equal(findExceededBound(result), undefined, name);
  });

  t.test('each bound has its last allowed count', async (t) => {
    const signer = { pubkey: ADDRESS, signer: true };
    const call = { programIdIndex: 0, accounts: [], data: '' };
    const inner = (count: number) => ({ innerInstructions: [{ index: 0, instructions: times(count, call) }] });
    const bounds: [number, string, (count: number) => object][] = [
      [256, 'accounts', (count) => record({ accountKeys: times(count, ADDRESS) })],
      [255, 'accounts', (count) => record({}, { loadedAddresses: { writable: [], readonly: times(count, ADDRESS) } })],
      [19, 'signers', (count) => record({ accountKeys: times(count, signer) })],
      [19, 'signers', (count) => record({ header: { numRequiredSignatures: count } })],
      [19, 'signers', (count) => record({}, {}, times(count, 's'))],
      [1024, 'instructions', (count) => record({ instructions: times(count, call) })],
      [1023, 'instructions', (count) => record({ instructions: [call] }, inner(count))],
      [256, 'balances', (count) => record({}, { postTokenBalances: times(count, {}) })],
      [256, 'accounts', (count) => record({ instructions: [{ ...call, accounts: times(count, 0) }] })],
      [13_987, 'bytes of data', (count) => record({ instructions: [{ ...call, data: 'z'.repeat(count) }] })],
      [
        13_987,
        'bytes of data',
        (count) => record({}, { innerInstructions: [{ instructions: [{ data: 'z'.repeat(count) }] }] }),
      ],
      [5595, 'bytes', (count) => ({ transaction: 'z'.repeat(count) })],
      [5595, 'bytes', (count) => ({ transaction: ['z'.repeat(count), 'base64'] })],
      [44, 'characters', (count) => record({ accountKeys: ['x'.repeat(count)] })],
    ];
    for (const [most, noun, of] of bounds) {
      t.equal(findExceededBound(of(most)), undefined, `${most} ${noun}`);
      t.match(findExceededBound(of(most + 1)), new RegExp(`at most \\d+ ${noun}$`), `${most + 1} ${noun}`);
    }
  });

  t.test('a record of a node that exceeds a bound is no transaction', async (t) => {
    const json = JSON.stringify(record({ accountKeys: times(257, ADDRESS) }));
    t.throws(() => readTransaction(json), new TypeError('a transaction has at most 256 accounts'));
  });

  t.test('what is no transaction at all exceeds nothing', async (t) => {
    for (const value of [null, 1, 'x', [], {}, { transaction: null }, { transaction: { message: 7 }, meta: 'x' }])
      t.equal(findExceededBound(value), undefined);
  });
});

t.test('transaction', async (t) => {
  const recorded = recordedTransactions('transactions');

  t.test('every recorded transaction is parsed', async (t) => {
    const odd: string[] = [];
    for (const { name, transaction } of [...recorded, ...recordedTransactions('mainnet-block')]) {
      const { accounts, instructions, preBalances, postBalances } = transaction;
      const known = new Set(accounts.map(({ address }) => address));
      const named = inExecutionOrder(instructions).flatMap((call) => [call.programId, ...call.accounts]);
      const whole = [preBalances, postBalances].every(({ length }) => length === accounts.length);
      if (!whole || named.some((address) => !known.has(address))) odd.push(name);
    }
    t.strictSame(odd, []);
  });

  t.test('depths that a record lacks are those of its log, where that is whole', async (t) => {
    const depthsOf = ({ instructions }: Transaction) =>
      instructions.map(({ inner }) => inner.map(({ stackHeight }) => stackHeight));
    let read = 0;
    for (const { name, result, transaction } of [...recorded, ...recordedTransactions('mainnet-block')]) {
      const depths = depthsOf(transaction);
      const meta = asObject(asObject(result)['meta']);
      const innerInstructions = asArray(meta['innerInstructions']).map((made) => ({
        ...asObject(made),
        instructions: asArray(asObject(made)['instructions']).map((call) => ({ ...asObject(call), stackHeight: null })),
      }));
      const bare = normalizeTransaction({ ...asObject(result), meta: { ...meta, innerInstructions } });
      const isCut = transaction.logs?.includes('Log truncated') ?? true;
      if (isCut || name.startsWith('tx-rebuilt/') || depths.flat().includes(null)) continue;
      t.strictSame(depthsOf(bare), depths, name);
      read += depths.flat().length;
    }
    t.ok(read > 1000, `${read}`);
    const [call] = [...recorded].flatMap(({ transaction }) => transaction.instructions.filter(({ inner }) => inner[1]));
    const bare = call?.inner.map((made) => ({ ...made, stackHeight: null })) ?? [];
    const logs = [`Program ${call?.programId} invoke [1]`, `Program ${bare[0]?.programId} invoke [2]`];
    t.strictSame(call && withLoggedDepths([{ ...call, inner: bare }], logs)[0]?.inner, bare, 'no depths');
  });

  t.test('every known instruction is decoded, except those that their program refuses', async (t) => {
    const unread = recorded.flatMap(({ name, transaction }) =>
      inExecutionOrder(transaction.instructions).flatMap(({ program, parsed }) =>
        program !== null && parsed === null ? [`${name}: ${program}`] : [],
      ),
    );
    t.strictSame(unread, []);
  });

  t.test('a transaction is parsed alike in every encoding', async (t) => {
    const seen = new Map<string, { name: string; transaction: Transaction }>();
    let pairs = 0;
    for (const { name, transaction } of recorded) {
      if (name.startsWith('tx-rebuilt/')) continue;
      const [signature = ''] = transaction.signatures;
      const first = seen.get(signature);
      seen.set(signature, { name, transaction });
      if (first === undefined) continue;
      pairs++;
      const words = name.includes('jsonParsed') || first.name.includes('jsonParsed');
      const [one, other] = words
        ? [summarize(first.transaction), summarize(transaction)]
        : [first.transaction, transaction];
      if (toJson(one) !== toJson(other)) t.strictSame(one, other, `${first.name} and ${name}`);
    }
    t.ok(pairs > 80, `${pairs} pairs`);
  });

  /** Returns the members that all encodings have: `jsonParsed` drops the bytes of decoded instructions and some spellings. */
  function summarize(transaction: Transaction): object {
    const { instructions, accounts, ...rest } = transaction;
    return {
      ...rest,
      accounts: accounts.map(({ address, signer }) => ({ address, signer })),
      instructions: inExecutionOrder(instructions).map(({ programId, index, innerIndex, parsed }) => {
        const { vote, towerSync, ...rest } = parsed?.info ?? {}; // the votes, which are not decoded from bytes
        const info = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
        return { programId, index, innerIndex, type: parsed?.type, info };
      }),
    };
  }

  t.test('lamports beyond 2^53 keep their digits', async (t) => {
    const { postBalances, fee } = readTransaction(
      toJson({
        transaction: { signatures: ['1'], message: { accountKeys: ['a'], header: {}, instructions: [] } },
        meta: { fee: 9007199254740993n, postBalances: [18446744073709551615n] },
      }),
    );
    t.equal(fee, 9007199254740993n);
    t.strictSame(postBalances, [18446744073709551615n]);
  });

  t.test('a transaction without a record of its effects has no fee, balances or logs', async (t) => {
    const transaction = { signatures: ['1'], message: { accountKeys: ['a'], instructions: [] } };
    const bare = readTransaction(toJson({ transaction, meta: null }));
    t.match(bare, { fee: null, err: null, preTokenBalances: null, logs: null, slot: null, version: 'legacy' });
  });

  t.test('a version 1 transaction is parsed like any other', async (t) => {
    const [payer, receiver] = [
      'HB7Dv9XLM1bD5p8kyGnyMnH9Gk67Rv3CjzheJfTL8bMk',
      'BWbHzqYBnWmU6kRg8Upi61hq3gf5u8F3hB886MBhg7wh',
    ];
    const transfer = {
      programAddress: address('11111111111111111111111111111111'),
      accounts: [
        { address: address(payer), role: AccountRole.WRITABLE_SIGNER },
        { address: address(receiver), role: AccountRole.WRITABLE },
      ],
      data: Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 32, 0), // 2^53 + 1 lamports
    };
    const message = pipe(
      createTransactionMessage({ version: 1 }),
      (draft) => setTransactionMessageFeePayer(address(payer), draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(LIFETIME, draft),
      (draft) => appendTransactionMessageInstruction(transfer, draft),
    );
    const bytes = getTransactionEncoder().encode(compileTransaction(message));
    const transaction = [Buffer.from(bytes).toString('base64'), 'base64'];
    const read = readTransaction(toJson({ transaction, meta: { err: null, fee: 5000 }, version: 1 }));
    t.match(read, { version: 1, feePayer: payer, recentBlockhash: LIFETIME.blockhash });
    t.match(extractTransfers(read), [{ fromUserAccount: payer, toUserAccount: receiver, amount: 9007199254740993n }]);
  });

  const LIFETIME = { blockhash: blockhash('4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'), lastValidBlockHeight: 0n };

  t.test('a record of any shape is parsed without an error', async () => {
    const indexes = fc.array(fc.oneof(fc.integer(), fc.string(), fc.constant(null)));
    const anything = fc.oneof(fc.anything(), indexes);
    const instruction = fc.record(
      { programIdIndex: fc.nat(3), accounts: indexes, data: fc.string(), parsed: anything, stackHeight: anything },
      { requiredKeys: [] },
    );
    const calls = fc.array(fc.record({ index: fc.nat(2), instructions: fc.array(instruction) }));
    const balances = fc.oneof(anything, fc.array(fc.record({ accountIndex: fc.integer(), uiTokenAmount: anything })));
    const record = fc.record({
      transaction: fc.record({
        signatures: fc.constant(['signature']),
        message: fc.record({
          accountKeys: fc.constant(['payer', '11111111111111111111111111111111', 'other']),
          instructions: fc.oneof(anything, fc.array(instruction)),
        }),
      }),
      meta: fc.record(
        {
          fee: anything,
          innerInstructions: fc.oneof(anything, calls),
          preBalances: anything,
          preTokenBalances: balances,
          postTokenBalances: balances,
          loadedAddresses: anything,
          logMessages: anything,
          returnData: anything,
        },
        { requiredKeys: [] },
      ),
    });
    fc.assert(
      fc.property(record, (value) => {
        extractTransfers(normalizeTransaction(value));
      }),
    );
  });

  t.test('a value that is not a transaction is refused', async (t) => {
    for (const json of ['null', '[]', '{"transaction":["AAAA","base64"]}', '{"transaction":{"signatures":["1"]}}']) {
      t.throws(() => readTransaction(json), json);
    }
  });
});
