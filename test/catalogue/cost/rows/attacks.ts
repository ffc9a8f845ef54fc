import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { readRecordings } from '../../../support/recorded-transactions.ts';
import { type Finding, info } from '../../findings.ts';
import { attackRow, flood } from '../attack-row.ts';
import { fillersOf } from '../cost-families.ts';
import { DocumentGrowth, type Growth } from '../json-growth.ts';
import { addressOf, signatureOf } from '../node-answers.ts';
import { type CostlyRequest, sendRequest } from '../send-attempt.ts';

const MiB = 1024 * 1024;
const EXPLAIN_BYTES = 262_144;
const fresh = (): string => bs58.encode(randomBytes(32));
const post = (target: string, body: string): CostlyRequest => ({ method: 'POST', target, body });
const rpc = (method: string, ...params: unknown[]): CostlyRequest =>
  post('/rpc', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));

/** What the search found to be dear, as growths of a recorded transfer: beyond the protocol's bounds, and within them. */
const EXPLAIN_GROWTHS: readonly (readonly Growth[])[] = [
  [
    { op: 'grow', path: ['tx', 'transaction', 'message', 'accountKeys'], size: 800, naming: 'address' },
    { op: 'grow', path: ['tx', 'transaction', 'message', 'instructions'], size: 500, naming: 'address' },
  ],
  [
    { op: 'grow', path: ['tx', 'transaction', 'message', 'accountKeys'], size: 60, naming: 'address' },
    { op: 'grow', path: ['tx', 'transaction', 'message', 'instructions'], size: 500, naming: 'address' },
  ],
  [{ op: 'stretch', path: ['tx', 'transaction', 'signatures', 0], words: [0, 1], filler: 'z', size: 3000 }],
  [{ op: 'stretch', path: ['tx', 'meta', 'logMessages', 1], words: [0, 1], filler: 'slippage', size: 200_000 }],
];

function explainBodies(): readonly string[] {
  const seed = readRecordings('transactions')
    .map((line) => JSON.parse(line).result)
    .find((tx) => tx?.transaction?.message?.instructions?.[0]?.parsed?.type === 'transferChecked');
  const documents = new DocumentGrowth({
    seeds: [[JSON.stringify({ tx: seed })]],
    fillers: fillersOf([]),
    maxBytes: EXPLAIN_BYTES,
  });
  return EXPLAIN_GROWTHS.map((growths) => documents.build({ seed: 0, growths }));
}

/** Large posted transactions. */
export const explainFlood = attackRow({
  id: 'explain',
  title: 'one caller posts the dearest transactions to /explain',
  async attack(world) {
    const bodies = explainBodies();
    await flood(world, 4, (i) => post('/explain', bodies[i % bodies.length] ?? '{}'));
  },
});

/** The slowest calls that nodes have. */
export const slowCalls = attackRow({
  id: 'slow',
  title: "one caller's 50 calls that take the node 8 s each",
  script: { getBlock: { kind: 'delay', delayMs: 8000 } },
  attack: (world) => flood(world, 50, (i) => rpc('getBlock', 1 + i, { rewards: false })),
});

const READ_BYTES = 16_384;
const READ_EVERY_MS = 4000;
const SLOW_READERS = 60;

