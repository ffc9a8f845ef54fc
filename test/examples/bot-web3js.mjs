// A bot on @solana/web3.js 1.x: only the address names slotgate, which has `rpc.profile` set to `standard`.
// node bot-web3js.mjs [HTTP] [WEBSOCKET] [CHANGES]
import { Connection, PublicKey } from '@solana/web3.js';

const [, , http = 'http://127.0.0.1:8787/api/v1/rpc', wsEndpoint, changes = '3'] = process.argv;
// Without `wsEndpoint` web3.js connects to the port after the one of the address, where slotgate serves pubsub, too.
const connection = new Connection(http, { commitment: 'confirmed', wsEndpoint });
const wallet = new PublicKey('ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ');
const programId = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');

console.log(`balance ${await connection.getBalance(wallet)}`);

const { value: tokens } = await connection.getParsedTokenAccountsByOwner(wallet, { programId });
for (const { account } of tokens) {
  const { mint, tokenAmount } = account.data.parsed.info;
  console.log(`token ${mint} ${tokenAmount.uiAmountString}`);
}

// web3.js reads several transactions in one JSON-RPC batch.
const listed = await connection.getSignaturesForAddress(wallet, { limit: 5 });
const signatures = listed.map(({ signature }) => signature);
const transactions = await connection.getParsedTransactions(signatures, { maxSupportedTransactionVersion: 0 });
console.log(`batch ${transactions.filter((transaction) => transaction !== null).length} of ${signatures.length}`);

// A transaction that was sent over another connection is confirmed over this one.
const [signature] = signatures;
const { value } = await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
console.log(`confirmed ${signature} ${JSON.stringify(value.err)}`);

let seen = 0;
await new Promise((resolve) => {
  connection.onAccountChange(wallet, ({ lamports }, { slot }) => {
    console.log(`changed at ${slot} to ${lamports}`);
    if (++seen === Number(changes)) resolve();
  });
});
process.exit(); // web3.js keeps its WebSocket open
