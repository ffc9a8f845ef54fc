import {
  AccountBatcher,
  type AccountBatcherOptions,
  type AccountQuery,
  type AccountRead,
} from '../../upstream/reads/account-batcher.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import type { BudgetedWork, RequestBudget } from '../request-budget.ts';

/** Reads accounts from one operator: a read that has waited for a request of the budget reads a batch with it. */
export class PacedAccountReads {
  readonly #batcher: AccountBatcher;
  #granted = 0;

  constructor(rpc: RpcCaller, budget: RequestBudget, work: BudgetedWork, options: AccountBatcherOptions) {
    const call: RpcCaller['call'] = async (...args) => {
      if (this.#granted > 0) this.#granted--;
      else await budget.acquire(work); // the parts of a batch that failed, and what must be read apart
      return budget.make(() => rpc.call(...args));
    };
    this.#batcher = new AccountBatcher({ call }, options);
  }

  readBatch(queries: readonly AccountQuery[]): Promise<AccountRead>[] {
    this.#granted++;
    return queries.map((query) => this.#batcher.read(query));
  }
}
