import bs58 from 'bs58';
import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import {
  CLOCK_SYSVAR,
  STAKE_HISTORY_SYSVAR,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/shared/domain/well-known-addresses.ts';
import { normalizeTransaction, type Transaction } from '../../src/transactions/records/transaction.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

/** A call with those that it made. */
export interface ForgedCall {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: readonly number[];
  readonly inner: readonly ForgedCall[];
}

interface RecordedCall {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: string;
}

/** A record as a node would give it. */
export interface ForgedRecord {
  readonly slot: number;
  readonly blockTime: null;
  readonly transaction: {
    readonly signatures: readonly string[];
    readonly message: {
      readonly accountKeys: readonly { readonly pubkey: string; readonly signer: boolean }[];
      readonly instructions: readonly RecordedCall[];
    };
  };
  readonly meta: {
    readonly err: null;
    readonly fee: number;
    readonly preTokenBalances: readonly object[];
    readonly postTokenBalances: readonly object[];
    readonly preBalances: readonly bigint[];
    readonly postBalances: readonly bigint[];
    readonly innerInstructions: readonly {
      readonly index: number;
      readonly instructions: readonly (RecordedCall & { readonly stackHeight: number })[];
    }[];
  };
}

/** The forms of records: without effects, as usual, cut, those of old nodes, and those with lookup tables. */
export const FORMS = {
  withoutTwoBalances: ({ meta, ...record }: ForgedRecord): object => ({
    ...record,
    meta: { ...meta, postTokenBalances: meta.postTokenBalances.slice(2) },
  }),
  withoutMeta: ({ meta: _, ...record }: ForgedRecord): object => ({ ...record, meta: null }),
  whole: (record: ForgedRecord): object => record,
  withoutDepths: ({ meta, ...record }: ForgedRecord): object => ({
    ...record,
    meta: {
      ...meta,
      innerInstructions: meta.innerInstructions.map(({ index, instructions }) => ({
        index,
        instructions: instructions.map(({ stackHeight: _, ...call }) => call),
      })),
    },
  }),
  withTables: ({ transaction: { signatures, message }, meta, ...record }: ForgedRecord): object => {
    const keys = message.accountKeys.map(({ pubkey }) => pubkey);
    const signers = message.accountKeys.filter(({ signer }) => signer).length;
    const staticCount = Math.max(signers, Math.ceil(keys.length / 2));
    const compiled = ({ programId, accounts, ...call }: RecordedCall): object => ({
      ...call,
      programIdIndex: keys.indexOf(programId),
      accounts: accounts.map((account) => keys.indexOf(account)),
    });
    const header = { numRequiredSignatures: signers, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 };
    return {
      ...record,
      version: 0,
      transaction: {
        signatures,
        message: { header, accountKeys: keys.slice(0, staticCount), instructions: message.instructions.map(compiled) },
      },
      meta: {
        ...meta,
        loadedAddresses: { writable: keys.slice(staticCount), readonly: [] },
        innerInstructions: meta.innerInstructions.map(({ index, instructions }) => ({
          index,
          instructions: instructions.map(compiled),
        })),
      },
    };
  },
} as const;

interface Holding {
  readonly mint: string;
  readonly decimals: number;
  owner: string;
  amount: bigint;
}

const FEE = 5_000n;
const RENT = 2_039_280n;

/** Makes records in which balances, instructions and inner instructions agree: each call changes the balances. */
export class Forgery {
  readonly #signers: readonly string[];
  readonly #lamports = new Map<string, bigint>();
  readonly #holdings = new Map<string, Holding>();
  readonly #before = { lamports: new Map<string, bigint>(), holdings: new Map<string, Holding>() };

  constructor(signers: readonly string[]) {
    this.#signers = signers;
    for (const signer of signers) this.fund(signer, 100_000_000_000n);
  }

  /** Gives an address lamports before the transaction. */
  fund(address: string, lamports: bigint): void {
    this.#before.lamports.set(address, lamports);
    this.#lamports.set(address, lamports - (address === this.#signers[0] ? FEE : 0n));
  }

  /** Opens a token account before the transaction. */
  hold(account: string, owner: string, mint: string, amount: bigint, decimals = 6): void {
    this.#before.holdings.set(account, { mint, owner, amount, decimals });
    this.#holdings.set(account, { mint, owner, amount, decimals });
    this.fund(account, RENT + (mint === WRAPPED_SOL ? amount : 0n));
  }

  readonly program = (programId: string, accounts: readonly string[], ...inner: readonly ForgedCall[]): ForgedCall => ({
    programId,
    accounts: [...accounts, ...inner.flatMap((call) => call.accounts)],
    data: [200],
    inner,
  });

  readonly note = (programId: string, text: string): ForgedCall =>
    call(programId, [], [...new TextEncoder().encode(text)]);

  /** A call of any program, which moves `lamports` from its first account to its second one, or as named. */
  readonly call = (
    programId: string,
    accounts: readonly string[],
    data: readonly number[],
    moves: { readonly from?: string; readonly to?: string; readonly lamports?: bigint } = {},
  ): ForgedCall => {
    const { from = accounts[0] ?? '', to = accounts[1] ?? '', lamports = 0n } = moves;
    if (lamports > 0n) this.#move(from, to, lamports);
    return call(programId, accounts, data);
  };

  sendSol(from: string, to: string, lamports: bigint): ForgedCall {
    this.#move(from, to, lamports);
    return call(SYSTEM_PROGRAM, [from, to], [2, 0, 0, 0, ...u64Bytes(lamports)]);
  }

  create(payer: string, account: string, lamports: bigint, owner: string, bytes = 10n): ForgedCall {
    this.#move(payer, account, lamports);
    const data = [0, 0, 0, 0, ...u64Bytes(lamports), ...u64Bytes(bytes), ...bs58.decode(owner)];
    return call(SYSTEM_PROGRAM, [payer, account], data);
  }

  readonly assign = (account: string, owner: string): ForgedCall =>
    call(SYSTEM_PROGRAM, [account], [1, 0, 0, 0, ...bs58.decode(owner)]);

  send(from: string, to: string, authority: string, amount: bigint): ForgedCall {
    this.#moveTokens(from, to, amount, 0n);
    return call(TOKEN_PROGRAM, [from, to, authority], [3, ...u64Bytes(amount)]);
  }

  sendWithFee(from: string, to: string, authority: string, amount: bigint, fee: bigint): ForgedCall {
    const { mint = '', decimals = 0 } = this.#holdings.get(from) ?? {};
    this.#moveTokens(from, to, amount, fee);
    const data = [26, 1, ...u64Bytes(amount), decimals, ...u64Bytes(fee)];
    return call(TOKEN_2022_PROGRAM, [from, mint, to, authority], data);
  }

  /** A transfer of a token whose fee stands in no instruction. */
  sendWithHiddenFee(from: string, to: string, authority: string, amount: bigint, fee: bigint): ForgedCall {
    const { mint = '', decimals = 0 } = this.#holdings.get(from) ?? {};
    this.#moveTokens(from, to, amount, fee);
    return call(TOKEN_2022_PROGRAM, [from, mint, to, authority], [12, ...u64Bytes(amount), decimals]);
  }

  /** Opens a token account that was made before. */
  open(account: string, owner: string, mint: string, decimals = 6): ForgedCall {
    const excess = mint === WRAPPED_SOL ? (this.#lamports.get(account) ?? 0n) - RENT : 0n;
    this.#holdings.set(account, { mint, owner, amount: excess, decimals });
    return call(TOKEN_PROGRAM, [account, mint], [18, ...bs58.decode(owner)]);
  }

  mint(account: string, amount: bigint): ForgedCall {
    const holding = this.#holdings.get(account);
    if (holding !== undefined) holding.amount += amount;
    return call(TOKEN_PROGRAM, [holding?.mint ?? '', account, addressOf(242)], [7, ...u64Bytes(amount)]);
  }

  burn(account: string, authority: string, amount: bigint): ForgedCall {
    const holding = this.#holdings.get(account);
    if (holding !== undefined) holding.amount -= amount;
    return call(TOKEN_PROGRAM, [account, holding?.mint ?? '', authority], [8, ...u64Bytes(amount)]);
  }

  close(account: string, to: string, authority: string): ForgedCall {
    this.#holdings.delete(account);
    this.#move(account, to, this.#lamports.get(account) ?? 0n);
    return call(TOKEN_PROGRAM, [account, to, authority], [9]);
  }

  readonly approve = (account: string, delegate: string, owner: string, amount: bigint): ForgedCall =>
    call(TOKEN_PROGRAM, [account, delegate, owner], [4, ...u64Bytes(amount)]);

  /** `right` as in the token program: 0 to mint, 1 to freeze, 3 to close. */
  readonly pass = (account: string, right: number, owner: string, to: string): ForgedCall =>
    call(TOKEN_PROGRAM, [account, owner], [6, right, 1, ...bs58.decode(to)]);

  giveAway(account: string, owner: string, to: string): ForgedCall {
    const holding = this.#holdings.get(account);
    if (holding !== undefined) holding.owner = to;
    return call(TOKEN_PROGRAM, [account, owner], [6, 2, 1, ...bs58.decode(to)]);
  }

  withdrawStake(account: string, to: string, authority: string, lamports: bigint): ForgedCall {
    this.#move(account, to, lamports);
    return call(
      STAKE_PROGRAM,
      [account, to, CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, authority],
      [4, 0, 0, 0, ...u64Bytes(lamports)],
    );
  }

  /** `right`: 0 for the staker, 1 for the withdrawer. */
  readonly authorizeStake = (account: string, authority: string, to: string, right: 0 | 1): ForgedCall =>
    call(STAKE_PROGRAM, [account, CLOCK_SYSVAR, authority], [1, 0, 0, 0, ...bs58.decode(to), right, 0, 0, 0]);

  record(calls: readonly ForgedCall[], inForm: (record: ForgedRecord) => object = (record) => record): Transaction {
    return normalizeTransaction(inForm(this.#toRecord(calls)));
  }

  #toRecord(calls: readonly ForgedCall[]): ForgedRecord {
    const all = calls.flatMap(withInner);
    const keys = [
      ...new Set([
        ...this.#signers,
        ...this.#before.lamports.keys(),
        ...this.#lamports.keys(),
        ...all.flatMap(({ call: { programId, accounts } }) => [programId, ...accounts]),
      ]),
    ];
    const balances = (holdings: ReadonlyMap<string, Holding>): object[] =>
      [...holdings].map(([account, { mint, owner, amount, decimals }]) => ({
        accountIndex: keys.indexOf(account),
        mint,
        owner,
        uiTokenAmount: { amount: `${amount}`, decimals },
      }));
    const toRecord = ({ programId, accounts, data }: ForgedCall): RecordedCall => ({
      programId,
      accounts,
      data: bs58.encode(Uint8Array.from(data)),
    });
    return {
      slot: 1,
      blockTime: null,
      transaction: {
        signatures: ['signature'],
        message: {
          accountKeys: keys.map((pubkey) => ({ pubkey, signer: this.#signers.includes(pubkey), writable: true })),
          instructions: calls.map(toRecord),
        },
      },
      meta: {
        err: null,
        fee: Number(FEE),
        preBalances: keys.map((key) => this.#before.lamports.get(key) ?? 0n),
        postBalances: keys.map((key) => this.#lamports.get(key) ?? 0n),
        preTokenBalances: balances(this.#before.holdings),
        postTokenBalances: balances(this.#holdings),
        innerInstructions: calls.map(({ inner }, index) => ({
          index,
          instructions: inner
            .flatMap(withInner)
            .map(({ call, depth }) => ({ ...toRecord(call), stackHeight: depth + 1 })),
        })),
      },
    };
  }

  #move(from: string, to: string, lamports: bigint): void {
    this.#lamports.set(from, (this.#lamports.get(from) ?? 0n) - lamports);
    this.#lamports.set(to, (this.#lamports.get(to) ?? 0n) + lamports);
  }

  #moveTokens(from: string, to: string, amount: bigint, fee: bigint): void {
    const [sender, receiver] = [this.#holdings.get(from), this.#holdings.get(to)];
    if (sender === undefined || receiver === undefined) throw new Error('no token account');
    sender.amount -= amount;
    receiver.amount += amount - fee;
    if (sender.mint === WRAPPED_SOL) this.#move(from, to, amount);
  }
}

const call = (programId: string, accounts: readonly string[], data: readonly number[]): ForgedCall => ({
  programId,
  accounts,
  data,
  inner: [],
});

/** Lists a call and those that it made, in the order of their execution, with their depths. */
const withInner = (call: ForgedCall): readonly { readonly call: ForgedCall; readonly depth: number }[] => [
  { call, depth: 1 },
  ...call.inner.flatMap(withInner).map(({ call: inner, depth }) => ({ call: inner, depth: depth + 1 })),
];