/** Large answers that their reader takes slowly. */
export const slowReaders = attackRow({
  id: 'readers',
  title: 'one caller reads 60 answers of 8 MiB at 4 KiB/s each',
  script: { getBlock: { kind: 'filler', bytes: 8 * MiB, of: 'text' } },
  async attack({ url, signal }) {
    const { hostname, port } = new URL(url);
    const sockets: Socket[] = [];
    const open = (i: number): void => {
      const { body = '' } = rpc('getBlock', 1 + (i % 60), { rewards: i >= SLOW_READERS });
      const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.2' });
      socket
        .on('error', () => {})
        .on('close', () => !signal.aborted && setTimeout(open, 500, i + SLOW_READERS).unref());
      socket
        .pause()
        .write(
          `POST /api/v1/rpc HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
      sockets.push(socket);
    };
    for (let i = 0; i < SLOW_READERS; i++) open(i);
    while (!signal.aborted) {
      await sleep(READ_EVERY_MS, undefined, { ref: false });
      for (const socket of sockets) socket.read(READ_BYTES);
    }
    for (const socket of sockets) socket.destroy();
  },
  // bytes owed to readers are to be at most 128 MiB, 32 MiB for one; as much again is what the allocator keeps
  findings: async ({ gateway }) => [expectResident(gateway.peakBytes(), 384)],
});

const expectResident = (bytes: number, boundMiB: number): Finding => ({
  text: `peak of resident memory ${(bytes / MiB).toFixed(0)} MiB (<= ${boundMiB})`,
  isMet: bytes <= boundMiB * MiB,
});

const STAKE_MINT = addressOf('stake mint');

/** Stake proofs that nobody signed, on a route that counts nothing. */
export const forgedProofs = attackRow({
  id: 'proofs',
  title: 'one caller sends forged stake proofs to /health',
  set: [`stake.mint=${STAKE_MINT}`, 'stake.host=gateway.example'],
  attack: (world) =>
    flood(world, 16, (i) => ({
      target: '/health',
      headers: {
        'x-stake-wallet': addressOf(`wallet ${i % 100}`),
        'x-stake-issued': String(Math.floor(Date.now() / 1000)),
        'x-stake-signature': signatureOf(`signature ${i}`),
      },
    })),
});

/** A floor that the nodes have not reached, in the same turns as other callers' reads. */
export const strangersFloor = attackRow({
  id: 'floor',
  title: "one caller's cold reads with X-Min-Slot above the tip, four others reading in the same turns",
  coldAtOnce: 4,
  async attack(world) {
    let tip = 0;
    const follow = async (): Promise<void> => {
      while (!world.signal.aborted) {
        const { text } = await sendRequest(world.url, { target: '/slot' }, '127.0.0.3').catch(() => ({ text: '' }));
        tip = Number(/"slot":(\d+)/.exec(text)?.[1] ?? tip);
        await sleep(100, undefined, { ref: false });
      }
    };
    await Promise.race([
      follow(),
      flood(world, 20, (i) => ({
        target: `/balance/${fresh()}`,
        headers: { 'x-min-slot': String(tip + 2 + (i % 3)) },
      })),
    ]);
  },
});

const LARGE = Array.from({ length: 40 }, (_, i) => addressOf(`large ${i}`));

/** Accounts of the largest size, in the same batches as other callers' reads. */
export const largeAccounts = attackRow({
  id: 'large',
  title: 'one caller reads 40 accounts of 10 MiB, four others /account in the same turns',
  coldAtOnce: 4,
  coldTarget: '/account/$address',
  script: { getMultipleAccounts: { kind: 'accounts', template: 'blob', bytes: 10 * MiB, only: LARGE } },
  warmUp: [['getMultipleAccounts', [LARGE[0]], { commitment: 'confirmed' }]],
  attack: (world) => flood(world, 4, (i) => ({ target: `/account/${LARGE[i % LARGE.length]}` })),
});

const OWNERS = Array.from({ length: 7 }, (_, i) => addressOf(`owner ${i}`));

/** Owners of very many token accounts. */
export const manyTokenAccounts = attackRow({
  id: 'owners',
  title: 'one caller asks for the portfolios of owners with 9,990 token accounts',
  script: { getTokenAccountsByOwner: { kind: 'token accounts', rows: 9990, mints: 9990 } },
  warmUp: OWNERS.flatMap((owner) =>
    [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map(
      (programId) => ['getTokenAccountsByOwner', owner, { programId }, { commitment: 'confirmed' }] as const,
    ),
  ),
  attack: (world) =>
    flood(world, 6, (i) => {
      const commitment = ['processed', 'confirmed', 'finalized'][i % 3];
      const owner = OWNERS[i % OWNERS.length];
      const path = i % 2 === 0 ? `/address/${owner}/portfolio` : `/token-accounts/${owner}`;
      return { target: `${path}?commitment=${commitment}` };
    }),
});

const MINTS = Array.from({ length: 20 }, (_, i) => addressOf(`mint ${i}`));
const mintAnswer = { kind: 'accounts', template: 'mint', bytes: 82, only: MINTS } as const;

const SCAN = [['getProgramAccounts', 'a program', { commitment: 'confirmed' }]] as const;

/** Scans of mints that just fit. */
export const scans = attackRow({
  id: 'scans',
  title: 'one caller asks for page 2 of the 210,000 holders of 20 mints',
  script: { getMultipleAccounts: mintAnswer, getProgramAccounts: { kind: 'holders', rows: 210_000 } },
  warmUp: SCAN,
  attack: (world) => flood(world, 4, (i) => ({ target: `/token/${MINTS[i % MINTS.length]}/holders?page=2` })),
  findings: async ({ gateway }) => [expectResident(gateway.peakBytes(), 640)],
});

/** Scans that are refused, again and again. */
export const refusedScans = attackRow({
  id: 'refused',
  title: 'one caller asks again and again for the 300,000 holders of a mint, which are too many',
  script: { getMultipleAccounts: mintAnswer, getProgramAccounts: { kind: 'holders', rows: 300_000 } },
  warmUp: SCAN,
  attack: (world) => flood(world, 4, (i) => ({ target: `/token/${MINTS[0]}/holders?page=${2 + (i % 1000)}` })),
  findings: async ({ node }) => {
    const { calls } = await node.takeCounts();
    return [info('scans since', calls['getProgramAccounts'] ?? 0)];
  },
});
