import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import t from 'tap';
import { verifyReceipt } from '../../src/receipt/verify.ts';
import { openGateway } from '../gateway/open.ts';
import { readLedger } from './ledger.ts';
import { ask, openWallet } from './wallet.ts';

// Over a real validator, whose URL is the last argument: every route, receipt and frame, and each balance against
// what the blocks record. Takes SECONDS of the wall clock, 60 by default; not a part of `npm test`.

const url = process.argv.at(-1) ?? '';
const SECONDS = Number(process.env['SECONDS'] ?? 60);
const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;
/** Fresh ones, so that the blocks of this run tell all there is to know of them. */
const ACCOUNTS = Array.from({ length: 20 }, () => bs58.encode(randomBytes(32)));
const PAYMENT = 1_000_000;

interface Said {
  readonly account: string;
  readonly slot: number;
  readonly lamports: number;
  readonly commitment: string;
}

t.setTimeout((SECONDS + 120) * 1000);

t.test('a gateway over a real validator', async (t) => {
  const { gateway, get, rpc } = await openGateway(t, [url]);
  const cluster = await ask<string>(url, 'getGenesisHash');
  const firstSlot = await ask<number>(url, 'getSlot', [{ commitment: 'processed' }]);
  const wallet = await openWallet(url);
  t.equal(gateway.cluster, cluster, 'binds its receipts to the validator’s genesis hash');

  const verified = async (path: string): Promise<{ result: string; slot: number }> => {
    const { status, text } = await get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    const request = `GET /api/v1${path}`;
    const time = { nowMs: Date.now(), maxAgeMs: 60_000 };
    return verifyReceipt(text, { publicKeys: [gateway.publicKey], cluster, request, time });
  };

  const frames: { result: { seq: number; slot: number }; slot: number }[] = [];
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream`);
  socket.onmessage = ({ data }) => frames.push(JSON.parse(String(data)));

  const said: Said[] = [];
  const newest = new Map<string, number>();
  let receipts = 0;
  let backwards = 0;
  const read = async (path: string): Promise<{ result: string; slot: number }> => {
    const answer = await verified(path);
    receipts++;
    if (answer.slot < (newest.get(path) ?? 0)) backwards++;
    newest.set(path, answer.slot);
    return answer;
  };

  const end = performance.now() + SECONDS * 1000;
  for (let round = 0; performance.now() < end; round++) {
    const chosen = ACCOUNTS.filter((_, i) => i % 5 === round % 5);
    await wallet.pay(chosen, PAYMENT + round);
    for (const account of chosen) {
      for (const commitment of COMMITMENTS) {
        const { result, slot } = await read(`/balance/${account}?commitment=${commitment}`);
        said.push({ account, slot, lamports: JSON.parse(result).lamports, commitment });
      }
    }
    for (const path of ['/slot', '/epoch', '/performance', '/priority-fee', `/account/${wallet.address}`])
      await read(path);
    await sleep(50);
  }
  socket.close();

  t.equal(backwards, 0, 'no slot goes back');
  t.ok(receipts > SECONDS * 10, `${receipts} receipts verify`);
  t.equal((await get('/network')).status, 200);
  t.match((await get('/health')).json.result, { status: 'ok', cluster });
  t.match((await rpc({ method: 'getBalance', params: [wallet.address] })).json.result.context.apiVersion, /^\d/);
  const gaps = frames.filter(({ result, slot }, i) => {
    const before = frames[i - 1]?.result;
    return slot !== result.slot || (before !== undefined && (result.seq !== before.seq + 1 || slot < before.slot));
  });
  t.strictSame(gaps, [], `${frames.length} frames, none missing, none going back`);

  const lastSlot = Math.max(...said.map(({ slot }) => slot));
  while ((await ask<number>(url, 'getSlot', [{ commitment: 'finalized' }])) < lastSlot) await sleep(500);
  const ledger = await readLedger(url, firstSlot, lastSlot);
  for (const commitment of COMMITMENTS) {
    const claims = said.filter((claim) => claim.commitment === commitment);
    const wrong = claims.filter(({ account, slot, lamports }) => lamports !== ledger.balance(account, slot));
    t.strictSame(wrong.slice(0, 5), [], `${claims.length} ${commitment} balances are what the blocks record`);
  }
});
