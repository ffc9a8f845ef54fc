import bs58 from 'bs58';
import type { FailedTransactionMetadata, LiteSvm, TransactionMetadata } from 'litesvm/dist/internal.js';
import type { Slot } from '../../shared/domain/slot.ts';
import { decodeKey, encodeKey } from '../../transactions/index.ts';
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

/** An instruction that a program called. Indices refer to the transaction's account keys. */
export interface InnerInstruction {
  readonly programIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

export interface BankSysvars {
  readonly slot: Slot;
  readonly epoch: number;
  readonly epochStartSeconds: number;
  readonly unixSeconds: number;
  /** Newest first, at most 512. */
  readonly slotHashes: readonly { readonly slot: Slot; readonly hash: string }[];
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
    if (found === null || found.lamports() === 0n) return undefined;
    return {
      lamports: found.lamports(),
      owner: encodeKey(found.owner()),
      executable: found.executable(),
      data: found.data(), // a copy that is ours
    };
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

  simulate(transaction: Uint8Array): ExecutionResult {
    const outcome = this.#liteSvm.simulateVersionedTransaction(transaction);
    return this.#toExecutionResult(
      outcome instanceof this.#bindings.SimulatedTransactionInfo ? outcome.meta() : outcome,
    );
  }

  /** Starts a bank: sets its clock and slot hashes, and makes another blockhash for nonces to advance to. */
  openBank({ slot, epoch, epochStartSeconds, unixSeconds, slotHashes }: BankSysvars): void {
    const { Clock } = this.#bindings;
    const started = BigInt(epochStartSeconds);
    this.#liteSvm.setClock(new Clock(BigInt(slot), started, BigInt(epoch), BigInt(epoch + 1), BigInt(unixSeconds)));
    this.#liteSvm.setSlotHashes(slotHashes.map(({ slot, hash }) => ({ slot: BigInt(slot), hash })));
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
            programIndex: instruction.programIdIndex(),
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

/** Decodes an address that was checked before. */
function toKey(address: string): Uint8Array {
  const key = decodeKey(address);
  if (key === undefined) throw new Error(`${JSON.stringify(address)} is no address`);
  return key;
}
