import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { countRows, type RequestCost } from '../../../shared/domain/units.ts';
import { expiresAfter } from '../../../shared/runtime/expires-after.ts';
import { type IdlAccount, idlPlacesOf, MAX_IDL_BYTES } from '../../../transactions/index.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { parseEncodedAccount, type ReadOptions } from './encoded-accounts.ts';
import { readMultipleAccounts } from './multiple-accounts.ts';

/** The most names of all remembered IDLs: about 4 MB. */
const MAX_NAMES = 40_000;

/** The time for which the names of a program are remembered, also that it has none. */
const NAMES_TTL_MS = 86_400_000;

/** The most bytes that are read of an account: a header and a compressed IDL. */
const MAX_ACCOUNT_BYTES = 96 + MAX_IDL_BYTES;

/** Reads the names of instructions in the first of some accounts that holds an IDL. */
export type IdlReader = (accounts: readonly IdlAccount[]) => Promise<ReadonlyMap<string, string>>;

interface LookUp {
  readonly rpc: RpcCaller;
  readonly cost: RequestCost | undefined;
  readonly readIdl: IdlReader;
}

/** The names of instructions by program, as its author wrote them on the chain: reads IDLs, and remembers the names in them. */
export class ProgramIdlCache {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #names: LRUCache<string, ReadonlyMap<string, string>>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#names = this.#create();
  }

  /** Forgets all names, those too that are being read. */
  clear(): void {
    this.#names = this.#create();
  }

  /**
   * Resolves to the names by the start of the instruction's data in hex; none if the program has no IDL. Reads one in one call of
   * two accounts.
   */
  async find(
    program: string,
    { rpc, cost, readIdl }: LookUp,
    options: ReadOptions,
  ): Promise<ReadonlyMap<string, string>> {
    const kept = this.#names;
    const remembered = kept.get(program);
    if (remembered !== undefined) return remembered;
    const places = idlPlacesOf(program);
    countRows({ cost }, places.length);
    const config = { encoding: 'base64', dataSlice: { offset: 0, length: MAX_ACCOUNT_BYTES }, ...options };
    const { accounts } = await readMultipleAccounts(
      rpc,
      places.map(({ address }) => address),
      config,
    );
    const found = places.flatMap((place) => {
      const json = accounts.get(place.address);
      const account = json && parseEncodedAccount(json);
      return account?.owner === place.owner ? [{ data: account.data, place }] : [];
    });
    const names = found.length === 0 ? new Map<string, string>() : await readIdl(found);
    kept.set(program, names);
    return names;
  }

  #create(): LRUCache<string, ReadonlyMap<string, string>> {
    return new LRUCache({
      maxSize: MAX_NAMES,
      sizeCalculation: (names) => 1 + names.size,
      ...expiresAfter(NAMES_TTL_MS, this.#clock),
    });
  }
}
