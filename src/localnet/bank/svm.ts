import bs58 from 'bs58';
import type {
  FailedTransactionMetadata,
  LiteSvm,
  SimulatedTransactionInfo,
  Account as SvmAccount,
  TransactionMetadata,
} from 'litesvm/dist/internal.js';
import type { Slot } from '../../shared/domain/slot.ts';
import { type CompiledInstruction, decodeKey, encodeKey } from '../../transactions/index.ts';
import { NO_LITESVM } from './no-litesvm.ts';
import { type Account, systemAccount } from './svm-account.ts';
import { type TransactionError, toTransactionError } from './svm-transaction-error.ts';

type Bindings = typeof import('litesvm/dist/internal.js');

/** Result of running a transaction, whether it succeeded or not. */
export interface ExecutionResult {
  readonly error: TransactionError | null;
  readonly logs: readonly string[];
  readonly computeUnits: bigint;
  /** Inner instructions per outer instruction, empty where it called nothing. */
  readonly innerInstructions: readonly (readonly InnerInstruction[])[];
  readonly returnData: { readonly program: string; readonly data: Uint8Array } | undefined;
}

/** What a transaction would do, and the accounts that it names as it would leave them; none where it fails. */
interface SimulationResult {
  readonly execution: ExecutionResult;
  readonly accounts: ReadonlyMap<string, Account | undefined>;
}

/** An instruction that a program called. Indices refer to the transaction's account keys. */
export interface InnerInstruction extends CompiledInstruction {
  readonly stackHeight: number;
}

export interface BankSysvars {
  readonly slot: Slot;
  readonly epoch: number;
  readonly epochStartSeconds: number;
  readonly unixSeconds: number;
}

/**
 * LiteSVM, which runs programs, reduced to the calls that the chain needs. It keeps no history. Its native module is called
 * without the wrapper of the package, which loads a second copy of Solana's library and decodes each transaction and
 * address once more: half the CPU of a start, and of each transaction.
 */
export class Svm {
  readonly #bindings: Bindings;
  readonly #liteSvm: LiteSvm;

  private constructor(bindings: Bindings, slotsPerEpoch: number) {
    this.#bindings = bindings;
    const length = BigInt(slotsPerEpoch);
    this.#liteSvm = new bindings.LiteSvm();
    this.#liteSvm.withNativeMints();
    // The chain checks age and repetition itself: a hash is valid for 150 blocks, and a fork runs transactions again.
    this.#liteSvm.setBlockhashCheck(false);
    this.#liteSvm.setTransactionHistory(0n);
    this.#liteSvm.setSlotHashes([]); // instead of one for slot 0
    this.#liteSvm.setEpochSchedule(new bindings.EpochSchedule(length, length, false, 0n, 0n));
  }

  /** Loads the native module on demand: a gateway over a real cluster works without it. */
  static async load(slotsPerEpoch: number): Promise<Svm> {
    const bindings = await import('litesvm/dist/internal.js').catch((cause: unknown) => {
      throw Object.assign(new Error(String(cause)), { code: NO_LITESVM, cause });
    });
    return new Svm(bindings, slotsPerEpoch);
  }

  account(address: string): Account | undefined {
    const found = this.#liteSvm.getAccount(toKey(address));
    return found === null ? undefined : toAccount(found);
  }

  /** Returns the addresses of the accounts that a program owns now. */
  programAddresses(program: string): string[] {
    return this.#liteSvm
      .getProgramAccounts(toKey(program))
      .filter((found) => found.account().lamports() > 0n)
      .map((found) => encodeKey(found.address));
  }

  /** Writes an account without checks; `undefined` removes it. */
  setAccount(address: string, account: Account | undefined): void {
    const { lamports, owner, executable, data } = account ?? systemAccount(0n);
    const written = new this.#bindings.Account(lamports, data, toKey(owner), executable, 0n);
    this.#liteSvm.setAccount(toKey(address), written);
  }

  /** Runs a transaction, given in its wire format, with all its signatures. */
  run(transaction: Uint8Array): ExecutionResult {
    return this.#toExecutionResult(this.#liteSvm.sendVersionedTransaction(transaction));
  }

  /** Runs a transaction without effects. The signatures may be invalid unless `verifiesSignatures`. */
  simulate(transaction: Uint8Array, verifiesSignatures: boolean): SimulationResult {
    this.#liteSvm.setSigverify(verifiesSignatures);
    try {
      return this.#toSimulationResult(this.#liteSvm.simulateVersionedTransaction(transaction));
    } finally {
      this.#liteSvm.setSigverify(true);
    }
  }

  #toSimulationResult(outcome: SimulatedTransactionInfo | FailedTransactionMetadata): SimulationResult {
    if (!(outcome instanceof this.#bindings.SimulatedTransactionInfo))
      return { execution: this.#toExecutionResult(outcome), accounts: new Map() };
    const accounts = outcome
      .postAccounts()
      .map((post) => [encodeKey(post.address), toAccount(post.account())] as const);
    return { execution: this.#toExecutionResult(outcome.meta()), accounts: new Map(accounts) };
  }

  /** Starts a bank: sets its clock, and makes another blockhash for nonces to advance to. */
  openBank({ slot, epoch, epochStartSeconds, unixSeconds }: BankSysvars): void {
    const { Clock } = this.#bindings;
    const started = BigInt(epochStartSeconds);
    this.#liteSvm.setClock(new Clock(BigInt(slot), started, BigInt(epoch), BigInt(epoch + 1), BigInt(unixSeconds)));
    this.#liteSvm.expireBlockhash();
  }

  minimumBalance(size: number): bigint {
    return this.#liteSvm.minimumBalanceForRentExemption(BigInt(size));
  }

  #toExecutionResult(outcome: TransactionMetadata | FailedTransactionMetadata): ExecutionResult {
    const failed = outcome instanceof this.#bindings.FailedTransactionMetadata;
    const meta = failed ? outcome.meta() : outcome;
    const returned = meta.returnData();
    return {
      error: failed ? toTransactionError(outcome.err()) : null,
      logs: meta.logs(),
      computeUnits: meta.computeUnitsConsumed(),
      innerInstructions: meta.innerInstructions().map((calls) =>
        calls.map((call) => {
          const instruction = call.instruction();
          return {
            programIdIndex: instruction.programIdIndex(),
            accounts: [...instruction.accounts()],
            data: instruction.data(),
            stackHeight: call.stackHeight(),
          };
        }),
      ),
      returnData:
        returned.data().length === 0
          ? undefined
          : { program: bs58.encode(returned.programId()), data: returned.data() },
    };
  }
}

/** Converts an account; undefined where it has no lamports. */
function toAccount(found: SvmAccount): Account | undefined {
  if (found.lamports() === 0n) return undefined;
  return {
    lamports: found.lamports(),
    owner: encodeKey(found.owner()),
    executable: found.executable(),
    data: found.data(), // a copy that is ours
  };
}

/** Decodes an address that was checked before. */
function toKey(address: string): Uint8Array {
  const key = decodeKey(address);
  if (key === undefined) throw new Error(`${JSON.stringify(address)} is no address`);
  return key;
}
