import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import {
  connect,
  constants,
  createServer as createHttp2Server,
  createSecureServer,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { credentials } from '@grpc/grpc-js';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { AccountState } from '../../../src/gateway/live/accounts/account-state.ts';
import {
  FeedAccountSession,
  type FeedAccountSessionOptions,
} from '../../../src/gateway/live/accounts/feed-account-session.ts';
import { GeyserFeed, type GeyserFeedOptions } from '../../../src/gateway/live/accounts/geyser-feed.ts';
import { Arming } from '../../../src/gateway/live/feed/arming.ts';
import { BlockAssembly } from '../../../src/gateway/live/feed/block-assembly.ts';
import { FEED_RULES } from '../../../src/gateway/live/feed/feed-rules.ts';
import { FeedStream } from '../../../src/gateway/live/feed/feed-stream.ts';
import { Gap } from '../../../src/gateway/live/feed/gap.ts';
import { type AccountHistory, bytesOfAccount, type FeedAccount } from '../../../src/gateway/live/feed/kept-account.ts';
import { RecentBlocks } from '../../../src/gateway/live/feed/recent-blocks.ts';
import { VersionRing } from '../../../src/gateway/live/feed/version-ring.ts';
import { doubleRead } from '../../../src/gateway/live/initial-sync.ts';
import type { LiveRules, LiveState } from '../../../src/gateway/live/live-state.ts';
import { unread } from '../../../src/gateway/live/read-heat.ts';
import { RequestBudgets } from '../../../src/gateway/live/request-budget.ts';
import { Watermark } from '../../../src/gateway/live/watermark.ts';
import type { WatermarkLease } from '../../../src/gateway/live/watermark-lease.ts';
import { receiveUpdate } from '../../../src/gateway/upstream/geyser/decode-update.ts';
import { encodeFilter, encodePing, versionOf } from '../../../src/gateway/upstream/geyser/encode-request.ts';
import { parseFeedServer, versionProblem } from '../../../src/gateway/upstream/geyser/feed-server.ts';
import type { AccountValue, AccountWrite, FeedUpdate } from '../../../src/gateway/upstream/geyser/feed-update.ts';
import {
  answerPing,
  createFeedClient,
  type FeedCall,
  type FeedClient,
  FeedError,
  type FeedFailure,
  type FeedListener,
} from '../../../src/gateway/upstream/geyser/geyser-client.ts';
import { paceConnections } from '../../../src/gateway/upstream/geyser/paced-connection.ts';
import { Disagreements } from '../../../src/gateway/upstream/mesh/disagreements.ts';
import type { OperatorAgreement } from '../../../src/gateway/upstream/mesh/mesh.ts';
import { SlotConsensus } from '../../../src/gateway/upstream/mesh/slot-consensus.ts';
import type { RpcCaller, RpcResponse } from '../../../src/gateway/upstream/rpc/rpc-response.ts';
import { GeyserFaults } from '../../../src/localnet/geyser/geyser-faults.ts';
import {
  decodeRequest,
  encodeBlockUpdate,
  encodeSlotUpdate,
  STATUS,
} from '../../../src/localnet/geyser/geyser-messages.ts';
import { startGeyserServer } from '../../../src/localnet/geyser/geyser-server.ts';
import { callMethod } from '../../../src/localnet/rpc/call-method.ts';
import { InjectedFaults } from '../../../src/localnet/rpc/injected-faults.ts';
import type { NodeContext } from '../../../src/localnet/rpc/method-handler.ts';
import { deriveKeypair } from '../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../src/localnet/traffic/faucet.ts';
import type { Commitment } from '../../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import { CLOCK_SYSVAR, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../src/shared/domain/well-known-addresses.ts';
import { addressOfNumber } from '../../support/address-of-number.ts';
import { decodeUpdate } from '../../support/decode-update.ts';
import { blockUpdate, linkOf } from '../../support/feed-block.ts';
import { waitFor } from '../../support/harness.ts';
import { listenOnLoopback } from '../../support/loopback-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';
import { readRecordedFeed } from '../../support/recorded-feed.ts';
import { CERTIFICATE_OF_LOOPBACK, CERTIFICATE_OF_OTHERS } from '../../support/test-certificates.ts';
import { UPSTREAM_SETTINGS } from '../../support/upstream-settings.ts';
import { createTestChain } from '../localnet/test-chain.ts';

/** Names an update for a comparison of orders. */
const nameOf = (update: FeedUpdate): string => (update.kind === 'slot' ? `slot ${update.status}` : update.kind);

t.test('decode-update', async (t) => {
  const lines = readRecordedFeed();
  const of = (name: string): FeedUpdate[] =>
    lines.flatMap(({ stream, bytes }) =>
      stream === name && bytes !== undefined ? [decodeUpdate(Buffer.from(bytes, 'base64'))] : [],
    );

  t.test('the recorded blocks name each other, and come after their accounts', async (t) => {
    for (const stream of ['confirmed', 'finalized']) {
      const updates = of(stream);
      const blocks = updates.filter((update) => update.kind === 'block');
      t.ok(blocks.length > 30, `${blocks.length} blocks`);
      for (const [i, { parentSlot, parentBlockhash }] of blocks.slice(1).entries())
        t.match(blocks[i], { slot: parentSlot, blockhash: parentBlockhash });
      for (const { slot, blockhash, writes } of blocks) {
        const ofSlot = updates.filter((update) => 'slot' in update && update.slot === slot);
        const own = ofSlot.filter((update) => update.kind !== 'slot' || update.status === stream).map(nameOf);
        t.same(own, [...writes.map(() => 'account'), 'block', 'block-meta', `slot ${stream}`], `slot ${slot}`);
        const meta = ofSlot.find((update) => update.kind === 'block-meta');
        t.match(meta, { slot, blockhash });
        const apart = ofSlot.flatMap((update) => (update.kind === 'account' ? [update.write] : []));
        const byAddress = (a: AccountWrite, b: AccountWrite): number => (a.address < b.address ? -1 : 1);
        t.same(apart.sort(byAddress), writes.toSorted(byAddress), 'accounts are the same in the block and apart');
      }
    }
  });

  t.test('balances and a closed account are those that the node answers for', async (t) => {
    const reads = lines.flatMap(({ rpc }) => (rpc?.method === 'getMultipleAccounts' ? [rpc] : []));
    t.equal(reads.length, 2);
    for (const { params, result } of reads) {
      const { context, value } = result as {
        context: { slot: number };
        value: ({ lamports: number; owner: string; rentEpoch: number } | null)[];
      };
      const addresses = params[0] as string[];
      for (const [i, address] of addresses.entries()) {
        const newest = of('from-10-back')
          .concat(of('confirmed'))
          .filter((update) => update.kind === 'block')
          .filter(({ slot }) => slot <= context.slot)
          .sort((a, b) => a.slot - b.slot)
          .flatMap(({ writes }) => writes.filter((write) => write.address === address))
          .at(-1);
        const { lamports, owner } = newest?.value ?? {};
        t.same(
          newest && (newest.value === null ? null : [lamports, owner]),
          value[i] && [BigInt(value[i].lamports), value[i].owner],
        );
      }
    }
    const closed = of('confirmed').filter((update) => update.kind === 'account' && update.write.value === null);
    t.ok(closed.length > 0, 'a closed account was recorded');
  });

  t.test('a new request is in force from the first block with its name', async (t) => {
    const versions = of('confirmed').flatMap((update) =>
      update.kind === 'block' ? update.filters.map(versionOf) : [],
    );
    t.same(versions, versions.toSorted());
    t.same(new Set(versions), new Set([1, 2]));
    t.same([versionOf('x'), versionOf(''), versionOf('b-'), versionOf('b12')], [-1, -1, -1, 12]);
  });

  t.test('bytes that are no update are refused or decoded, never anything else', async (t) => {
    const valid = lines
      .flatMap(({ bytes }) => (bytes === undefined ? [] : [Buffer.from(bytes, 'base64')]))
      .slice(0, 60);
    const mutated = fc
      .tuple(fc.constantFrom(...valid), fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([of, at, byte]) => {
        const copy = Buffer.from(of);
        copy[at % copy.length] = byte;
        return copy.subarray(0, at % 7 === 0 ? at % copy.length : copy.length);
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 64 })), (bytes) => {
        try {
          decodeUpdate(bytes);
        } catch (thrown) {
          if (!(thrown instanceof RangeError) && !/invalid|illegal|max depth|wire type|tag/i.test(String(thrown)))
            throw thrown;
        }
      }),
      { numRuns: 2000 },
    );
    t.throws(() => decodeUpdate(Buffer.from([0x12, 0x7f])), RangeError);
    const field = (number: number, type: number, ...bytes: number[]) => [(number << 3) | type, ...bytes];
    const many = Array.from({ length: 33 }, () => field(1, 2, 1, 0x62)).flat();
    const twice = [...field(5, 2, 0), ...field(5, 2, 0)];
    for (const bytes of [many, twice, field(9, 3, ...field(9, 4)), field(1, 2, 129, 1, ...Array(129).fill(0x62))])
      t.throws(() => decodeUpdate(Buffer.from(bytes)), RangeError, 'what could hold a turn of the event loop');
  });

  t.test('a long block is decoded over several turns of the event loop, and what follows it waits', async (t) => {
    const link = { slot: 7, blockhash: 'h7', parentSlot: 6, parentBlockhash: 'h6' };
    const owner = { lamports: 1n, owner: SYSTEM_PROGRAM, executable: false, rentEpoch: 0n, data: new Uint8Array(1) };
    const writes = Array.from({ length: 2500 }, (_, i) => ({
      address: addressOfNumber(i),
      account: i % 2 === 0 ? owner : undefined,
      writeVersion: i,
    }));
    const bytes = encodeBlockUpdate(['b1'], { ...link, transactionCount: 0, writes }, writes);
    const received: FeedUpdate[] = [];
    const broken: unknown[] = [];
    const receive = (of: Uint8Array) =>
      receiveUpdate(
        of,
        (update) => received.push(update),
        (cause) => broken.push(cause),
      );
    t.equal(receive(encodeBlockUpdate(['b1'], { ...link, transactionCount: 0, writes: [] }, [])), undefined);
    t.equal(received.length, 1, 'a short one is decoded in the same call');
    const [whole, cut] = [receive(bytes), receive(bytes.subarray(0, bytes.length - 1))];
    t.equal(received.length, 1);
    await Promise.all([whole, cut]);
    t.same(received.slice(1), [decodeUpdate(bytes)]);
    t.equal(broken.length, 1);

    const server = createHttp2Server();
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ 'content-type': 'application/grpc' });
      for (const body of [bytes, encodeSlotUpdate([], 7, 6, STATUS.finalized)]) {
        const head = Buffer.alloc(5); // not compressed, and the length
        head.writeUInt32BE(body.length, 1);
        stream.write(Buffer.concat([head, body]));
      }
    });
    t.teardown(() => server.close());
    const client = await createFeedClient({
      url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
      token: undefined,
    });
    t.teardown(() => client.close());
    const kinds: string[] = [];
    await new Promise<void>((resolve) => {
      const onUpdate = ({ kind }: FeedUpdate): void => {
        if (kinds.push(kind) === 2) resolve();
      };
      client.subscribe({ onMessage: (of) => receiveUpdate(of, onUpdate, () => t.fail()), onEnd: () => t.fail() });
    });
    t.same(kinds, ['block', 'slot']);
  });
});

