import { SharedWatch } from '../../src/gateway/fleet/replication/shared-watch.ts';
import { lamportsOf, textOfKept } from '../../src/gateway/live/accounts/account-json.ts';
import { LiveAccountSource } from '../../src/gateway/live/accounts/live-account-source.ts';
import { bytesOfAccount } from '../../src/gateway/live/feed/kept-account.ts';
import { VersionRing } from '../../src/gateway/live/feed/version-ring.ts';
import { LiveTokenListSource } from '../../src/gateway/live/token-lists/live-token-list-source.ts';
import { MeshTips } from '../../src/gateway/upstream/mesh/mesh-tips.ts';
import type { PubsubSession } from '../../src/gateway/upstream/pubsub/pubsub-session.ts';
import { AccountBatcher } from '../../src/gateway/upstream/reads/account-batcher.ts';
import { parseAccountLamports } from '../../src/gateway/upstream/reads/account-info.ts';
import { COMMITMENTS } from '../../src/shared/domain/commitment.ts';
import type { Lease } from '../../src/shared/domain/lease.ts';
import type { Slot } from '../../src/shared/domain/slot.ts';
import { ChannelHub, ChannelMember } from './channel-hub.ts';
import { ManualClock } from './manual-clock.ts';
import { accountText, flushEvents, ManualSession } from './manual-session.ts';

/** The balances of accounts at each slot: a change counts from the slot on that comes next. */
export class Chain {
  slot: Slot = 100;
  readonly #changes = new Map<string, { slot: Slot; lamports: number }[]>();

  change(address: string, lamports: number): void {
    this.#changes.set(address, [...(this.#changes.get(address) ?? []), { slot: this.slot + 1, lamports }]);
  }

  balanceAt(address: string, slot: Slot): number {
    return this.#changes.get(address)?.findLast((change) => change.slot <= slot)?.lamports ?? 1;
  }
}

/** What a gateway has claimed once, and for how long. */
interface Claim {
  readonly address: string;
  readonly lamports: number;
  readonly lease: Lease;
}

/** A gateway over a node of its own, which may be behind the chain. */
export class WatchGateway {
  readonly clock = new ManualClock();
  readonly tips = new MeshTips();
  readonly sessions: ManualSession[] = [];
  readonly accounts: LiveAccountSource;
  readonly ring = new VersionRing({ bytes: 1 << 20, slots: 200 }, bytesOfAccount);
  readonly watch: SharedWatch;
  readonly member: ChannelMember;
  readonly problems: string[] = [];
  nodeSlot: Slot = 100;
  isResting = false;
  readonly #chain: Chain;
  #claims: Claim[] = [];
  readonly #newest = new Map<string, Slot>();
  readonly #backwards: string[] = [];

  constructor(chain: Chain, hub: ChannelHub, name: string) {
    this.#chain = chain;
    this.member = new ChannelMember(hub, name);
    const answer: PubsubSession['call'] = async (_, [addresses] = []) => {
      const slot = this.nodeSlot;
      const accounts = (addresses as string[]).map((address) => accountText(chain.balanceAt(address, slot)));
      const value = Buffer.from(`[${accounts.join()}]`);
      return { slot, value, result: value };
    };
    const mesh = {
      openSession: async () => {
        const session = new ManualSession(answer);
        this.sessions.push(session);
        return session;
      },
      call: answer,
      tip: (commitment: 'processed' | 'confirmed' | 'finalized') => this.tips.newest(commitment),
      onTip: this.tips.onTip.bind(this.tips),
      slotTimeMs: 400,
      observeSlot: this.tips.observe.bind(this.tips),
      rest: (isResting: boolean) => {
        this.isResting = isResting;
      },
    };
    const options = {
      mesh,
      clock: this.clock,
      random: () => 0.5,
      onProblem: (problem: string) => this.problems.push(problem),
      settings: {
        accounts: 100,
        lists: 10,
        maxListMembers: 10,
        callerShare: 1,
        idleMs: 20_000,
        auditMs: 3_000_000,
        requestsPerSecond: 1000,
        maxAccountBytes: 1000,
      },
    };
    const upstream = new AccountBatcher({ call: answer }, { clock: this.clock, tip: mesh.tip });
    this.accounts = new LiveAccountSource({ ...options, upstream, ring: this.ring });
    const lists = new LiveTokenListSource(options);
    this.watch = new SharedWatch({
      clock: this.clock,
      mesh,
      accounts: this.accounts.liveSet,
      lists: lists.liveSet,
      onLeasesAdvanced: () => {},
    });
    this.member.joinWatch(this.watch);
    for (const commitment of COMMITMENTS) this.tips.onTip(commitment, () => this.accounts.liveSet.onTip(commitment));
  }

