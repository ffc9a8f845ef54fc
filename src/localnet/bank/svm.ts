import { type Address, type EncodedAccount, getTransactionDecoder, lamports } from '@solana/web3.js';
import bs58 from 'bs58';
import type { FailedTransactionMetadata, LiteSVM, TransactionMetadata } from 'litesvm';
import type { Slot } from '../../shared/domain/slot.ts';
import { NO_LITESVM } from './no-litesvm.ts';
import { type Account, systemAccount } from './svm-account.ts';
import { type TransactionError, toTransactionError } from './svm-transaction-error.ts';

type LiteSvmModule = typeof import('litesvm');

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

/** Values of the sysvars of a bank. */
export interface BankSysvars {
  readonly slot: Slot;
  readonly epoch: number;
  readonly epochStartSeconds: number;
  readonly unixSeconds: number;
  /** Newest first, at most 512. */
  readonly slotHashes: readonly { readonly slot: Slot; readonly hash: string }[];
}

/** LiteSVM, which runs programs, reduced to the calls that the chain needs. It keeps no history. */
export class Svm {
  readonly #bindings: LiteSvmModule;
  readonly #liteSvm: LiteSVM;

  private constructor(litesvm: LiteSvmModule, slotsPerEpoch: number) {
    this.#bindings = litesvm;
    const length = BigInt(slotsPerEpoch);
    this.#liteSvm = new litesvm.LiteSVM()
      .withNativeMints()
      // The chain checks age and repetition itself: a hash is valid for 150 blocks, and a fork runs transactions again.
      .withBlockhashCheck(false)
      .withTransactionHistory(0n);
    this.#liteSvm.setEpochSchedule(new litesvm.EpochSchedule(length, length, false, 0n, 0n));
  }

  /** Loads the native module on demand: a gateway over a real cluster works without it. */
  static async load(slotsPerEpoch: number): Promise<Svm> {
    const litesvm = await import('litesvm').catch((cause: unknown) => {
      throw Object.assign(new Error(String(cause)), { code: NO_LITESVM, cause });
    });
    return new Svm(litesvm, slotsPerEpoch);
  }

  /** Returns a copy of an account as it is now. */
  account(address: string): Account | undefined {
    const found = this.#liteSvm.getAccount(address as Address); // callers hold addresses that were decoded before
    return found.exists && found.lamports > 0n ? toAccount(found) : undefined;
  }

  /** Returns the addresses of the accounts that a program owns now. It decodes all of them, so it is slow. */
  programAddresses(program: string): string[] {
    return this.#liteSvm
      .getProgramAccounts(program as Address)
      .filter((found) => found.lamports > 0n)
      .map((found) => found.address);
  }

  /** Writes an account without checks; `undefined` removes it. */
  setAccount(address: string, account: Account | undefined): void {
    const { lamports: accountLamports, owner, executable, data } = account ?? systemAccount(0n);
    this.#liteSvm.setAccount({
      address: address as Address,
      lamports: lamports(accountLamports),
      programAddress: owner as Address,
      executable,
      data,
      space: BigInt(data.length),
    });
  }

  /** Runs a signed transaction, given in its wire format. */
  run(transaction: Uint8Array): ExecutionResult {
    return this.#toExecutionResult(this.#liteSvm.sendTransaction(transactionDecoder.decode(transaction)));
  }

  /** Runs a transaction like {@link run}, without effects. */
  simulate(transaction: Uint8Array): ExecutionResult {
    const outcome = this.#liteSvm.simulateTransaction(transactionDecoder.decode(transaction));
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

  /** Returns the lamports that make an account of `size` bytes rent exempt. */
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

function toAccount({ lamports, programAddress: owner, executable, data }: EncodedAccount): Account {
  return { lamports, owner, executable, data: data as Uint8Array }; // the bindings give a copy that is ours
}

const transactionDecoder = getTransactionDecoder();
