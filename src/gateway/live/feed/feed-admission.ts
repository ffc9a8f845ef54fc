import type { Clock } from '../../../shared/domain/clock.ts';
import { CLOCK_SYSVAR, SYSTEM_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { receiveUpdate } from '../../upstream/geyser/decode-update.ts';
import { encodeFilter, type FeedMode } from '../../upstream/geyser/encode-request.ts';
import { type FeedServer, parseFeedServer, versionProblem, YELLOWSTONE } from '../../upstream/geyser/feed-server.ts';
import type { BlockLink, FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import {
  answerPing,
  type FeedCall,
  type FeedClient,
  FeedError,
  type FeedFailure,
  GRPC_CODE,
} from '../../upstream/geyser/geyser-client.ts';
import { readWrittenAccounts } from '../../upstream/reads/written-accounts.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import { BlockAssembly } from './block-assembly.ts';
import { FEED_RULES, MIN_LINKED_BLOCKS } from './feed-rules.ts';

export interface AdmittedFeed {
  readonly version: FeedServer;
  readonly mode: FeedMode;
}

export interface FeedAdmissionOptions {
  readonly client: FeedClient;
  /** Reads of the cluster that the feed must follow. */
  readonly rpc: RpcCaller;
  readonly clock: Clock;
  /** Longest time until the evidence is there, in milliseconds. */
  readonly timeoutMs: number;
  /** The most bytes of accounts whose block meta has not come. */
  readonly maxBytes: number;
}

/** Most accounts that are watched for evidence, and most blocks that are read for it. */
const [MAX_CANARIES, MAX_BLOCK_READS] = [64, 60];

/** Finds out whether a feed may date accounts (G0). Throws a {@link FeedError} that says why it may not. */
export async function admitFeed(options: FeedAdmissionOptions): Promise<AdmittedFeed> {
  const version = parseFeedServer(await options.client.version());
  const problem = version === undefined ? 'it names no version' : versionProblem(version);
  if (version === undefined || problem !== undefined) throw new FeedError(problem);
  try {
    await new Observation(options, 'blocks').admit();
    return { version, mode: 'blocks' };
  } catch (thrown) {
    const isRefused = thrown instanceof RefusedFilter;
    if (!isRefused || version.name !== YELLOWSTONE) throw thrown;
  }
  await new Observation(options, 'accounts').admit();
  return { version, mode: 'accounts' };
}

/** Thrown where a server does not send accounts in blocks. */
class RefusedFilter extends FeedError {}

/** What a feed shows of itself: blocks in a row, and accounts that the node shows written in them. */
class Observation {
  readonly #options: FeedAdmissionOptions;
  readonly #mode: FeedMode;
  readonly #assembly: BlockAssembly;
  readonly #canaries = new Set<string>([CLOCK_SYSVAR]);
  #version = 1;
  readonly #evidence = {
    versionProblem: undefined,
    isKnownToNode: false,
    linkedBlocks: 0,
    hasClock: false,
    written: [] as { owner: string; isDelivered: boolean }[],
  };
  #last: BlockLink | undefined;
  #blockReads = 0;
  #isReading = false;
  #finish: (outcome: FeedError | undefined) => void = () => {};

  constructor(options: FeedAdmissionOptions, mode: FeedMode) {
    this.#options = options;
    this.#mode = mode;
    this.#assembly = new BlockAssembly(mode, FEED_RULES, options.maxBytes);
  }

  async admit(): Promise<void> {
    const { client, clock, timeoutMs } = this.#options;
    const call = client.subscribe({
      onMessage: (bytes) =>
        receiveUpdate(
          bytes,
          (update) => this.#onUpdate(update, call),
          (cause) => this.#finish(new FeedError('it sends what is no message of a Geyser feed', { cause })),
        ),
      onEnd: (failure) => this.#finish(failureOf(failure)),
    });
    const outcome = new Promise<FeedError | undefined>((resolve) => {
      this.#finish = resolve;
    });
    const cancel = clock.after(timeoutMs, () => this.#finish(new FeedError(this.#problem ?? 'it took too long')));
    call.send(this.#filter());
    const error = await outcome;
    cancel();
    call.cancel();
    if (error !== undefined) throw error;
  }

  get #problem(): string | undefined {
    return FEED_RULES.admissionProblem(this.#evidence);
  }

  #filter(): Uint8Array {
    return encodeFilter({ mode: this.#mode, version: this.#version, addresses: [...this.#canaries] });
  }

  #onUpdate(update: FeedUpdate, call: FeedCall): void {
    if (update.kind === 'ping') answerPing(call);
    const block = this.#assembly.add(update);
    if (block === undefined) return;
    const delivered = new Set(block.writes.map(({ address }) => address));
    const isLinked = block.parentSlot === this.#last?.slot && block.parentBlockhash === this.#last.blockhash;
    const evidence = this.#evidence;
    evidence.linkedBlocks = isLinked ? evidence.linkedBlocks + 1 : 1;
    evidence.hasClock ||= delivered.has(CLOCK_SYSVAR);
    this.#last = block;
    const isDue = evidence.linkedBlocks >= MIN_LINKED_BLOCKS && block.version === this.#version;
    if (isDue && !this.#isReading) void this.#compare(block, delivered, call);
  }

  /** Compares a delivered block with the node's. Until it wrote an account that is watched, watches more that are written. */
  async #compare({ slot, blockhash }: BlockLink, delivered: ReadonlySet<string>, call: FeedCall) {
    const evidence = this.#evidence;
    this.#isReading = true;
    const block = await readWrittenAccounts(this.#options.rpc, slot, true).catch(() => undefined);
    this.#isReading = false;
    this.#blockReads++;
    if (block !== undefined && block.blockhash !== blockhash) {
      this.#finish(new FeedError('its blocks are not those of the node: it follows another cluster'));
      return;
    }
    if (block !== undefined) {
      evidence.isKnownToNode = true;
      let isNew = false;
      for (const [address, owner] of block.written) {
        if (owner === '') continue;
        if (this.#canaries.has(address)) evidence.written.push({ owner, isDelivered: delivered.has(address) });
        else if (this.#canaries.size < MAX_CANARIES) isNew = Boolean(this.#canaries.add(address));
      }
      if (isNew && !evidence.written.some(({ owner }) => owner === SYSTEM_PROGRAM)) {
        this.#version++;
        call.send(this.#filter());
      }
    }
    const problem = this.#problem;
    if (problem === undefined) this.#finish(undefined);
    else if (evidence.written.some(({ isDelivered }) => !isDelivered) || this.#blockReads >= MAX_BLOCK_READS)
      this.#finish(new FeedError(problem));
  }
}

function failureOf({ code, reason }: FeedFailure): FeedError {
  const isRefusal = code === GRPC_CODE.invalidArgument || code === GRPC_CODE.permissionDenied;
  return isRefusal ? new RefusedFilter(reason) : new FeedError(reason);
}
