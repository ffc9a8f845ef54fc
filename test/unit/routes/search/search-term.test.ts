import t, { type Test } from 'tap';
import { searchTerm } from '../../../../src/routes/search/search-term.ts';

const A = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
const B = '9KkDpvUQRqXjiuyMFcy1CwqrxLwDcGGUR2Cap2Qt7bU7';
const S = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoTjF3ETpzxuMiANC5cKd6dnVoQtn';
const BASE64_A = Buffer.from(A).toString('base64');

/** Tells what a text refers to: type and id, or the reason why it refers to nothing. */
function told(text: string): string {
  try {
    const term = searchTerm.parse(text, 'q');
    if (term.type === 'name') return `name ${term.known.name} ${term.known.addresses[0]}`;
    return `${term.type} ${term.type === 'domain' ? term.domain.name : term.id}`;
  } catch (thrown) {
    return String((thrown as Error).message);
  }
}

/** Compares what texts refer to with what they should, all at once. */
function check(t: Test, expected: Readonly<Record<string, string>>): void {
  t.strictSame(Object.fromEntries(Object.keys(expected).map((text) => [text, told(text)])), expected);
}

t.test('a URL of an explorer, a market or a wallet stands for the subject of its page', async (t) => {
  check(t, {
    [`https://explorer.solana.com/address/${A}/tokens?cluster=devnet`]: `address ${A}`,
    [`https://explorer.solana.com/tx/${S}/inspect`]: `signature ${S}`,
    [`https://explorer.solana.com/tx/inspector?squadsTx=${A}`]: `address ${A}`,
    'https://explorer.solana.com/epoch/580?cluster=testnet': 'epoch 580',
    'https://explorer.solana.com/block/361774429': 'slot 361774429',
    [`https://explorer.solana.com/?cluster=custom&customUrl=http%3A%2F%2F${B}&q=${A}`]: `address ${A}`,
    [`https://solscan.io/account/${A}?cluster=devnet#transfers`]: `address ${A}`,
    [`https://solscan.io/token/${A}#holders`]: `address ${A}`,
    [`https://solana.fm/address/${A}/transactions?cluster=mainnet-alpha`]: `address ${A}`,
    [`https://solanabeach.io/transaction/${S}`]: `signature ${S}`,
    [`https://xray.helius.xyz/account/${A}?network=mainnet`]: `address ${A}`,
    [`https://web3.okx.com/explorer/solana/tx/${S}`]: `signature ${S}`,
    [`https://www.oklink.com/sol/block/445000000`]: 'slot 445000000',
    [`https://dexscreener.com/solana/${B}?maker=${A}`]: `address ${B}`,
    [`https://www.geckoterminal.com/solana/pools/${B}?utm_source=x`]: `address ${B}`,
    [`https://birdeye.so/token/${A}?chain=solana`]: `address ${A}`,
    [`https://www.dextools.io/app/en/solana/pair-explorer/${B}?t=1`]: `address ${B}`,
    [`https://jup.ag/swap/SOL-${A}`]: `address ${A}`,
    [`https://jup.ag/swap?sell=So11111111111111111111111111111111111111112&buy=${A}`]: `address ${A}`,
    [`https://jup.ag/tokens/${A}`]: `address ${A}`,
    [`https://raydium.io/swap/?inputMint=sol&outputMint=${A}`]: `address ${A}`,
    [`https://pump.fun/${A}`]: `address ${A}`,
    [`https://pump.fun/coin/${A}`]: `address ${A}`,
    [`https://magiceden.io/item-details/${A}?name=x`]: `address ${A}`,
    [`https://magiceden.io/u/${A}`]: `address ${A}`,
    [`https://www.tensor.trade/item/${A}`]: `address ${A}`,
    [`https://www.tensor.trade/portfolio?wallet=${A}&portSlug=x`]: `address ${A}`,
    [`https://phantom.com/tokens/solana/${A}?referralId=${B}`]: `address ${A}`,
    [`https://phantom.app/ul/browse/${encodeURIComponent(`https://jup.ag/tokens/${A}`)}?ref=x`]: `address ${A}`,
    [`https://app.squads.so/squads/${A}/home`]: `address ${A}`,
    [`https://app.squads.so/squads/${A}/transactions/${B}`]: `address ${B}`,
    [`https://v3.squads.so/dashboard/${BASE64_A}`]: `address ${A}`,
    [`https://gmgn.ai/sol/token/HBlBl7CI_${A}`]: `address ${A}`,
    [`https://axiom.trade/t/${A}/@x`]: `address ${A}`,
    [`https://t.me/bot?start=ca_${A}`]: `address ${A}`,
    [`https://example.com/#/tx/${S}`]: `signature ${S}`,
    [`http://127.0.0.1:8787/api/v1/address/${A}/history?before=${S}`]: `address ${A}`,
    [`localhost:8787/api/v1/block/7`]: 'slot 7',
    [`/api/v1/token/${A}/holders?page=2`]: `address ${A}`,
    'https://www.sns.id/domain/vector.sol': 'domain vector.sol',
  });
});

t.test('a payment request stands for its recipient', async (t) => {
  check(t, {
    [`solana:${A}`]: `address ${A}`,
    [`solana:${A}?amount=0.01&spl-token=${B}&reference=${B}&label=x`]: `address ${A}`,
    [`SOLANA:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${A}`]: `address ${A}`,
  });
});

t.test('what encloses a text, follows it or labels it is no part of it', async (t) => {
  check(t, {
    [`"${A}"`]: `address ${A}`,
    [`(${A}).`]: `address ${A}`,
    [`“${A}”,`]: `address ${A}`,
    [`[${S}]`]: `signature ${S}`,
    [`<https://solscan.io/tx/${S}>.`]: `signature ${S}`,
    [`[tx](https://solscan.io/tx/${S})`]: `signature ${S}`,
    [`owner: ${A}`]: `address ${A}`,
    [`CA:${A}`]: `address ${A}`,
    [`please look at ${S}, it failed`]: `signature ${S}`,
    'send it to vector.sol, thanks': 'domain vector.sol',
  });
});

t.test('a number is a slot in any spelling, and an epoch if it says so', async (t) => {
  check(t, {
    '445,000,000': 'slot 445000000',
    '#445,000,000.': 'slot 445000000',
    '#445000000': 'slot 445000000',
    '445 000 000': 'slot 445000000',
    "445'000'000": 'slot 445000000',
    '445.000.000': 'slot 445000000',
    'Slot: 445_000_000': 'slot 445000000',
    'block #445,000,000': 'slot 445000000',
    'epoch 580': 'epoch 580',
    '18446744073709551615': 'slot 18446744073709551615',
    '18446744073709551616': '18446744073709551616 is above 2^64 - 1, so it is no slot',
  });
});

t.test('tickers and programs are found by the names that are known', async (t) => {
  check(t, {
    usdc: 'name USDC EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    $BONK: `name BONK ${A}`,
    jupiter: 'name Jupiter JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4',
    'magic eden': 'name Magic Eden M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K',
    'pump.fun': 'name Pump.fun 6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
    'System Program': 'name System 11111111111111111111111111111111',
  });
});

t.test('what cannot be found is told why', async (t) => {
  const sites =
    'this site writes addresses in lower case, from which they cannot be told: copy the address from its page';
  const several = 'the text names several addresses or signatures: search for one';
  const unknown =
    "q must be an address, a signature, a slot, an epoch, a .sol name, a known ticker or program, or an explorer's URL";
  check(t, {
    'toly.bonk': 'names that end in .bonk are not resolved: only .sol names are',
    'Example.Backpack': 'names that end in .backpack are not resolved: only .sol names are',
    [`https://dexscreener.com/solana/${B.toLowerCase()}`]: sites,
    [`${A} and ${B}`]: several,
    'https://example.com/': unknown,
    'https://etherscan.io/address/0xC336F8408557272646D192628DC3F554b654B21A': unknown,
    'https://example.com/page/580': unknown,
    'block height 580': unknown,
    '12.5': unknown,
    '-1': unknown,
    '""': unknown,
    'x y z': unknown,
  });
});

t.test('the longest texts are classified in no time, whatever they are made of', async (t) => {
  const parts = [
    '1',
    ' ',
    '1 ',
    ',000',
    '.a',
    '(',
    '/',
    '/1',
    '%',
    '?a=1&',
    `${A} `,
    `${A}/`,
    '$',
    '.sol',
    'a.sol ',
    "'",
  ];
  const tooSlow: string[] = [];
  for (const part of parts) {
    for (const start of ['', '1', 'https://x/', 'solana:', 'slot ']) {
      const text = (start + part.repeat(2048)).slice(0, 2048);
      const before = process.cpuUsage();
      told(text);
      const { user, system } = process.cpuUsage(before);
      if (user + system > 50_000) tooSlow.push(`${start}${part}: ${user + system} µs`);
    }
  }
  t.strictSame(tooSlow, []);
  t.equal(told('1'.repeat(2049)), 'q must have at most 2048 characters');
});