t.test('encode-request', async (t) => {
  const [one, two] = [deriveKeypair('one').address, deriveKeypair('two').address];

  t.test('a filter with accounts in blocks', async (t) => {
    const { fromSlot, commitment, blocks, slots, accounts, blocksMeta } = decodeRequest(
      encodeFilter({ mode: 'blocks', version: 42, addresses: [one, two], fromSlot: 2 ** 33 + 1 }),
    );
    t.same([fromSlot, commitment], [2 ** 33 + 1, 1]);
    t.same([...blocks], [['b42', { accounts: new Set([one, two]), includesAccounts: true }]]);
    t.same([...slots], [['s42', { byCommitment: false, interslot: false }]]);
    t.same([accounts.size, blocksMeta.length], [0, 0]);
  });

  t.test('a filter with accounts before the block meta', async (t) => {
    const { fromSlot, blocks, accounts, blocksMeta } = decodeRequest(
      encodeFilter({ mode: 'accounts', version: 7, addresses: [one] }),
    );
    t.same([fromSlot, blocks.size, blocksMeta], [undefined, 0, ['m7']]);
    t.same([...accounts], [['a7', new Set([one])]]);
  });

  t.test('the answer to a ping changes no filter', async (t) => {
    t.match(decodeRequest(encodePing()), { pingId: 1, blocks: new Map(), accounts: new Map() });
  });
});

t.test('feed-server', async (t) => {
  const problemOf = (text: string): string | undefined => {
    const version = parseFeedServer(text);
    return version === undefined ? 'no version' : versionProblem(version);
  };
  const yellowstone = (version: string): string =>
    JSON.stringify({ version: { package: 'yellowstone-grpc-geyser', version } });
  const recorded = readRecordedFeed().find(({ unary }) => unary === 'GetVersion')?.response?.version ?? '';

  t.test('versions that lose late updates are refused', async (t) => {
    t.equal(problemOf(recorded), undefined);
    for (const good of ['14.2.2', '14.3.0', '15.0.0', '16.0.0-rc10+solana.4.3.0'])
      t.equal(problemOf(yellowstone(good)), undefined, good);
    for (const old of ['14.2.1', '14.1.9', '13.9.9']) t.match(problemOf(yellowstone(old)), /loses late updates/, old);
    t.match(problemOf(yellowstone('latest')), /"latest" is unknown/);
  });

  t.test('a server that is silent is not said to follow another cluster', async (t) => {
    const silent = { versionProblem: undefined, isKnownToNode: false, linkedBlocks: 0, hasClock: false, written: [] };
    t.equal(FEED_RULES.admissionProblem(silent), 'it sends no blocks');
    t.match(FEED_RULES.admissionProblem({ ...silent, linkedBlocks: 3 }), /^its blocks are unknown to the node/);
  });

  t.test('a server that names no version', async (t) => {
    for (const text of ['', 'v1', '{}', '{"version":"15.1.2"}', 'null']) t.equal(problemOf(text), 'no version', text);
  });
});

/** A subscription that a test reads message by message. */
function openCall(
  subscribe: (listener: { onMessage(bytes: Uint8Array): undefined; onEnd(failure: FeedFailure): void }) => FeedCall,
) {
  const updates: FeedUpdate[] = [];
  let onChange = (): void => {};
  let failure: FeedFailure | undefined;
  const call = subscribe({
    onMessage(bytes) {
      updates.push(decodeUpdate(bytes));
      onChange();
      return undefined;
    },
    onEnd(ended) {
      failure = ended;
      onChange();
    },
  });
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone())
      await new Promise<void>((resolve) => {
        onChange = resolve;
      });
  };
  return {
    call,
    updates,
    /** Resolves when the server has read all requests, in whose order it answers; or when the stream has ended. */
    async inForce(): Promise<void> {
      call.send(encodePing());
      const pongs = updates.filter(({ kind }) => kind === 'other').length;
      await until(() => failure !== undefined || updates.filter(({ kind }) => kind === 'other').length > pongs);
    },
    blocks: () => updates.filter((update) => update.kind === 'block'),
    /** Resolves when the newest block of this slot has come whole. */
    confirmed: (slot: number) =>
      until(() =>
        updates.some((update) => update.kind === 'slot' && update.status === 'confirmed' && update.slot >= slot),
      ),
    ended: async (): Promise<FeedFailure> => {
      await until(() => failure !== undefined);
      return failure ?? { code: -1, reason: '' };
    },
  };
}

/** Starts a cluster without traffic whose slots a test produces, and a client of its feed. */
async function startFeed(t: Test, name: string) {
  const { chain } = await createTestChain(name);
  const faults = new GeyserFaults();
  const clock = new ManualClock();
  const faucet = createFaucet(chain);
  chain.produceBlock();
  const server = await startGeyserServer(chain, clock, faults, 0);
  const client = await createFeedClient({ url: server.url, token: undefined });
  t.teardown(async () => {
    client.close();
    await server.close();
  });
  const wallet = deriveKeypair(`${name}-wallet`).address;
  const produce = (slots: number): void => {
    for (let i = 0; i < slots; i++) {
      faucet.airdrop(wallet, 1_000_000_000n);
      chain.produceBlock();
    }
  };
  return { chain, faults, clock, faucet, server, client, wallet, produce };
}

t.test('embedded-feed', async (t) => {
  const { chain, faults, clock, server, client, wallet, produce } = await startFeed(t, 'embedded-feed');
  const subscribe = async (mode: 'blocks' | 'accounts', version = 1, fromSlot?: number) => {
    const stream = openCall((listener) => client.subscribe(listener));
    stream.call.send(encodeFilter({ mode, version, addresses: [CLOCK_SYSVAR, wallet], fromSlot }));
    await stream.inForce();
    return stream;
  };
  const confirmedAfter = (slots: number): number => {
    produce(slots);
    return chain.slot('confirmed');
  };
  const ordersOf = (updates: readonly FeedUpdate[], status: string): string[] => {
    const slots = new Set(
      updates.flatMap((update) => (update.kind === 'slot' && update.status === status ? [update.slot] : [])),
    );
    return [...slots].map((slot) =>
      updates
        .filter(
          (update) => 'slot' in update && update.slot === slot && (update.kind !== 'slot' || update.status === status),
        )
        .map(nameOf)
        .join(),
    );
  };

  t.test('the order of Yellowstone, with accounts in blocks and apart', async (t) => {
    produce(4);
    for (const [mode, order] of [
      ['blocks', 'block,slot confirmed'],
      ['accounts', 'account,account,block-meta,slot confirmed'],
    ] as const) {
      const stream = await subscribe(mode);
      await stream.confirmed(confirmedAfter(6));
      t.same([...new Set(ordersOf(stream.updates, 'confirmed'))], [order]);
      for (const { writes } of stream.blocks())
        t.same(new Set(writes.map(({ address }) => address)), new Set([CLOCK_SYSVAR, wallet]));
      for (const [i, block] of stream.blocks().slice(1).entries())
        t.match(stream.blocks()[i], { slot: block.parentSlot, blockhash: block.parentBlockhash });
      stream.call.cancel();
    }
  });

  t.test('the values of a block are those of the chain', async (t) => {
    const stream = await subscribe('blocks');
    await stream.confirmed(confirmedAfter(3));
    const block = stream.blocks().at(-1);
    const write = block?.writes.find(({ address }) => address === wallet);
    t.equal(write?.value?.lamports, chain.accountAt(wallet, block?.slot ?? 0)?.lamports);
    t.match(write?.value, { owner: SYSTEM_PROGRAM, executable: false, rentEpoch: 2n ** 64n - 1n });
    stream.call.cancel();
  });

  t.test('Richat sends the status of a slot first', async (t) => {
    faults.order = 'richat';
    const stream = await subscribe('blocks');
    const slot = confirmedAfter(4);
    await stream.confirmed(slot);
    await stream.inForce();
    t.match(ordersOf(stream.updates, 'confirmed')[0], /^slot confirmed,block/);
    stream.call.cancel();
    faults.order = 'yellowstone';
  });

  t.test('a replay, and the errors where there is none, as recorded', async (t) => {
    const tip = chain.slot('confirmed');
    const replay = await subscribe('blocks', 3, tip - 2);
    await replay.confirmed(tip);
    t.same(pluck(replay.blocks(), 'slot'), [tip - 2, tip - 1, tip]);
    replay.call.cancel();

    const recorded = readRecordedFeed().flatMap(({ stream, error }) =>
      error === undefined ? [] : [[stream, error] as const],
    );
    const recordedOf = (name: string) => recorded.find(([stream]) => stream === name)?.[1];
    const tooLate = await (await subscribe('blocks', 1, tip + 1)).ended();
    t.match(tooLate, { code: recordedOf('from-tip-plus-1')?.code });
    t.match(tooLate.reason, recordedOf('from-tip-plus-1')?.details);
    const tooEarly = await (await subscribe('blocks', 1, 5)).ended();
    t.match(tooEarly, { code: recordedOf('from-first')?.code });
    const wording = (text = ''): string => text.replace(/\d+/g, 'N');
    t.ok(wording(tooEarly.reason).includes(wording(recordedOf('from-first')?.details)), tooEarly.reason);

    faults.replaysTwice = true;
    const twice = await subscribe('blocks', 3, tip);
    t.same(pluck(twice.blocks(), 'slot'), [tip, tip]);
    twice.call.cancel();
    faults.replaysTwice = false;
  });

  t.test('a block that cannot be sealed is missing without a word', async (t) => {
    const stream = await subscribe('blocks');
    faults.omittedBlocks = 1;
    await stream.confirmed(confirmedAfter(5));
    const blocks = stream.blocks();
    const gaps = blocks.slice(1).filter(({ parentSlot }, i) => parentSlot !== blocks[i]?.slot);
    t.equal(gaps.length, 1);
    stream.call.cancel();
  });

  t.test('a filter is in force from the first message with its name', async (t) => {
    faults.filterDelayMs = 50;
    const stream = await subscribe('blocks', 1);
    stream.call.send(encodeFilter({ mode: 'blocks', version: 2, addresses: [CLOCK_SYSVAR] }));
    await stream.inForce();
    await stream.confirmed(confirmedAfter(2));
    t.same(new Set(stream.blocks().flatMap(({ filters }) => filters)), new Set(['b1']));
    clock.advance(50);
    await stream.confirmed(confirmedAfter(2));
    t.same(stream.blocks().at(-1)?.filters, ['b2']);
    stream.call.cancel();
    faults.filterDelayMs = 0;
  });

  t.test('lost, forged and rejected accounts, and blocks of another cluster', async (t) => {
    const last = async (changes: Partial<typeof faults>) => {
      Object.assign(faults, changes);
      const stream = await subscribe('blocks');
      await stream.confirmed(confirmedAfter(3));
      stream.call.cancel();
      Object.assign(faults, new GeyserFaults());
      return stream.blocks().at(-1);
    };
    const addresses = async (changes: Partial<typeof faults>) =>
      (await last(changes))?.writes.map(({ address }) => address);
    t.same(await addresses({ lostAddress: wallet }), [CLOCK_SYSVAR]);
    t.same(await addresses({ rejectedOwner: SYSTEM_PROGRAM }), [CLOCK_SYSVAR]);
    const forged = await last({ isForging: true });
    const ofWallet = forged?.writes.find(({ address }) => address === wallet);
    t.equal(ofWallet?.value?.lamports, (chain.accountAt(wallet, forged?.slot ?? 0)?.lamports ?? 0n) + 1n);
    const foreign = await last({ hasOtherGenesis: true });
    t.not(foreign?.blockhash, chain.block(foreign?.slot ?? 0)?.hash);
  });

  t.test('two banks for a slot show in interslot updates only', async (t) => {
    faults.hasTwoBanks = true;
    const stream = await subscribe('blocks');
    await stream.confirmed(confirmedAfter(3));
    t.notOk(stream.updates.some((update) => update.kind === 'slot' && update.status === 'dead'));
    t.equal(stream.blocks().length, new Set(stream.blocks().map(({ slot }) => slot)).size);
    stream.call.cancel();
    faults.hasTwoBanks = false;
  });

  t.test('a restart, a lagging reader and a refused filter end the stream', async (t) => {
    const restarted = await subscribe('blocks');
    server.feed.restart(true);
    t.match(await restarted.ended(), { code: 14 });
    const lagged = await subscribe('blocks');
    server.feed.lag();
    t.match(await lagged.ended(), { code: 13, reason: /lagged/ });
    faults.refusesAccountsInBlocks = true;
    t.match(await (await subscribe('blocks')).ended(), { code: 3 });
    faults.refusesAccountsInBlocks = false;
    const tip = chain.slot('confirmed');
    server.feed.restart(false);
    t.match(await (await subscribe('blocks', 1, tip)).ended(), { code: 13 });
  });

  t.test('a call without the token is refused', async (t) => {
    faults.token = 'secret';
    t.match(await (await openRefused()).ended(), { code: 16, reason: 'refuses the token' });
    await t.rejects(client.version(), { name: 'FeedError', message: 'refuses the token' });
    const allowed = await createFeedClient({ url: server.url, token: 'secret' });
    t.match(await allowed.version(), /yellowstone/);
    allowed.close();
    faults.token = undefined;

    async function openRefused() {
      const stream = openCall((listener) => client.subscribe(listener));
      stream.call.send(encodeFilter({ mode: 'blocks', version: 1, addresses: [CLOCK_SYSVAR] }));
      return stream;
    }
  });
});

