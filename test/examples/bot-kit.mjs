// A bot on @solana/kit: only the two addresses name slotgate, which has `rpc.profile` set to `standard`.
// node bot-kit.mjs [HTTP] [WEBSOCKET] [CHANGES]
import { address, createSolanaRpc, createSolanaRpcSubscriptions } from '@solana/kit';
import { createRecentSignatureConfirmationPromiseFactory } from '@solana/transaction-confirmation';

const [, , http = 'http://127.0.0.1:8787/api/v1/rpc', ws = 'ws://127.0.0.1:8787/api/v1/rpc', changes = '3'] = process.argv;
const rpc = createSolanaRpc(http);
const rpcSubscriptions = createSolanaRpcSubscriptions(ws);
const wallet = address('ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ');
const tokenProgram = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const commitment = 'confirmed';

const { value: lamports } = await rpc.getBalance(wallet, { commitment }).send();
console.log(`balance ${lamports}`);

const { value: tokens } = await rpc
  .getTokenAccountsByOwner(wallet, { programId: tokenProgram }, { commitment, encoding: 'jsonParsed' })
  .send();
for (const { account } of tokens) {
  const { mint, tokenAmount } = account.data.parsed.info;
  console.log(`token ${mint} ${tokenAmount.uiAmountString}`);
}

// A transaction that was sent over another connection is confirmed over this one.
const [newest] = await rpc.getSignaturesForAddress(wallet, { commitment, limit: 1 }).send();
const confirm = createRecentSignatureConfirmationPromiseFactory({ rpc, rpcSubscriptions });
await confirm({ signature: newest.signature, commitment, abortSignal: AbortSignal.timeout(30_000) });
console.log(`confirmed ${newest.signature}`);

const end = new AbortController();
const notifications = await rpcSubscriptions
  .accountNotifications(wallet, { commitment, encoding: 'base64' })
  .subscribe({ abortSignal: end.signal });
let seen = 0;
for await (const { context, value } of notifications) {
  console.log(`changed at ${context.slot} to ${value.lamports}`);
  if (++seen === Number(changes)) break;
}
end.abort();
process.exit(); // kit keeps its WebSocket open
