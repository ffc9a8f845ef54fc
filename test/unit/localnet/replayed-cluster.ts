import { once } from 'node:events';
import { address } from '@solana/web3.js';
import { WebSocket } from 'ws';
import { Chain } from '../../../src/localnet/bank/chain.ts';
import { InjectedFaults } from '../../../src/localnet/rpc/injected-faults.ts';
import { startRpcServer } from '../../../src/localnet/rpc-server.ts';
import { deriveKeypair } from '../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../src/localnet/traffic/faucet.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RECORDED_ANSWERS, RECORDED_NAMES, RECORDED_PUBSUB } from './recorded-conversation.ts';
import { replayRecording } from './replay-recording.ts';

/** Raw HTTP response. */
interface RawResponse {
  readonly status: number;
  readonly contentType: string | null;
  readonly response: string;
}

/** An embedded cluster on which the recording was replayed. */
export interface ReplayedCluster {
  post(body: string, contentType?: string): Promise<RawResponse>;
  /** Translates a recorded request to this cluster's addresses, signatures and slots. */
  translate(request: string): string;
  /** Messages of the recorded subscriptions, in order. */
  readonly received: readonly string[];
  close(): Promise<void>;
}

const { vote: VOTE = '', mint: MINT = '', v0: V0 = '' } = RECORDED_NAMES;

/** Slots in the recorded requests, by meaning. */
const SLOTS = {
  tokenTransfer: 839,
  v0: 898,
  early: 901,
  final: 911,
  newest: 943,
  ahead: 1911,
  farAhead: 5911,
} as const;

/** Starts an embedded cluster and replays the recording on it, with the recorded subscriptions open. */
export async function startReplayedCluster(): Promise<ReplayedCluster> {
  const clock = new ManualClock();
  const chain = await Chain.create({
    clock,
    genesisHash: MINT,
    originMs: clock.now() - 400_000,
    slotMs: 400,
    skipEvery: 0,
    slotsPerEpoch: 432,
  });
  const faucet = createFaucet(chain);
  const vote = address(VOTE);
  chain.setAccount(vote, recordedAccount('vote account, base64'));
  const produceBlocks = (slots: number): void => {
    for (let i = 0; i < slots; i++) chain.produceBlock();
  };
  produceBlocks(400); // the node had some history, too

  const server = await startRpcServer({ chain, faucet, faults: new InjectedFaults(), clock }, {});
  const post = async (body: string, contentType = 'application/json'): Promise<RawResponse> => {
    const headers = { 'content-type': contentType };
    const response = await fetch(server.url, { method: 'POST', headers, body });
    return {
      status: response.status,
      contentType: response.headers.get('content-type'),
      response: await response.text(),
    };
  };
  const sendRpc = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const { response } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const { result, error } = JSON.parse(response);
    if (error !== undefined) throw new Error(`${method}: ${response}`);
    return result;
  };

  const messages = RECORDED_PUBSUB.flatMap((message) => ('out' in message ? [message.out] : []));
  const opening = messages.findIndex((text) => text.includes(V0));
  const received: string[] = [];
  const socket = new WebSocket(server.wsUrl);
  socket.on('message', (data: Buffer) => received.push(data.toString()));
  await once(socket, 'open');
  let names = recordedWallets();
  const sendMessages = async (texts: readonly string[]): Promise<void> => {
    for (const text of texts) socket.send(translateNames(text, names));
    await waitForPong(socket);
  };

  await sendMessages(messages.slice(0, opening));
  names = { ...names, ...(await replayRecording(chain, sendRpc, vote)) };
  await sendMessages(messages.slice(opening, opening + 1));
  produceBlocks(40);
  for (const lamports of [1, 2, 3]) {
    await sendRpc('requestAirdrop', deriveKeypair('alice').address, lamports); // the newest blocks on the node had transactions, too
    produceBlocks(1);
  }
  await sendMessages(messages.slice(opening + 1));
  socket.close();

  const slotOf = (name: string): number => chain.transaction(names[name] ?? '')?.slot ?? 0;
  const finalized = chain.slot('finalized');
  const slots = new Map<number, number>([
    [SLOTS.tokenTransfer, slotOf('tokenTransfer')],
    [SLOTS.v0, slotOf('v0')],
    [SLOTS.early, finalized - 10],
    [SLOTS.newest, chain.slot('confirmed')],
    [SLOTS.ahead, finalized + 1000],
    [SLOTS.farAhead, finalized + 5000],
  ]);

  return {
    post,
    received,
    translate(request) {
      const text = translateNames(request, names);
      // The final block may be any with a transaction; a range has to end at the newest final slot.
      const final = text.includes('"range"') ? finalized : slotOf('transfer');
      const slotHere = (slot: number): number => (slot === SLOTS.final ? final : (slots.get(slot) ?? slot));
      return text.includes('"getBlock')
        ? text.replace(/\b\d{3,4}\b/g, (digits) => `${slotHere(Number(digits))}`)
        : text;
    },
    close: () => server.close(),
  };
}

/** Returns the wallets by name: the first recorded subscriptions precede the replay. */
const recordedWallets = (): Readonly<Record<string, string>> =>
  Object.fromEntries(['alice', 'bob', 'carol', 'dust'].map((name) => [name, deriveKeypair(name).address]));

function translateNames(text: string, names: Readonly<Record<string, string>>): string {
  let here = text;
  for (const [name, recorded] of Object.entries(RECORDED_NAMES))
    here = here.replaceAll(recorded, names[name] ?? recorded);
  return here;
}

/** Waits for a pong: all that was sent to the WebSocket before has arrived by then. */
async function waitForPong(socket: WebSocket): Promise<void> {
  const pong = once(socket, 'pong');
  socket.ping();
  await pong;
}

function recordedAccount(note: string) {
  const answer = RECORDED_ANSWERS.find((answer) => answer.note === note)?.response ?? '';
  const { data, lamports, owner } = JSON.parse(answer).result.value;
  return { lamports: BigInt(lamports), owner, executable: false, data: Buffer.from(data[0], 'base64') };
}