t.test('a block beyond the limit ends the stream when it begins', async (t) => {
  const server = createHttp2Server();
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ 'content-type': 'application/grpc' });
    const head = Buffer.alloc(5); // not compressed, and the length
    head.writeUInt32BE(65 << 20, 1);
    stream.write(head);
  });
  t.teardown(() => server.close());
  const client = await createFeedClient({
    url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    token: undefined,
  });
  t.teardown(() => client.close());
  t.match(await openCall((listener) => client.subscribe(listener)).ended(), { code: 8 });
});

t.test('the certificate of a server without a name is compared with its address', async (t) => {
  const roots = join(t.testdir(), 'roots.pem');
  writeFileSync(roots, `${CERTIFICATE_OF_LOOPBACK.cert}\n${CERTIFICATE_OF_OTHERS.cert}\n`);
  const client = new URL('../../../src/gateway/upstream/geyser/geyser-client.js', import.meta.url).href;
  const program = `
    import { createFeedClient } from '${client}';
    for (const url of process.argv.slice(1)) {
      const client = await createFeedClient({ url });
      console.log(await client.version().catch(({ message }) => message));
      client.close();
    }`;
  const urls: string[] = [];
  for (const certificate of [CERTIFICATE_OF_LOOPBACK, CERTIFICATE_OF_OTHERS]) {
    const server = createSecureServer(certificate);
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from('\0\0\0\0\x04\x0a\x021.')); // not compressed, four bytes: field 1 is a text of two
    });
    t.teardown(() => server.close());
    urls.push(`https://127.0.0.1:${await listenOnLoopback(server)}`);
  }
  const env = { ...process.env, GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: roots };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, ...urls], {
    env,
  });
  const [accepted, refused] = stdout.split('\n');
  t.equal(accepted, '1.');
  t.match(refused, /^fails the TLS handshake \(".*IP: 127\.0\.0\.1 is not in the cer/);
});

