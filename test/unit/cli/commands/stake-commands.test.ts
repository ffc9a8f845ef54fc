import { ed25519 } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import t from 'tap';
import { runSlotgate, type SlotgateOutput } from '../../../support/run-slotgate.ts';

const SECRET = new Uint8Array(32).fill(5);
const WALLET = bs58.encode(ed25519.getPublicKey(SECRET));
const HOST = ['--host', 'gateway.example'];

const sign = (text: string): string => bs58.encode(ed25519.sign(new TextEncoder().encode(text), SECRET));

const stake = (...args: readonly string[]): Promise<SlotgateOutput> => runSlotgate(['stake', ...args]);

t.test('the printed text is the one to sign, and its signature is accepted', async (t) => {
  const text = await stake('text', '--wallet', WALLET, ...HOST);
  t.equal(text.code, 0);
  const [, issued = ''] = /^gateway\.example stake proof v1\nwallet: \w+\nissued: (\d+)$/.exec(text.out) ?? [];
  t.equal(text.err, `X-Stake-Wallet: ${WALLET}\nX-Stake-Issued: ${issued}\n`);
  const proof = ['--wallet', WALLET, '--issued', issued, '--signature', sign(text.out)];
  t.match(await stake('check', ...proof, ...HOST), { code: 0, out: 'the stake proof is valid\n' });
  const bySetting = await stake('check', ...proof, '--set', 'stake.host=gateway.example');
  t.equal(bySetting.code, 0);
  const elsewhere = await stake('check', ...proof, '--host', 'other.example');
  t.match(elsewhere, { code: 1, out: '', err: 'the stake proof is not valid: the wallet did not sign this text' });
});

t.test('a time can be given, and an expired one is rejected', async (t) => {
  const { out } = await stake('text', '--wallet', WALLET, '--issued', '5', ...HOST);
  t.match(out, /issued: 5$/);
  const proof = ['--wallet', WALLET, '--issued', '5', '--signature', sign(out)];
  t.match(await stake('check', ...proof, ...HOST), { code: 1, err: /more than a day ago/ });
});

t.test('missing and invalid options are reported', async (t) => {
  t.match(await stake('text', '--wallet', WALLET), {
    code: 64,
    err: /--host or the setting stake\.host/,
  });
  t.match(await stake('text', '--wallet', 'me', ...HOST), { code: 64, err: /not an address/ });
  t.match(await stake('text', '--wallet', WALLET, '--issued', '1.5', ...HOST), {
    code: 64,
    err: /not a time/,
  });
  t.match(await stake('text', ...HOST), { code: 64, err: /--wallet/ });
  t.match(await stake(), { code: 64, err: 'stake needs one of text, check' });
});
