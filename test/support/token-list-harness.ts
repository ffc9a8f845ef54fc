import type { VersionRing } from '../../src/gateway/live/feed/version-ring.ts';
import {
  type LiveTokenListSettings,
  LiveTokenListSource,
} from '../../src/gateway/live/token-lists/live-token-list-source.ts';
import type { TokenList, TokenListRead } from '../../src/gateway/tokens/token-list.ts';
import { MeshTips } from '../../src/gateway/upstream/mesh/mesh-tips.ts';
import type { PubsubSession } from '../../src/gateway/upstream/pubsub/pubsub-session.ts';
import type { EncodedAccount } from '../../src/gateway/upstream/reads/encoded-accounts.ts';
import { COMMITMENTS, type Commitment } from '../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../src/shared/domain/gateway-error.ts';
import type { Slot } from '../../src/shared/domain/slot.ts';
import { TOKEN_PROGRAMS } from '../../src/transactions/accounts/token-program-accounts.ts';
import { ManualClock } from './manual-clock.ts';
import { flushEvents, ManualSession } from './manual-session.ts';
import { configOf } from './rpc-request.ts';
import {
  accountJson,
  addressFromByte,
  CLOSED_ACCOUNT,
  mintFixture,
  rpcResultOf,
  tokenAccountFixture,
} from './token-account-fixtures.ts';

export const OWNER = addressFromByte(7);
export const MINT = addressFromByte(1);

const SETTINGS: LiveTokenListSettings = {
  lists: 2,
  callerShare: 1,
  maxListMembers: 100,
  idleMs: 20_000,
  auditMs: 30_000,
  requestsPerSecond: 1000,
};

/** Live token lists over sessions that a test controls, to a node that has one mint and answers immediately. */
export class TokenListHarness {
  readonly clock = new ManualClock();
  readonly sessions: ManualSession[] = [];
  readonly problems: string[] = [];
  readonly accounts = new Map<string, EncodedAccount>([[MINT, mintFixture(0, 100)]]);
  readonly source: LiveTokenListSource;
  readonly #tips = new MeshTips();
  #slot: Slot = 100;
  commitment: Commitment = 'confirmed';
  /** While this is set, no session's node answers. */
  isHung = false;
  /** The subscriptions that a session accepts. */
  capacity = 100;
  #reads = 0;
  #upstreamReads = 0;

  constructor(settings: Partial<LiveTokenListSettings> = {}, ring?: VersionRing<TokenList>) {
    const answer = async (method: string, params: readonly unknown[] = []) => {
      const { minContextSlot = 0 } = configOf(params);
      if (minContextSlot > this.#slot) throw new GatewayError('rpc_error', 'not yet', { status: 503, rpcCode: -32016 });
      const value = Buffer.from(rpcResultOf(this.accounts, method, params));
      return { slot: this.#slot, value, result: value };
    };
    const call: PubsubSession['call'] = (method, params) => {
      this.#upstreamReads++;
      return answer(method, params);
    };
    const callOnSession: PubsubSession['call'] = (method, params) => {
      this.#reads++;
      return this.isHung ? new Promise(() => {}) : answer(method, params);
    };
    this.source = new LiveTokenListSource({
      mesh: {
        call,
        openSession: async () => {
          const session = new ManualSession(callOnSession);
          session.capacity = this.capacity;
          this.sessions.push(session);
          return session;
        },
        tip: (commitment) => this.#tips.newest(commitment),
        slotTimeMs: 400,
      },
      clock: this.clock,
      random: () => 0.5,
      settings: { ...SETTINGS, ...settings },
      ring,
      onProblem: (problem) => this.problems.push(problem),
    });
    for (const commitment of COMMITMENTS) this.#tips.onTip(commitment, () => this.source.liveSet.onTip(commitment));
    this.#tips.observe('finalized', this.#slot);
  }

  get session(): ManualSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('no session was opened');
    return session;
  }

  get slot(): Slot {
    return this.#slot;
  }

  /** The number of requests to the sessions' nodes. */
  get reads(): number {
    return this.#reads;
  }

  /** Adds a slot in which accounts change or are closed, without notifying a session. */
  addSlot(changes: Readonly<Record<string, EncodedAccount | undefined>> = {}): Slot {
    this.#slot++;
    for (const [address, account] of Object.entries(changes)) {
      if (account === undefined) this.accounts.delete(address);
      else this.accounts.set(address, account);
    }
    this.#tips.observe('finalized', this.#slot);
    return this.#slot;
  }

  /** Adds a slot in which the owner has these amounts of the mint, by account. */
  setAmounts(amounts: Readonly<Record<string, number>>): Slot {
    return this.addSlot(
      Object.fromEntries(Object.entries(amounts).map(([at, n]) => [at, tokenAccountFixture(OWNER, n, MINT)])),
    );
  }

  /** Notifies the session of an account as it is now: by its own subscription or by that of its program. */
  async notify(address: string, by: 'account' | 'program' = 'account'): Promise<void> {
    const account = this.accounts.get(address) ?? CLOSED_ACCOUNT;
    const value = by === 'account' ? accountJson(account) : `{"pubkey":"${address}","account":${accountJson(account)}}`;
    this.session.notify(by === 'account' ? address : TOKEN_PROGRAMS['spl-token'], this.#slot, value);
    await flushEvents();
  }

  /** Sends the Clock update of the newest slot. The node's newest root may be ahead of it. */
  async clockUpdate(rootLead = 0): Promise<void> {
    this.session.clockUpdate(this.#slot, this.#slot + rootLead);
    await flushEvents();
  }

  /** Acknowledges all subscriptions that are not acknowledged yet. */
  async acknowledge(): Promise<void> {
    await flushEvents();
    this.session.acknowledgeAll();
    await flushEvents();
  }

  /** Adds slots without changes, and answers all requests to the session's node. */
  async pass(slots: number): Promise<void> {
    for (let i = 0; i < slots; i++) {
      await this.acknowledge();
      this.addSlot();
      await this.clockUpdate();
    }
  }

  /** Reads the list until it is kept live. */
  async keepLive(): Promise<void> {
    await this.read();
    this.addSlot();
    await this.read();
    await flushEvents();
    await this.pass(6);
  }

  read(minContextSlot?: Slot, withIdentities = false): Promise<TokenListRead> {
    return this.source.read({ owner: OWNER, commitment: this.commitment, minContextSlot, withIdentities });
  }

  /** Returns the slot and the amounts by address of the list that is kept live; undefined when the upstream is called. */
  async fromState(): Promise<{ readonly slot: Slot; readonly amounts: Record<string, number> } | undefined> {
    const before = this.#upstreamReads;
    const { slot, list } = await this.read();
    if (this.#upstreamReads > before) return undefined;
    return {
      slot,
      amounts: Object.fromEntries(list.accounts.map(({ address, token }) => [address, Number(token.amount)])),
    };
  }
}