t.test('servers that are no feed are named in one line', async (t) => {
  const http = createHttpServer((_, response) => response.end('hello'));
  t.teardown(() => http.close());
  const pages = createHttp2Server();
  pages.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ 'content-type': 'text/html' });
    stream.end('<html>hello');
  });
  t.teardown(() => pages.close());
  const busy = createHttp2Server();
  busy.on('stream', ({ session }: ServerHttp2Stream) =>
    session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from('too_many_pings')),
  );
  t.teardown(() => busy.close());
  const written = t.capture(console, 'error');
  const closing = createTcpServer((socket) => socket.destroy());
  t.teardown(() => closing.close());
  const urlOf = async (server: TcpServer): Promise<string> => `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const url = await urlOf(http);
  for (const [address, reason] of [
    [url, /does not speak HTTP\/2|can't be reached/],
    [url.replace('http:', 'https:'), /^fails the TLS handshake \("wrong version number"\)$/],
    [await urlOf(pages), /^answers GetVersion with something else$/],
    [await urlOf(busy), /^ends with status 8 \("Bandwidth exhausted/],
    [await urlOf(closing), /^closes connections before HTTP\/2 begins: it may speak TLS$|^can't be reached/],
    ['http://127.0.0.1:1', /^can't be reached \("connect ECONNREFUSED 127.0.0.1:1"\)$/],
  ] as const) {
    const failures: string[] = [];
    for (let i = 0; i < 2; i++) {
      const client = await createFeedClient({ url: address, token: undefined });
      failures.push(await client.version().catch((thrown: Error) => thrown.message));
      client.close();
    }
    const [failure = '', again] = failures;
    t.match(failure, reason, failure);
    t.notMatch(failure, /\n/);
    t.equal(again, failure, 'the same words each time, so that they are logged once');
  }
  t.notOk(
    written().find(({ args }) => `${args[0]}`.startsWith('E ')),
    'gRPC logs nothing of its own',
  );
});

t.test('a client that is closed ends its subscriptions, and leaves no connection', async (t) => {
  const server = createHttp2Server();
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  let streams = 0;
  server.on('stream', (stream) => {
    streams++;
    stream.on('error', () => {}).respond({ 'content-type': 'application/grpc' }); // the client cancels it
  });
  t.teardown(() => server.close());
  const client = await createFeedClient({
    url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    token: undefined,
  });
  const nothing: FeedListener = { onMessage: () => undefined, onEnd: () => {} };
  for (const isLong of [true, true, false]) client.subscribe(nothing, isLong);
  await waitFor(() => streams === 3, 'the streams');
  t.equal(connections.size, 3);
  client.close();
  await waitFor(() => connections.size === 0, 'the end of all connections');
});

t.test(
  'of a flood few messages are read in a turn, and pings that the server accepts no answers to pile up none',
  async (t) => {
    const PINGS = 5000;
    const server = createHttp2Server({ settings: { initialWindowSize: 0 } });
    server.on('stream', (stream) => {
      stream.on('error', () => {}).respond({ 'content-type': 'application/grpc' });
      stream.write(Buffer.alloc(PINGS * 7, Buffer.from([0, 0, 0, 0, 2, 0x32, 0]))); // an update with an empty field 6
    });
    t.teardown(() => server.close());
    const client = await createFeedClient({
      url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
      token: undefined,
    });
    t.teardown(() => client.close());
    let [pings, pingsOfTurn, most, answers] = [0, 0, 0, 0];
    const onMessage = (bytes: Uint8Array): undefined => {
      if (decodeUpdate(bytes).kind === 'ping') pings++;
      if (++pingsOfTurn === 1)
        setImmediate(() => {
          most = Math.max(most, pingsOfTurn);
          pingsOfTurn = 0;
        });
      answerPing(counted);
    };
    const call = client.subscribe({ onMessage, onEnd: () => {} });
    const counted: FeedCall = {
      ...call,
      get isSending() {
        return call.isSending;
      },
      send(request) {
        answers++;
        call.send(request);
      },
    };
    call.send(new Uint8Array(1 << 20)); // more than the server accepts unread
    await waitFor(() => pings === PINGS, 'the pings');
    t.ok(most <= 256, `${most} in one turn`);
    t.equal(answers, 0);
  },
);

t.test('frames that are no message end the stream', async (t) => {
  const frame = (type: number, payload: Uint8Array, stream = 1): Buffer =>
    Buffer.concat([Buffer.from([0, 0, payload.length, type, type === 0 ? 0 : 4, 0, 0, 0, stream]), payload]);
  const MESSAGE_OF_48_MB = frame(0, Buffer.from([0, 3, 0, 0, 0]));
  const PUSH_PROMISE = frame(5, Buffer.from([0, 0, 0, 2, 0x82, 0x86, 0x84]));
  const REQUEST = Buffer.from([1, 4, 0, 0, 0, 1]); // headers of stream 1
  const EARLY_HINTS = frame(1, Buffer.from('\0\x07:status\x03103'));
  for (const [name, first, flood] of [
    ['a message in frames of one byte', MESSAGE_OF_48_MB, frame(0, Buffer.alloc(1))],
    ['informational headers', Buffer.alloc(0), EARLY_HINTS],
    ['streams of the server', PUSH_PROMISE, frame(0, Buffer.alloc(0))],
  ] as const) {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {}).write(frame(4, Buffer.alloc(0), 0));
      socket.on('data', (bytes) => {
        if (!bytes.includes(REQUEST)) return;
        socket.write(Buffer.concat([...(name.startsWith('info') ? [] : [frame(1, Buffer.from([0x88]))]), first]));
        const write = (): unknown => socket.write(Buffer.alloc(flood.length * 4096, flood)) && setImmediate(write);
        socket.on('drain', write).on('close', () => socket.removeAllListeners('drain'));
        write();
      });
    });
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    const client = await createFeedClient({ url, token: undefined });
    t.match(await openCall((listener) => client.subscribe(listener)).ended(), { reason: /^sends frames/ }, name);
    client.close();
  }
});

t.test('a server that ends its connection while HTTP/2 writes ends nothing else', async (t) => {
  const insecure = credentials.createInsecure();
  paceConnections(insecure);
  const plain = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done(), final() {} }); // its own end stays under way
  const { socket } = await insecure._createSecureConnector({ scheme: 'dns', path: 'a' }, {}).connect(plain as Socket);
  const session = connect('http://a', { createConnection: () => socket });
  const closed = new Promise((resolve) => session.on('close', resolve));
  plain.push(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])); // its settings
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  plain.push(null);
  await new Promise((resolve) => plain.once('end', resolve));
  session.ping(() => {});
  await closed;
  t.ok(plain.destroyed);
});

/** A ring, and a source of accounts that have data of 1,000 bytes. */
function openRing(bytes: number, slots = 100) {
  const ring = new VersionRing({ bytes, slots }, bytesOfAccount);
  const evicted: string[] = [];
  const source = { slot: 0, isDenied: false, onEvicted: (address: string) => evicted.push(address) };
  const accountWith = (lamports: bigint): AccountValue => ({
    lamports,
    owner: SYSTEM_PROGRAM,
    executable: false,
    rentEpoch: 0n,
    data: new Uint8Array(1000),
  });
  const start = (address: string, slot: number, rank: number): AccountHistory =>
    ring.start({ address, priority: rank }, source, {
      slot,
      value: accountWith(BigInt(slot)),
    });
  const write = (history: AccountHistory, slot: number): void => {
    source.slot = Math.max(source.slot, slot);
    ring.add(history, { slot, value: accountWith(BigInt(slot)) });
  };
  const lamportsAt = (address: string, slot: number): bigint | undefined => {
    const value = ring.get(address)?.at(slot)?.value;
    return typeof value === 'object' && value !== null && 'lamports' in value ? value.lamports : undefined;
  };
  const lamportsOf = (address: string, slots: readonly number[]) => slots.map((slot) => lamportsAt(address, slot));
  return { ring, evicted, source, start, write, lamportsAt, lamportsOf };
}

t.test('version-ring', async (t) => {
  t.test('a version holds until the next one, and no further than its source covers', async (t) => {
    const { start, write, lamportsAt, source, ring, lamportsOf } = openRing(1 << 20);
    const history = start('a', 10, 0);
    write(history, 15);
    source.slot = 20;
    t.same(lamportsOf('a', [9, 10, 14, 15, 20, 21]), [undefined, 10n, 10n, 15n, 15n, undefined]);
    history.end();
    source.slot = 30;
    t.same([lamportsAt('a', 20), lamportsAt('a', 21)], [15n, undefined], 'what has ended covers no later slot');
    start('a', 25, 0);
    t.same(lamportsOf('a', [20, 24, 25, 30]), [15n, undefined, 25n, 25n]);
    t.same([ring.get('a')?.keptFrom(0), ring.get('a')?.keptFrom(22)], [10, 25]);
    source.isDenied = true;
    t.equal(lamportsAt('a', 30), undefined, 'what is denied is not answered');
  });

  t.test('a version that ended before the next one leaves a gap', async (t) => {
    const { start, ring, source, lamportsOf } = openRing(1 << 20);
    const history = start('a', 10, 0);
    source.slot = 40;
    ring.add(history, { slot: 20, value: null }, 17);
    t.same(lamportsOf('a', [17, 18, 19]), [10n, undefined, undefined]);
    t.equal(ring.get('a')?.at(20)?.value, null);
  });

  t.test('old versions are dropped, the newest final one never', async (t) => {
    const { start, write, ring, lamportsAt } = openRing(40_000, 10);
    const history = start('a', 1, 0);
    for (let slot = 2; slot <= 60; slot++) {
      write(history, slot);
      ring.advance(slot, slot - 30);
      t.not(lamportsAt('a', Math.max(1, slot - 30)), undefined, `what is final is known at ${slot}`);
    }
    t.equal(history.versions[0]?.slot, 30, 'others are not final');
    ring.advance(60, 60);
    t.equal(history.versions[0]?.slot, 50, 'others are older than what is kept');
  });

  t.test('the oldest final versions are dropped that exceed the bytes', async (t) => {
    const { start, write, ring, lamportsOf } = openRing(5000, 100);
    const history = start('a', 1, 0);
    for (let slot = 2; slot <= 20; slot++) {
      write(history, slot);
      ring.advance(slot, slot);
      t.ok(ring.bytes <= 5000);
    }
    t.same(lamportsOf('a', [16, 17, 20]), [undefined, 17n, 20n]);
  });

  t.test('where the newest versions alone are too many, the least read leave, and no colder one comes', async (t) => {
    const { start, ring, evicted } = openRing(14_000);
    for (let i = 1; i <= 20; i++) start(`account-${i}`, 1, i);
    await new Promise(setImmediate);
    t.equal(ring.size, 10);
    t.same(
      evicted,
      Array.from({ length: 10 }, (_, i) => `account-${i + 1}`),
    );
    t.ok(ring.bytes <= 14_000);
    t.same(
      [5, 10, 11].map((rank) => ring.accepts(rank)),
      [false, false, true],
    );
  });

  t.test('where accounts with a subscription had to leave, others may come when subscriptions end', async (t) => {
    const { ring, source } = openRing(7000);
    const members = Array.from({ length: 6 }, (_, i) => ({ address: `${i}`, priority: Number.POSITIVE_INFINITY }));
    for (const member of members) ring.start(member, source, { slot: 1, value: ' '.repeat(1000) });
    t.same([ring.size, ring.accepts(Number.POSITIVE_INFINITY)], [5, false]);
    for (const member of members) member.priority = 3;
    t.same([ring.accepts(Number.POSITIVE_INFINITY), ring.accepts(4), ring.accepts(3)], [true, true, false]);
  });

  t.test('bytes are bounded, and no more are counted than there are', async () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(12), fc.nat(3)), { maxLength: 300 }), (steps) => {
        const { ring, start, write, source } = openRing(20_000, 8);
        const histories = new Map<number, AccountHistory>();
        for (const [i, [account, action]] of steps.entries()) {
          const slot = i + 1;
          source.slot = slot;
          const history = histories.get(account);
          if (history === undefined || action === 0) histories.set(account, start(`${account}`, slot, account));
          else if (action === 1) history.end();
          else write(history, slot);
          if (i % 5 === 0) ring.advance(slot, slot);
          if (i % 5 === 0 && ring.bytes > 20_000) throw new Error(`${ring.bytes} bytes`);
        }
        let counted = 0;
        for (let account = 0; account <= 12; account++)
          for (let each = ring.get(`${account}`); each !== undefined; each = each.previous)
            counted += 300 + each.versions.length * 1100;
        if (counted !== ring.bytes) throw new Error(`${counted} are ${ring.bytes}`);
      }),
    );
  });

  t.test('once a node was found to lie, only what a source covers now is known', async (t) => {
    const { ring, start, write, source, lamportsAt, lamportsOf } = openRing(1 << 20);
    start('ended', 1, 0).end();
    start('resumed', 1, 0).end();
    source.slot = 9;
    write(start('resumed', 5, 0), 7);
    ring.dropUnagreed();
    t.same([ring.get('ended'), lamportsAt('resumed', 1)], [undefined, undefined]);
    t.same(lamportsOf('resumed', [5, 7]), [5n, 7n]);
    t.equal(ring.bytes, 300 + 2 * 1100);
    source.isDenied = true;
    ring.dropUnagreed();
    t.same([ring.size, ring.bytes], [0, 0]);
  });

  t.test('accounts that nobody covers any more are forgotten', async (t) => {
    const { ring, start, source } = openRing(1 << 20, 64);
    start('a', 1, 0).end();
    start('b', 1, 0);
    for (let slot = 2; slot < 300; slot++) {
      source.slot = slot;
      ring.advance(slot, slot);
    }
    t.same([ring.get('a'), ring.size], [undefined, 1]);
    source.slot = -1;
    const found = start('of a source that covers nothing yet', 300, 0);
    for (let i = 0; i < 32; i++) ring.advance(301, 301);
    t.equal(ring.get('of a source that covers nothing yet'), found);
  });
});

interface FeedSessionsSetting {
  readonly clock?: ManualClock;
  readonly agreement?: OperatorAgreement;
  readonly random?: () => number;
  /** The newest slot at a time. Default: not known. */
  readonly tipAt?: (ms: number) => number | undefined;
  /** Returns true for a slot that is no jump. Default: always. */
  readonly acceptsSlot?: FeedAccountSessionOptions['link']['acceptsSlot'];
  /** What the server does with a subscription of a time. Default: it accepts it. */
  readonly onSubscribe?: (listener: FeedListener, ms: number) => void;
}

const RULES: LiveRules = { initialSync: doubleRead, halfLifeSlots: 38, observer: undefined };
const stateOf = (address: string, commitment: Commitment = 'confirmed'): AccountState =>
  new AccountState(address, commitment, RULES, unread());

const unparsedJson = (lamports: number): string =>
  `{"lamports":${lamports},"owner":"${SYSTEM_PROGRAM}","executable":false,"rentEpoch":0,"data":["","base64"],"space":0}`;

/** Sessions over a feed that sends nothing, on a clock of the test. */
function openFeedSessions({
  clock = new ManualClock(),
  agreement,
  random = Math.random,
  tipAt = () => undefined,
  acceptsSlot = () => true,
  onSubscribe = () => {},
}: FeedSessionsSetting = {}) {
  const ring = new VersionRing({ bytes: 1 << 30, slots: 100 }, bytesOfAccount);
  const requests: Uint8Array[] = [];
  const call = { isSending: false, send: (request: Uint8Array) => requests.push(request), cancel: () => {} };
  let deliver = (_bytes: Uint8Array): Promise<void> | undefined => undefined;
  const [falsehoods, givenUp, ineligible]: [string[], string[], string[]] = [[], [], []];
  const blocks = new RecentBlocks(100);
  const rpc = { call: (..._: Parameters<RpcCaller['call']>): Promise<RpcResponse> => never() };
  const client: FeedClient = {
    version: async () => '',
    firstReplayed: async () => undefined,
    subscribe: (listener) => {
      deliver = listener.onMessage;
      const ms = clock.monotonic();
      queueMicrotask(() => onSubscribe(listener, ms));
      return call;
    },
    close: () => {},
  };
  const never = (): never => {
    throw new Error('this is not to happen');
  };
  const open = (t?: Test): FeedAccountSession => {
    const session = new FeedAccountSession({
      clock,
      ring,
      blocks,
      nodeId: 'node-1',
      link: {
        client,
        mode: 'blocks',
        acceptsSlot,
        isOneEpoch: () => true,
        random,
        settings: UPSTREAM_SETTINGS,
        maxBytes: 1 << 20,
      },
      rpc: { call: (...args) => rpc.call(...args) },
      agreement,
      budget: new RequestBudgets(clock, null).of({ nodeId: 'node-1', isPooled: false }),
      tip: () => tipAt(clock.monotonic()),
      slotTimeMs: () => 400,
      maxAccountBytes: 1000,
      isRenewing: () => false,
      onLeasesAdvanced: () => {},
      onWatermarkLost: () => {},
      onRoom: () => {},
      onLeaseViolation: () => {},
      onDenied: () => {},
      onLost: () => {},
      onChange: () => {},
      onIneligible: ({ address }) => ineligible.push(address),
      reassign: never,
      onFalse: (reason) => falsehoods.push(reason),
      onGivenUp: (reason) => givenUp.push(reason),
    });
    t?.teardown(() => session.close());
    return session;
  };
  /** Has nodes answer that each account is `json`. */
  const answer = (slot: number, json: string, agreement?: RpcResponse['agreement']): void => {
    rpc.call = async (_, [named] = []) => {
      const value = Buffer.from(`[${(named as string[]).map(() => json)}]`);
      return { slot, result: value, value, ...(agreement && { agreement }) };
    };
  };
  const follow = (session: FeedAccountSession, states: readonly AccountState[]): void => {
    clock.advance(1);
    for (const state of states) session.add(state);
    clock.advance(500);
  };
  /** Sends a block, and waits for a turn of the event loop. */
  const send = (...block: Parameters<typeof blockUpdate>): Promise<void> => {
    deliver(blockUpdate(...block));
    return new Promise(setImmediate);
  };
  const kept = { clock, requests, open, rpc, blocks, falsehoods, givenUp, ineligible };
  return { ...kept, answer, follow, send, deliver: (bytes: Uint8Array) => deliver(bytes) };
}

t.test('streams of a feed', async (t) => {
  const { clock, requests, open } = openFeedSessions();
  const states = Array.from({ length: 50_000 }, (_, i) => stateOf(addressOfNumber(i)));
  const session = open(t);
  const namedIn = (request: Uint8Array | undefined): number =>
    request === undefined
      ? 0
      : Math.max(...[...decodeRequest(request).blocks.values()].map(({ accounts }) => accounts.size));

  t.test('accounts that are added together are named by one change of the filter', async (t) => {
    clock.advance(1);
    t.equal(namedIn(requests.at(-1)), 1, 'the Clock');
    for (const state of states.slice(0, 1000)) session.add(state);
    const before = requests.length;
    clock.advance(500);
    t.same([requests.length - before, namedIn(requests.at(-1))], [1, 1001]);
  });

  t.test('a stream has at most 50,000 accounts, and is sealed until it has 45,000', async (t) => {
    for (const state of states.slice(1000)) session.add(state);
    t.equal(session.connection.capacity, 0, 'so 100,000 accounts need two streams');
    for (const state of states.slice(0, 4999)) session.remove(state);
    t.equal(session.connection.capacity, 0);
    for (const state of states.slice(4999, 5001)) session.remove(state);
    t.equal(session.connection.capacity, 5001);
  });

  t.test('G8: a stream keeps no account at processed', async (t) => {
    const at = (commitment: Commitment) => stateOf(addressOfNumber(0), commitment);
    const accepted = (['processed', 'confirmed', 'finalized'] as const).map((each) => session.accepts(at(each)));
    t.same(accepted, [false, true, true]);
  });

  t.test('the more accounts a filter names, the less often it is sent', async (t) => {
    clock.advance(500);
    const before = requests.length;
    for (let i = 0; i < 10; i++) {
      const [state] = states.slice(i);
      if (state !== undefined) session.add(state);
      clock.advance(500);
    }
    t.equal(requests.length - before, 1, '45,000 accounts each 4.5 s: about half a megabyte a second');
  });
});

t.test('an account that another session has claimed for newer slots waits until the feed is there', async (t) => {
  const { open, answer, follow, send } = openFeedSessions();
  const session = open(t);
  const state = stateOf(addressOfNumber(1));
  const ahead = new Watermark(() => undefined);
  state.attach(ahead);
  state.adopt(10, null, ahead);
  ahead.advance(14, 0);
  answer(10, 'null');
  follow(session, [state]);
  const slots: unknown[] = [];
  for (let slot = 9; slot < 16; slot++) {
    await send(slot);
    slots.push(state.lease?.slot);
  }
  t.same(slots, [...Array.from({ length: 5 }), 14, 15]);
});

t.test('what an account was before it was not covered for a while is not claimed for that while', async (t) => {
  for (const [name, lamports] of [
    ['another value', 222],
    ['the same value', 111],
  ] as const) {
    const { open, answer, follow, send } = openFeedSessions();
    const session = open();
    const granted: unknown[] = [];
    const observer = {
      onGranted: (each: LiveState, lease: WatermarkLease) => granted.push([(each as AccountState).slot, lease.slot]),
      onEnded: () => {},
    };
    const state = new AccountState(addressOfNumber(1), 'confirmed', { ...RULES, observer }, unread());
    const lost = new Watermark(() => undefined);
    state.attach(lost);
    state.onSyncEvent({ name: 'armed' });
    state.onRead(90, unparsedJson(111));
    lost.advance(100, 0);
    lost.markLost();
    follow(session, [state]);
    answer(110, unparsedJson(lamports));
    for (let slot = 109; slot < 112; slot++) {
      await send(slot);
    }
    t.same(
      granted,
      [
        [90, 90],
        [110, 110],
      ],
      name,
    );
    t.same([state.lease?.slot, state.heldUntil, state.previous], [111, -1, undefined], name);
    session.close();
  }
});

t.test('what a node has read before later writes is claimed for no slot, whatever was claimed elsewhere', async (t) => {
  const { open, rpc, follow, send } = openFeedSessions();
  const session = open(t);
  const granted: unknown[] = [];
  const observer = {
    onGranted: (each: LiveState, lease: WatermarkLease) => granted.push([lease.slot, (each as AccountState).json]),
    onEnded: () => {},
  };
  const state = new AccountState(addressOfNumber(1), 'confirmed', { ...RULES, observer }, unread());
  const lost = new Watermark(() => undefined);
  state.attach(lost);
  state.onSyncEvent({ name: 'armed' });
  state.onRead(12, unparsedJson(5));
  lost.markLost();
  follow(session, [state]);
  const value = Buffer.from(`[${unparsedJson(2)}]`);
  let answer = (): void => {};
  rpc.call = () =>
    new Promise((resolve) => {
      answer = () => resolve({ slot: 11, result: value, value });
    });
  const paid = { lamports: 5n, owner: SYSTEM_PROGRAM, executable: false, rentEpoch: 0n, data: new Uint8Array(0) };
  for (let slot = 10; slot < 14; slot++) {
    const write = { address: state.address, account: slot === 12 ? paid : undefined, writeVersion: slot };
    const writes = slot > 11 ? [write] : [];
    await send(slot, { writes });
  }
  answer();
  for (let i = 0; i < 4; i++) await new Promise(setImmediate);
  t.same(granted.slice(1), [[13, null]], 'it is closed');
});

/** Two operators that both must give what is `exact`. */
function twoOperators(): OperatorAgreement {
  const none = (): never => {
    throw new Error('it is not used');
  };
  const disagreements = new Disagreements({ clock: new ManualClock(), onDisagreement: none, onUndecided: none });
  return {
    operators: 2,
    needed: 2,
    disagreements,
    rpc: { call: none },
    witnessOf: none,
    onContradicted: none,
    areOfTwoOperators: none,
    openSessionBeside: none,
  };
}

t.test('over several operators an audit of a feed reads all that exact needs', async (t) => {
  const world = openFeedSessions({ agreement: twoOperators() });
  const { clock, open, blocks, falsehoods, deliver, follow, send } = world;
  const session = open(t);
  const address = addressOfNumber(1);
  const state = stateOf(address);
  /** What nodes answer: a balance, given by a number of operators. */
  const answer = (slot: number, lamports: number, agreed: number): void =>
    world.answer(slot, unparsedJson(lamports), { slot, agreed, read: 2, needed: 2 });
  let filter = 2;
  const block = (slot: number): Promise<void> => send(slot, { filters: [`b${filter}`] });
  answer(10, 5, 1);
  follow(session, [state]);
  for (let slot = 9; slot < 12; slot++) await block(slot);
  t.equal(state.lease?.slot, 11);
  t.equal(state.previous, undefined, 'nothing was claimed before it was known');

  t.test('what they agree on is confirmed at its slot', async (t) => {
    answer(11, 5, 2);
    t.equal(await session.sessionAudit.audit(1), 1);
    t.match(state.lease?.agreement, { slot: 11, agreed: 2 });
  });

  t.test('where they differ, nobody knows which is wrong: the account is read again', async (t) => {
    answer(11, 6, 1);
    t.equal(await session.sessionAudit.audit(1), 0);
    t.same([falsehoods, state.lease], [[], undefined]);
    for (let slot = 12; slot < 15; slot++) await block(slot);
    t.match([state.lease?.slot, state.json], [14, /"lamports":6,/]);
  });

  t.test('an account that is kept at both commitments is read again when one of them leaves', async (t) => {
    const finalized = stateOf(address, 'finalized');
    const finalize = (slot: number) => deliver(encodeSlotUpdate([], slot, slot - 1, STATUS.finalized));
    session.add(finalized);
    finalize(14);
    t.same([session.has(finalized), state.lease?.slot, finalized.lease?.slot], [true, 14, 14]);
    session.remove(state);
    t.same([session.has(finalized), state.lease, finalized.lease], [true, undefined, undefined]);
    clock.advance(500);
    filter++;
    answer(15, 6, 1);
    for (let slot = 15; slot < 18; slot++) await block(slot);
    finalize(17);
    t.same([session.size, finalized.lease?.slot], [1, 17]);
    session.add(state);
    t.equal(state.lease?.slot, 17, 'what is known serves both');
    session.remove(state);
    t.equal(finalized.lease?.slot, 17);
  });

  t.test('what two of them contradict ends the feed', async (t) => {
    answer(17, 7, 2);
    t.equal(await session.sessionAudit.audit(1), 0);
    t.match(falsehoods, [/a read at slot 17 differs/]);
    t.equal(blocks.blockAt(17), undefined, 'which slots it has skipped is forgotten');
  });
});

t.test('an audit refutes what is kept of an account that has become too large without the feed', async (t) => {
  const { open, falsehoods, answer, follow, send } = openFeedSessions();
  const session = open(t);
  const state = stateOf(addressOfNumber(1));
  answer(10, unparsedJson(5));
  follow(session, [state]);
  for (let slot = 9; slot < 12; slot++) {
    await send(slot);
  }
  t.equal(state.lease?.slot, 11);
  answer(11, unparsedJson(5).replace('""', `"${'A'.repeat(1700)}"`));
  t.equal(await session.sessionAudit.audit(1), 0);
  t.match(falsehoods, [/a read at slot 11 differs/]);
});

t.test('a missing block', async (t) => {
  /** A feed that has applied the blocks up to 20, and then has lost its connection. Reads of blocks wait, after some that fail. */
  const openGap = async (failures = 0) => {
    let listener: FeedListener | undefined;
    const { clock, open, rpc, requests, blocks, falsehoods, deliver, follow } = openFeedSessions({
      random: () => 0,
      onSubscribe: (next) => {
        listener = next;
      },
    });
    const [state, session, waiting] = [stateOf(addressOfNumber(1)), open(), [] as (() => void)[]];
    let [reads, failed] = [0, 0];
    rpc.call = (method, [named] = []) => {
      const slot = Number(named);
      if (method !== 'getBlock') reads++;
      else if (failed++ < failures) return Promise.reject(new GatewayError('upstream_unavailable', 'it is busy'));
      const block = { blockhash: `${slot}`, parentSlot: slot - 1, previousBlockhash: `${slot - 1}` };
      const result = method === 'getBlock' ? { ...block, rewards: [], transactions: [] } : [null];
      const value = Buffer.from(JSON.stringify(result));
      if (method !== 'getBlock') return Promise.resolve({ slot: 10, result: value, value });
      return new Promise((resolve) => waiting.push(() => resolve({ slot, result: value, value })));
    };
    const send = async (slot: number, parent = slot - 1, blockhash = `${slot}`): Promise<void> => {
      const filters = [...decodeRequest(requests.at(-1) ?? Buffer.alloc(0)).blocks.keys()];
      deliver(blockUpdate(slot, { filters, blockhash, parentSlot: parent }));
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    };
    const reconnect = async (): Promise<void> => {
      listener?.onEnd({ code: 14, reason: 'is lost' });
      clock.advance(2000);
      await null;
    };
    follow(session, [state]);
    for (let slot = 9; slot <= 20; slot++) await send(slot);
    const answer = async (): Promise<void> => {
      waiting.shift()?.();
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    };
    return { clock, session, state, blocks, falsehoods, waiting, send, reconnect, answer, reads: () => reads };
  };

  t.test('is read over two connections, and the second answer changes nothing', async (t) => {
    const { session, state, waiting, send, reconnect, answer, reads } = await openGap();
    await reconnect();
    await send(24);
    await reconnect();
    await send(24);
    t.equal(waiting.length, 2);
    while (waiting.length > 0) await answer();
    await send(25);
    t.same([state.lease?.slot, reads()], [25, 1], 'nobody wrote: nothing is read again');
    session.close();
  });

  t.test('is read again where no node could be called for a moment', async (t) => {
    for (const [failures, slot] of [
      [2, 22],
      [3, undefined],
    ] as const) {
      const gap = await openGap(failures);
      await gap.reconnect();
      await gap.send(22);
      for (let slots = 0; slots < 3; slots++) {
        gap.clock.advance(400);
        for (let i = 0; i < 5; i++) await new Promise(setImmediate);
        while (gap.waiting.length > 0) await gap.answer();
      }
      t.same([gap.state.lease?.slot, gap.reads() > 1], [slot, slot === undefined], `${failures} times`);
      gap.session.close();
    }
  });

  t.test('shows that a block behind it is false: nothing of those that waited is applied any more', async (t) => {
    const { session, blocks, falsehoods, waiting, send, reconnect, answer } = await openGap();
    await reconnect();
    await send(22);
    await send(23, 20);
    await send(24, 22);
    while (waiting.length > 0) await answer();
    t.same([falsehoods.length, blocks.blockAt(24)], [1, undefined]);
    session.close();
  });
});

t.test('a turn of the event loop has a part of many accounts, and no claim is false between two parts', async (t) => {
  t.test('where all are to be read again behind a gap', (t) => {
    const turns: (() => void)[] = [];
    const connected: (number | undefined)[] = [];
    let unknown = 0;
    const stream = new FeedStream({
      mode: 'blocks',
      ring: new VersionRing({ bytes: 1 << 30, slots: 100 }, bytesOfAccount),
      maxBytes: 1 << 20,
      port: {
        connect: (fromSlot) => connected.push(fromSlot),
        sendFilter: () => true,
        readAccounts() {},
        readBlock() {},
        nextTurn: (work) => turns.push(work),
      },
      isOneEpoch: () => true,
      onApplied() {},
      onFinalized() {},
      onVersion() {},
      onUnknown: () => unknown++,
      onEvicted() {},
      onFalse: (reason) => t.fail(reason),
    });
    const accounts = Array.from({ length: 2500 }, (_, i): FeedAccount => {
      return { address: addressOfNumber(i), priority: 1, history: undefined };
    });
    const send = (slot: number, parentSlot?: number): void =>
      stream.onUpdate({ kind: 'block', filters: ['b2'], ...linkOf(slot, parentSlot), writes: [] });
    stream.start();
    for (const account of accounts) stream.add(account);
    stream.sendFilter();
    send(10);
    for (const account of stream.dequeueReads(accounts.length)) stream.onRead(account, { slot: 10, value: null });
    send(13, 12);
    send(13, 12); // over another connection
    stream.onBlockRead(12, undefined);
    const progress = () => [
      unknown,
      stream.slot,
      accounts.filter(({ history }) => history?.coverage.slot === 10).length,
    ];
    t.same(progress(), [1000, 10, 1500]);
    send(14);
    stream.onEnd(false);
    stream.onBlockRead(12, undefined);
    turns.shift()?.();
    t.same(progress(), [2000, 10, 500], 'the others are claimed where they were');
    turns.shift()?.();
    t.same(progress(), [2500, 14, 0]);
    t.same([connected, turns.length], [[undefined, 10, 14], 0], 'the connection that has ended since is opened again');
    t.end();
  });

  t.test('where a block has written more than can be replaced in one', async (t) => {
    const { clock, open, deliver, givenUp, answer, follow } = openFeedSessions();
    const session = open(t);
    const states = Array.from({ length: 4200 }, (_, i) => stateOf(addressOfNumber(i)));
    answer(10, 'null');
    follow(session, states);
    const paid = { lamports: 5n, owner: SYSTEM_PROGRAM, executable: false, rentEpoch: 0n, data: new Uint8Array(0) };
    const block = (slot: number, written: readonly AccountState[]) => {
      const writes = written.map(({ address }) => ({ address, account: paid, writeVersion: slot }));
      return deliver(blockUpdate(slot, { writes }));
    };
    const untilRead = async (): Promise<void> => {
      while (session.syncing > 0) {
        await new Promise(setImmediate);
        clock.advance(100);
      }
    };
    block(10, []);
    await untilRead();
    const claimed = () => new Set(states.map(({ lease, json }) => `${lease?.slot} ${json === null ? 'none' : 'paid'}`));
    t.same(claimed(), new Set(['10 none']));
    await block(11, states.slice(0, 4000));
    t.same([claimed(), session.syncing], [new Set(['11 paid', '11 none']), 0], 'these can');
    const decoded = block(12, states.slice(0, 4001));
    const seen = new Set<string>();
    let isDone = false;
    void decoded?.then(() => {
      isDone = true;
    });
    for (; !isDone || session.slot < 12; await new Promise(setImmediate)) for (const each of claimed()) seen.add(each);
    for (const each of ['undefined paid', 'undefined none']) seen.delete(each); // not claimed until it is read
    t.same(seen, new Set(['11 paid', '11 none']), 'nothing is claimed for the block before all of it can be');
    t.same(claimed(), new Set(['undefined paid', 'undefined none', '12 none']));
    answer(12, unparsedJson(5));
    await untilRead();
    t.same(claimed(), new Set(['12 paid', '12 none']));
    for (let next = 13; next < 20; next++) {
      const before = clock.monotonic();
      answer(next, unparsedJson(5));
      await block(next, states.slice(0, 4001));
      while (session.slot < next) await new Promise(setImmediate);
      await untilRead();
      clock.advance(Math.max(0, 20_000 - (clock.monotonic() - before)));
    }
    t.same(givenUp, [], 'each was a block');
  });

  t.test('where a late block makes all final', async (t) => {
    const { clock, open, deliver, answer, follow } = openFeedSessions();
    const session = open(t);
    const states = Array.from({ length: 1200 }, (_, i) => stateOf(addressOfNumber(i), 'finalized'));
    answer(10, 'null');
    follow(session, states);
    for (let slot = 10; slot <= 20; slot++) {
      deliver(blockUpdate(slot));
      for (let i = 0; i < 4; i++) {
        for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
        clock.advance(100);
      }
    }
    const finalize = (slot: number) => deliver(encodeSlotUpdate([], slot, slot - 1, STATUS.finalized));
    finalize(15);
    finalize(16);
    const countAt = (slot: number | undefined): number => states.filter(({ lease }) => lease?.slot === slot).length;
    t.same([countAt(10), countAt(undefined)], [500, 700], 'each that is known, since it was read');
    while (countAt(undefined) > 0) await new Promise(setImmediate);
    t.equal(countAt(16), states.length);
  });
});

t.test('what is final advances though other blocks become final while it is settled', async (t) => {
  const { clock, open, deliver, answer, follow } = openFeedSessions();
  const session = open(t);
  const states = Array.from({ length: 990 }, (_, i) => stateOf(addressOfNumber(i), 'finalized'));
  answer(10, 'null');
  follow(session, states);
  const block = (slot: number): void => {
    const written = slot > 20 ? states.slice(1) : [];
    const writes = written.map(({ address }) => ({ address, account: undefined, writeVersion: slot }));
    deliver(blockUpdate(slot, { writes }));
  };
  for (let slot = 10; slot <= 20; slot++) {
    block(slot);
    for (let i = 0; i < 4; i++) {
      for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
      clock.advance(100);
    }
  }
  for (let slot = 21; slot <= 40; slot++) {
    block(slot);
    deliver(encodeSlotUpdate([], slot, slot - 1, STATUS.finalized));
    await new Promise(setImmediate); // a busy process has a turn of this work for each block
  }
  t.ok((states[0]?.lease?.slot ?? -1) >= 30, `what has not changed is claimed at ${states[0]?.lease?.slot}`);
});

t.test('accounts that nodes parse', async (t) => {
  const key = addressOfNumber(0);
  const data = Buffer.alloc(165);
  data.writeBigUInt64LE(5n, 64);
  data.writeUInt8(1, 108);
  interface Shown {
    readonly lamports?: number;
    readonly amount?: number;
    readonly mint?: string;
  }
  const jsonOf = (data: string, lamports = 2_039_280): string =>
    `{"lamports":${lamports},"owner":"${TOKEN_PROGRAM}","executable":false,"rentEpoch":0,"data":${data},"space":165}`;
  const parsed = ({ lamports, amount = 5, mint = SYSTEM_PROGRAM }: Shown): string => {
    const info = `{"mint":"${mint}","owner":"${SYSTEM_PROGRAM}","state":"initialized","tokenAmount":{"amount":"${amount}"}}`;
    return jsonOf(`{"parsed":{"info":${info},"type":"account"},"program":"spl-token","space":165}`, lamports);
  };
  const encoded = jsonOf(`["${data.toString('base64')}","base64"]`);
  /** A feed that is some slots behind the nodes, of which one shows accounts as `shown` unless two are compared. */
  const openParsed = (size: number, lag: number, shown: Shown) => {
    const { open, clock, rpc, deliver, falsehoods, ineligible } = openFeedSessions({ agreement: twoOperators() });
    const reads = { parsed: 0 };
    const session = open();
    const states = Array.from({ length: size }, (_, i) => stateOf(addressOfNumber(i + 1)));
    for (const state of states) session.add(state);
    clock.advance(500);
    let slot = 10;
    const node: { text: string; ahead?: readonly string[] } = { text: encoded };
    rpc.call = async (_, [addresses, config] = [], { agree } = {}) => {
      const isParsed = (config as { encoding: string }).encoding === 'jsonParsed';
      if (isParsed) reads.parsed++;
      if (isParsed && node.ahead !== undefined) {
        if ((addresses as string[]).length > 1) throw new GatewayError('upstream_error', 'too much');
        const isAhead = node.ahead.includes((addresses as string[])[0] ?? '');
        const value = Buffer.from(`[${parsed({})}]`);
        return { slot: isAhead ? slot + 1000 : slot, result: value, value };
      }
      const text = isParsed ? parsed(agree?.count === 2 ? {} : shown) : node.text;
      const value = Buffer.from(`[${(addresses as string[]).map(() => text)}]`);
      return { slot: slot + lag, result: value, value, agreement: { slot: slot + lag, agreed: 2, read: 2, needed: 2 } };
    };
    const countLive = (): number => states.filter(({ lease }) => lease !== undefined).length;
    const most = { inOneTurn: 0 };
    const pass = async (slots: number): Promise<void> => {
      for (const end = slot + slots; slot < end; slot++) {
        const link = { slot, blockhash: `${slot}`, parentSlot: slot - 1, parentBlockhash: `${slot - 1}` };
        deliver(encodeBlockUpdate(['b2'], { ...link, transactionCount: 0, writes: [] }, []));
        for (let i = 0; i < 8; i++) {
          const live = countLive();
          await new Promise(setImmediate);
          clock.advance(50);
          most.inOneTurn = Math.max(most.inOneTurn, countLive() - live);
        }
      }
    };
    return { session, states, reads, node, pass, falsehoods, ineligible, countLive, most };
  };

  t.test('are shown as a node parses them only if that is the account that the feed has', async (t) => {
    for (const shown of [{ lamports: 777 }, { amount: 6 }, { mint: key }]) {
      const { session, states, reads, pass } = openParsed(1, 0, shown);
      await pass(6);
      t.same([states.map(({ json }) => json), reads.parsed], [[parsed({})], 2], JSON.stringify(shown));
      session.close();
    }
  });

  t.test('are not kept live where the text of a node is too long: it is not even compared', async (t) => {
    const { session, states, reads, pass, ineligible } = openParsed(1, 0, { mint: 'A'.repeat(1000) });
    await pass(6);
    t.same([ineligible, reads.parsed], [[states[0]?.address], 1]);
    session.close();
  });

  t.test('of which some were read far ahead of the feed hold up no other', async (t) => {
    const { session, states, node, pass, countLive } = openParsed(3, 0, {});
    node.ahead = states.slice(0, 2).map(({ address }) => address);
    await pass(6);
    t.equal(countLive(), 1);
    node.ahead = [];
    await pass(20);
    t.equal(countLive(), 3, 'nor do several wait one after the other');
    session.close();
  });

  t.test('are live over a feed that is behind, read by the hundred, and audited', async (t) => {
    const { session, reads, node, pass, falsehoods, countLive, most } = openParsed(250, 4, {});
    await pass(12);
    t.same([countLive(), reads.parsed], [250, 3]);
    t.ok(most.inOneTurn < 40, `${most.inOneTurn} in one turn of the event loop`);
    const audited = session.sessionAudit.audit(100);
    await pass(6);
    t.equal(await audited, 100);
    node.text = jsonOf('["","base64"]');
    const refuted = session.sessionAudit.audit(100);
    await pass(6);
    t.same([await refuted, falsehoods.length], [0, 1]);
  });
});

t.test('a feed that is lost', async (t) => {
  const { backoffMinMs } = UPSTREAM_SETTINGS;
  /** The time after which a client ends an attempt without a connection. */
  const CONNECT_MS = 2000;
  const unavailable: FeedFailure = { code: 14, reason: "can't be reached" };
  const outage = fc.record({
    outageMs: fc.integer({ min: 1, max: 45_000 }),
    isSilent: fc.boolean(),
    spread: fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
  });

  t.test('is had again within 3 s, and not called more often than each quarter of a second (law)', async () => {
    await fc.assert(
      fc.asyncProperty(outage, async ({ outageMs, isSilent, spread }) => {
        let isUp = false;
        let listener: FeedListener | undefined;
        const attemptsMs: number[] = [];
        const { clock, open, givenUp } = openFeedSessions({
          random: () => spread.next().value,
          tipAt: (ms) => Math.floor(ms / 400),
          onSubscribe: (next, ms) => {
            listener = next;
            attemptsMs.push(ms);
            if (!isUp) clock.after(isSilent ? CONNECT_MS : 0, () => next.onEnd(unavailable));
          },
        });
        const pass = async (ms: number): Promise<void> => {
          for (let leftMs = ms; leftMs > 0; leftMs -= 50) {
            clock.advance(Math.min(50, leftMs));
            await null;
          }
        };
        isUp = true;
        const session = open();
        await pass(10_000);
        isUp = false;
        listener?.onEnd(unavailable);
        await pass(outageMs);
        isUp = true;
        const [healedMs, before] = [clock.monotonic(), attemptsMs.length];
        await pass(3000);
        session.close();
        const pausesMs = attemptsMs.slice(2).map((ms, i) => ms - (attemptsMs[i + 1] ?? 0));
        return (
          attemptsMs.length === before + 1 &&
          (attemptsMs.at(-1) ?? 0) >= healedMs &&
          pausesMs.every((ms) => ms >= backoffMinMs) &&
          givenUp.length === 0
        );
      }),
    );
  });

  t.test('and refuses then is given up, and tried again at the pace of admissions only', async (t) => {
    let calls = 0;
    const refusal = { code: 16, reason: 'refuses the token' };
    const { clock, open, givenUp } = openFeedSessions({
      onSubscribe: ({ onEnd }) => {
        calls++;
        onEnd(refusal);
      },
    });
    open();
    for (let seconds = 0; seconds < 60; seconds++) {
      clock.advance(1000);
      await null;
    }
    t.same([calls, givenUp], [1, ['refuses the token']]);
  });

  t.test('and refuses admission is called 17 times in an hour', async (t) => {
    const clock = new ManualClock();
    let calls = 0;
    const feed = openFeed({
      clock,
      feeds: ['strict'],
      createClient: async () => ({
        version: () => {
          calls++;
          return Promise.reject(new FeedError('refuses the token'));
        },
        firstReplayed: async () => undefined,
        subscribe: () => ({ isSending: false, send() {}, cancel() {} }),
        close() {},
      }),
      onProblem() {},
    });
    t.teardown(() => feed.close());
    feed.start();
    for (let seconds = 0; seconds < 3600; seconds += 5) {
      await new Promise(setImmediate);
      clock.advance(5000);
    }
    t.equal(calls, 17);
  });
});

t.test('a feed that is not what it should be', async (t) => {
  const tip = (): number => Math.floor(world.clock.monotonic() / 400);
  const world = openFeedSessions({ random: () => 0.99, tipAt: tip, onSubscribe: (listener) => opened.push(listener) });
  const opened: FeedListener[] = [];
  const { clock, requests, deliver, givenUp, send } = world;
  const unavailable: FeedFailure = { code: 14, reason: 'has ended' };
  const versionIn = (request: Uint8Array | undefined): string =>
    [...(request === undefined ? [] : decodeRequest(request).blocks.keys())].join();
  const block = (slot: number): Promise<void> => send(slot, { filters: [versionIn(requests.at(-1))] });
  const pass = async (slots: number, sent: () => number): Promise<void> => {
    for (let passed = 0; passed < slots; passed++) {
      clock.advance(400);
      await block(sent());
    }
  };
  world.rpc.call = async () => {
    const value = Buffer.from(`[${unparsedJson(5)}]`);
    return { slot: tip(), result: value, value };
  };
  const session = world.open();
  t.teardown(() => session.close());
  await pass(3, tip);

  t.test('an account that is added while the connection is away is known soon after it is back', async (t) => {
    opened.at(-1)?.onEnd(unavailable);
    for (let lost = opened.length; opened.length === lost; await null) clock.advance(50);
    opened.at(-1)?.onEnd(unavailable); // the next attempt waits
    const state = stateOf(addressOfNumber(1));
    session.add(state);
    for (let lost = opened.length; opened.length === lost; await null) clock.advance(50);
    const first = session.slot + 1;
    for (let slot = first; slot < tip(); slot++) await block(slot);
    await pass(6, tip);
    t.equal(state.lease?.slot, tip());
  });

  t.test('the status of a slot that it has not sent ends no finality', async (t) => {
    const finalized = stateOf(addressOfNumber(1), 'finalized');
    session.add(finalized);
    const finalize = (slot: number) => deliver(encodeSlotUpdate([], slot, slot - 1, STATUS.finalized));
    finalize(5_000_000);
    await pass(1, tip);
    finalize(tip());
    t.equal(finalized.lease?.slot, tip());

    t.test('one that comes before its block counts with it', async (t) => {
      const next = tip() + 1;
      for (const slot of [next, next + 1]) finalize(slot);
      t.equal(finalized.lease?.slot, next - 1);
      await pass(1, tip);
      t.equal(finalized.lease?.slot, next);
    });
  });

  t.test('one that sends an old block again and again is given up', async (t) => {
    const old = tip();
    await pass(149, () => old);
    t.same(givenUp, []);
    await pass(5, () => old);
    t.match(givenUp[0], /^is \d+ slots behind$/);
  });

  t.test('so is one that stays far behind at the pace of the chain', async (t) => {
    const late = world.open();
    t.teardown(() => late.close());
    givenUp.length = 0;
    clock.advance(1);
    await pass(149, () => tip() - 30);
    t.same(givenUp, []);
    await pass(5, () => tip() - 30);
    t.match(givenUp[0], /^is 3\d slots behind$/);
  });

  t.test('so is one that never reports what is final', async (t) => {
    const endless = world.open();
    t.teardown(() => endless.close());
    givenUp.length = 0;
    clock.advance(1);
    await pass(149, tip);
    t.same(givenUp, []);
    await pass(5, tip);
    t.same(givenUp, ['does not report what is final']);
  });
});

t.test('I16: a feed that jumps ahead of its node is given up, and nothing is claimed of the jump', async (t) => {
  /** A feed up to slot 20, of which block 15 is final, beside a node that is there too. */
  const openSteady = async () => {
    const clock = new ManualClock();
    const expectedGenesisHash = undefined;
    const consensus = new SlotConsensus({ clock, settings: UPSTREAM_SETTINGS, expectedGenesisHash, onQuarantine() {} });
    const world = openFeedSessions({ clock, acceptsSlot: (...slot) => consensus.acceptsSlot('node-1', ...slot) });
    const { open, answer, deliver, send } = world;
    const session = open(t);
    const states = [stateOf(addressOfNumber(1)), stateOf(addressOfNumber(2), 'finalized')];
    for (const state of states) session.add(state);
    answer(10, 'null');
    const block = (slot: number, parentSlot = slot - 1): Promise<void> => send(slot, { parentSlot });
    const finalize = (slot: number) => deliver(encodeSlotUpdate([], slot, slot - 1, STATUS.finalized));
    consensus.start();
    clock.advance(1);
    for (let slot = 9; slot <= 20; slot++) {
      clock.advance(400);
      await block(slot);
    }
    finalize(15);
    const claims = () => [...states.map(({ lease }) => `${lease?.state} at ${lease?.slot}`), ...world.givenUp];
    await new Promise(setImmediate);
    t.same(claims(), ['active at 20', 'active at 15']);
    return { block, finalize, claims, clock };
  };
  const REASON = 'reports a slot that is not accepted';

  const jumped = await openSteady();
  await jumped.block(1_000_000_000, 20);
  t.same(jumped.claims(), ['lost at 20', 'lost at 15', REASON]);

  const early = await openSteady();
  for (let slot = 21; slot <= 200; slot++) await early.block(slot);
  t.same(early.claims().slice(0, 3), ['lost at 84', 'lost at 15', REASON], 'many small steps are a jump too');

  const late = await openSteady();
  for (let slot = 21; slot <= 200; slot++) {
    late.clock.advance(400);
    await late.block(slot);
  }
  late.finalize(200);
  t.same(late.claims(), ['active at 200', 'active at 200'], 'what the time explains is none');
});

t.test('accounts that can not be read keep no others from being live, nor are they read without end', async (t) => {
  const { clock, requests, open, rpc, deliver, ineligible } = openFeedSessions();
  const session = open(t);
  const addressesFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, i) => addressOfNumber(first + i));
  const [usual, barred] = [addressesFrom(1, 60), addressesFrom(200, 2)];
  const [large, long] = [addressesFrom(100, 3), addressOfNumber(150)];
  let [slot, calls] = [10, 0];
  rpc.call = async (_, [named] = []) => {
    calls++;
    const addresses = named as string[];
    if (addresses.some((each) => barred.includes(each)))
      throw new GatewayError('rpc_error', '-32602: an account is barred', { status: 400, rpcCode: -32602 });
    const isTooLarge = large.some((each) => addresses.includes(each));
    if (isTooLarge) throw new GatewayError('result_too_large', 'the response is too long');
    const tooLong = `{"data":"${'A'.repeat(1700)}"}`; // what would be no account
    const value = Buffer.from(`[${addresses.map((each) => (each === long ? tooLong : unparsedJson(5)))}]`);
    return { slot, result: value, value };
  };
  const addAll = (addresses: readonly string[]): readonly AccountState[] => {
    const states = addresses.map((address) => stateOf(address));
    for (const state of states) session.add(state);
    clock.advance(500);
    return states;
  };
  const pass = async (slots: number): Promise<void> => {
    for (const end = slot + slots; slot < end; slot++) {
      const filters = [...decodeRequest(requests.at(-1) ?? Buffer.alloc(0)).blocks.keys()];
      deliver(blockUpdate(slot, { filters }));
      for (let i = 0; i < 8; i++) {
        for (let turn = 0; turn < 6; turn++) await new Promise(setImmediate);
        clock.advance(50);
      }
    }
  };
  const liveOf = (states: readonly AccountState[]) => states.filter(({ lease }) => lease !== undefined).length;
  clock.advance(1);
  const states = addAll([...large, long, ...barred, ...usual]);
  await pass(80);
  t.same([liveOf(states), ineligible.toSorted()], [usual.length, [...large, long].toSorted()]);
  const late = addAll(addressesFrom(300, 1));
  await pass(3);
  t.equal(liveOf(late), 1, 'nor one that comes later');
  t.ok(calls < 60, `${calls} calls in ${slot - 10} slots`);
  const before = calls;
  await pass(300);
  t.ok(calls - before <= 6, `${calls - before} calls in two minutes`);

  const hanging = new Set(addressesFrom(400, 20));
  const answer = rpc.call;
  rpc.call = async (method, params = []) => {
    const [named] = params as [string[]];
    if (!named.some((each) => hanging.has(each))) return answer(method, params);
    calls++;
    await new Promise<void>((resolve) => clock.after(2000, resolve));
    throw new GatewayError('upstream_timeout', 'a node does not answer');
  };
  addAll([...hanging]);
  await pass(170);
  let longest = 0;
  for (let i = 0; i < 3; i++) {
    const added = addAll(addressesFrom(500 + i, 1));
    const from = slot;
    while (liveOf(added) === 0 && slot - from < 100) await pass(1);
    longest = Math.max(longest, slot - from);
    await pass(7);
  }
  t.ok(longest <= 10, `though many wait for a timeout each, in ${longest} slots`);
});

t.test('accounts that wait are bounded in bytes', async (t) => {
  const write = (address: string): AccountWrite => ({
    address,
    writeVersion: 1,
    value: { lamports: 1n, owner: SYSTEM_PROGRAM, executable: false, rentEpoch: 0n, data: new Uint8Array(1000) },
  });

  t.test('a block of which accounts were forgotten is none: the next one shows the gap', async (t) => {
    const assembly = new BlockAssembly('accounts', FEED_RULES, 4000);
    assembly.restart(true);
    const received = (slot: number) =>
      assembly.add({ kind: 'block-meta', filters: ['m1'], ...linkOf(slot) })?.writes.map(({ address }) => address);
    const send = (slot: number, keys: string): void => {
      for (const key of keys) assembly.add({ kind: 'account', filters: [], slot, write: write(key) });
    };
    send(5, 'ab');
    send(6, 'cd');
    t.same([received(5), received(6)], [undefined, ['c', 'd']], 'four accounts are 5,000 bytes');
    send(7, 'abc');
    t.same(received(7), ['a', 'b', 'c'], 'what was received does not count any more');
    send(8, 'abcd');
    t.equal(received(8), undefined, 'a block that is too large for itself');
  });

  t.test('a slot far ahead is forgotten alone', async (t) => {
    const assembly = new BlockAssembly('accounts', FEED_RULES, 1 << 20);
    assembly.restart(true);
    for (const slot of [Number.MAX_SAFE_INTEGER, ...Array.from({ length: 64 }, (_, i) => i + 5)])
      assembly.add({ kind: 'account', filters: [], slot, write: write('a') });
    t.equal(assembly.add({ kind: 'block-meta', filters: ['m1'], ...linkOf(68) })?.writes.length, 1);
  });

  t.test('an account of which too much is written until it is read is read again behind that', async (t) => {
    const arming = new Arming<FeedAccount>(3000);
    const account: FeedAccount = { address: 'a', priority: 0, history: undefined };
    const versionAt = (slot: number) => ({ slot, value: write('a').value });
    arming.add(account, 1);
    arming.onFilterInForce(1, 5);
    t.same(arming.dequeueReads(1), [account]);
    for (let slot = 5; slot < 7; slot++) arming.keepWrite(account, versionAt(slot));
    arming.onRead(account, versionAt(5));
    arming.keepWrite(account, versionAt(7));
    t.same([...arming.due(10)], [], 'what was read is older than what is missing');
    t.equal(arming.sinceOf(account), 8);
    t.same(arming.dequeueReads(1), [account]);
    for (let slot = 8; slot < 10; slot++) arming.keepWrite(account, versionAt(slot));
    arming.onRead(account, versionAt(8));
    const due = [...arming.due(9)].map(({ newer }) => newer.map(({ slot }) => slot));
    t.same(due, [[9]], 'what was forgotten counts no more');
  });

  t.test('no block follows itself, nor one that follows it', async (t) => {
    const isOneEpoch = (): boolean => true;
    const applied = { slot: 1, blockhash: '1' };
    const gap = new Gap(4000);
    gap.wait({ ...linkOf(13), version: 1, writes: [] });
    const missed = (slot: number, blockhash: string, parentSlot: number, parentBlockhash: string) => ({
      ...{ slot, blockhash, parentSlot, parentBlockhash, written: new Set<string>() },
    });
    t.equal(gap.onRead(missed(12, '12', 12, '12')), false);
    t.equal(gap.onRead(missed(12, '12', 11, '12')), true, 'as its hash says, it follows itself');
    t.same(gap.next(applied, isOneEpoch), { name: 'read', slot: 11 });
    t.equal(gap.onRead(missed(11, '12', 10, '12')), true);
    t.same(gap.next(applied, isOneEpoch), { name: 'read', slot: 10 });
  });

  t.test('too many behind a gap end the wait', async (t) => {
    const gap = new Gap(4000);
    const block = (slot: number) => ({ ...linkOf(slot), version: 1, writes: [write('a'), write('b')] });
    t.same([gap.wait(block(5)), gap.wait(block(6))], [true, false]);
    gap.close();
    t.equal(gap.wait(block(7)), true);
  });
});

t.test('recent-blocks', async (t) => {
  const blocks = new RecentBlocks(300);
  blocks.add(5, 4);
  blocks.add(8, 5);
  const found = [4, 5, 6, 7, 8, 9].map((slot) => blocks.blockAt(slot));
  t.same(found, [4, 5, 5, 5, 8, undefined]);
  for (let slot = 9; slot < 400; slot++) blocks.add(slot, slot - 1);
  t.same([blocks.blockAt(8), blocks.blockAt(399)], [undefined, 399], 'the oldest are forgotten');
});

interface FeedSetting
  extends Pick<GeyserFeedOptions, 'clock' | 'onProblem' | 'createClient'>,
    Partial<Pick<GeyserFeedOptions, 'mesh' | 'onUp' | 'onRecovery'>> {
  readonly feeds: readonly string[];
}

/** A feed that can't be used. */
const openFeed = ({ feeds, ...options }: FeedSetting): GeyserFeed =>
  new GeyserFeed(
    {
      mesh: { tip: () => 1, acceptsSlot: () => true, call: () => Promise.reject(new Error('no node')) },
      onUp: () => t.fail('there is no feed'),
      onRecovery: () => t.fail('there is no feed'),
      ...options,
      feeds: feeds.map((id) => ({ id, url: 'http://127.0.0.1:1', token: undefined })),
      random: () => 0,
      settings: UPSTREAM_SETTINGS,
      ring: new VersionRing({ bytes: 1, slots: 1 }, bytesOfAccount),
      blocks: new RecentBlocks(1),
      maxBytes: 1 << 20,
    },
    { maxAccountBytes: 1, onChange() {}, onIneligible() {}, reassign() {} },
  );

t.test('a feed whose client can not be made is a problem', async (t) => {
  const problems: string[] = [];
  const feed = openFeed({
    clock: new ManualClock(),
    feeds: ['node'],
    createClient: () => Promise.reject(new TypeError('Invalid URL')),
    onProblem: (id, problem) => problems.push(`${id}: ${problem}`),
  });
  t.teardown(() => feed.close());
  feed.start();
  await new Promise(setImmediate);
  t.same(problems, ['node: it fails']);
});

t.test('a feed that is closed or refused while its client is made does not use it', async (t) => {
  for (const [end, due] of [
    [(feed: GeyserFeed) => feed.close(), []],
    [(feed: GeyserFeed) => feed.refuse('node'), ['its node is refused']],
  ] as const) {
    const problems: string[] = [];
    let closed = 0;
    const unused = () => Promise.reject(new Error('it is used'));
    const feed = openFeed({
      clock: new ManualClock(),
      feeds: ['node'],
      async createClient() {
        end(feed);
        const subscribe = () => t.fail('it is used') as never;
        return { version: unused, firstReplayed: unused, subscribe, close: () => void closed++ };
      },
      onProblem: (_, problem) => problems.push(problem),
    });
    t.teardown(() => feed.close());
    feed.start();
    await new Promise(setImmediate);
    t.same([problems, closed], [due, 1]);
  }
});

t.test('a feed whose node is refused in the last step of its admission is not used', async (t) => {
  const { chain, clock, faucet, server, produce } = await startFeed(t, 'refused-feed');
  const node: NodeContext = { chain, faucet, faults: new InjectedFaults(), clock, address: '127.0.0.1:1' };
  const problems: string[] = [];
  const feed = openFeed({
    clock,
    feeds: ['node'],
    mesh: {
      tip: (commitment) => chain.slot(commitment),
      acceptsSlot: () => true,
      async call(method, params = []) {
        if (method === 'getEpochInfo') feed.refuse('node');
        const result = Buffer.from(toJson(callMethod(node, method, params)));
        return { slot: chain.slot('confirmed'), value: result, result };
      },
    },
    createClient: () => createFeedClient({ url: server.url, token: undefined }),
    onProblem: (_, problem) => problems.push(problem),
  });
  t.teardown(() => feed.close());
  feed.start();
  while (problems.length === 0 && !feed.hasRoom) {
    produce(1);
    await new Promise(setImmediate);
  }
  t.same([problems, feed.hasRoom], [['its node is refused'], false]);
});

t.test('a feed that is lost soon each time is admitted later each time, and by blocks without rewards', async (t) => {
  const { chain, clock, faucet, server, produce } = await startFeed(t, 'short-lived-feed');
  const node: NodeContext = { chain, faucet, faults: new InjectedFaults(), clock, address: '127.0.0.1:1' };
  const triedMs: number[] = [];
  let isTrying = false;
  const never = (): never => {
    throw new Error('this is not to happen');
  };
  const feed: GeyserFeed = openFeed({
    clock,
    feeds: ['node'],
    mesh: {
      acceptsSlot: () => true,
      tip: (commitment) => chain.slot(commitment),
      async call(method, params = []) {
        const json = toJson(callMethod(node, method, params));
        const result = Buffer.from(method === 'getBlock' ? json.replace('"rewards":', '"left out":') : json);
        return { slot: chain.slot('confirmed'), value: result, result };
      },
    },
    async createClient() {
      triedMs.push(clock.monotonic());
      isTrying = true;
      const client = await createFeedClient({ url: server.url, token: undefined });
      return {
        version: () => client.version(),
        firstReplayed: () => client.firstReplayed(),
        close: () => client.close(),
        subscribe(listener, isPinged) {
          if (isPinged !== true) return client.subscribe(listener);
          queueMicrotask(() => listener.onEnd({ code: 16, reason: 'refuses the token' }));
          return { isSending: false, send() {}, cancel() {} };
        },
      };
    },
    onUp() {
      isTrying = false;
      feed.createSession({
        clock,
        agreement: undefined,
        budget: new RequestBudgets(clock, null).of({ nodeId: 'node', isPooled: false }),
        tip: (commitment) => chain.slot(commitment),
        slotTimeMs: () => 400,
        isRenewing: () => false,
        onLeasesAdvanced() {},
        onWatermarkLost() {},
        onRoom() {},
        onLeaseViolation: never,
        onDenied: never,
        onLost() {},
      });
    },
    onProblem() {},
    onRecovery() {},
  });
  t.teardown(() => feed.close());
  feed.start();
  while (triedMs.length < 4) {
    produce(1);
    await new Promise(setImmediate);
    if (!isTrying) clock.advance(100); // an admission lasts no time
  }
  const pausesMs = triedMs.slice(1).map((ms, i) => ms - (triedMs[i] ?? 0));
  t.ok((pausesMs[2] ?? 0) > 2 * (pausesMs[0] ?? 0), pausesMs.join());
});

t.test('the feed of a refused node is not tried', async (t) => {
  const tried: string[] = [];
  let onTried = (): void => {};
  const isTried = new Promise<void>((resolve) => {
    onTried = resolve;
  });
  const feed = openFeed({
    clock: new ManualClock(),
    feeds: ['liar', 'honest'],
    onProblem(id) {
      tried.push(id);
      onTried();
    },
  });
  t.teardown(() => feed.close());
  feed.refuse('liar');
  feed.start();
  await isTried;
  t.same(tried, ['honest']);
});