  /** The accounts that its node notifies it of. */
  get subscriptions(): number {
    return this.sessions.reduce((sum, { isLost, handlers }) => sum + (isLost ? 0 : handlers.size), 0);
  }

  /** Its node comes to the next slot, unless it is there: it notifies of the changes, and then of the Clock. */
  advance(): void {
    if (this.nodeSlot >= this.#chain.slot) return;
    const slot = ++this.nodeSlot;
    this.tips.observe('finalized', slot);
    for (const session of this.sessions) {
      if (session.isLost) continue;
      session.acknowledgeAll();
      for (const address of session.handlers.keys()) {
        const lamports = this.#chain.balanceAt(address, slot);
        if (lamports !== this.#chain.balanceAt(address, slot - 1)) session.notify(address, slot, accountText(lamports));
      }
      session.clockUpdate(slot);
    }
  }

  /** Reads an account. Returns the slot if it is live here. */
  async read(address: string): Promise<Slot | undefined> {
    const query = { address, commitment: 'confirmed', shape: 'lamports', minContextSlot: undefined } as const;
    const { slot, account, lease } = await this.accounts.read(query);
    const lamports = account === null ? 0 : Number(parseAccountLamports(account));
    if (lease === undefined) return undefined;
    this.#claims.push({ address, lamports, lease });
    const newest = this.#newest.get(address) ?? 0;
    if (slot < newest) this.#backwards.push(`${this.member.name}: ${address} at ${slot} after ${newest}`);
    this.#newest.set(address, Math.max(slot, newest));
    return slot;
  }

  /** Returns the balance at a past slot, where it is kept. */
  balanceAt(address: string, slot: Slot): number | undefined {
    const version = this.ring.get(address)?.at(slot);
    return version && Number(lamportsOf(textOfKept(version.value)));
  }

  /** Returns the slots that it claims a wrong balance for, and the answers that were older than one before. */
  falseClaims(): readonly string[] {
    const wrong = this.#claims.flatMap(({ address, lamports, lease }) => {
      const actual = this.#chain.balanceAt(address, lease.slot);
      return actual === lamports
        ? []
        : [`${this.member.name}: ${address} is ${actual} at ${lease.slot}, not ${lamports}`];
    });
    this.#claims = this.#claims.slice(-50);
    const wrongPast = [...this.#newest.keys()].flatMap((address) =>
      Array.from({ length: 40 }, (_, i) => this.#chain.slot - i)
        .filter(
          (slot) =>
            (this.balanceAt(address, slot) ?? this.#chain.balanceAt(address, slot)) !==
            this.#chain.balanceAt(address, slot),
        )
        .map((slot) => `${this.member.name}: ${address} was another at ${slot}`),
    );
    return [...wrong, ...wrongPast, ...this.#backwards];
  }
}

/** Gateways that follow the first one. */
export function openWatchWorld(names: readonly string[]) {
  const chain = new Chain();
  const hub = new ChannelHub();
  const gateways = names.map((name) => new WatchGateway(chain, hub, name));
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await flushEvents();
      for (const { member } of gateways) hub.deliver(member);
    }
  };
  /** Makes one lead, or nobody. */
  const lead = (leader: WatchGateway | undefined): void => hub.elect(leader?.member);
  /** Comes to the next slot, at all nodes save some. */
  const advance = async (except: readonly WatchGateway[] = []): Promise<void> => {
    chain.slot++;
    for (const gateway of gateways) {
      gateway.clock.advance(400);
      if (!except.includes(gateway)) gateway.advance();
    }
    await settle();
  };
  return { chain, hub, gateways, settle, lead, advance };
}
