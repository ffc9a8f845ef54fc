// Follows a balance: pays for no body that it has, never goes back, waits as Retry-After says: node bot.ts [URL] [ROUNDS]
import { createClient, type Read, type Result, SlotgateError } from 'slotgate-client';

const [, , url = 'http://127.0.0.1:8787', rounds = 'Infinity'] = process.argv;
const addr = 'ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ';
const PAUSE_MS = 400;

const client = createClient({ url });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let last: Read<Result<'/balance/:addr'>> | undefined;

for (let round = 0; round < Number(rounds); round++) {
  try {
    // After a transaction of your own, `minSlot` is the slot in which it was confirmed.
    const options = last === undefined ? {} : { since: last, minSlot: last.slot };
    last = await client.get('/balance/:addr', { addr }, { ...options, attempts: 1 });
    console.log(last.slot, last.unchanged ? 'unchanged' : `${last.result.sol} SOL`);
    await sleep(PAUSE_MS);
  } catch (error) {
    // 429 and 503 name the pause; with more `attempts` the client waits by itself.
    if (!(error instanceof SlotgateError) || error.retryAfterMs === null) throw error;
    console.log(`${error.code}: again in ${error.retryAfterMs} ms`);
    await sleep(error.retryAfterMs);
  }
}
