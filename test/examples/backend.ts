// Balances for a shop's books, each with the evidence to keep: node backend.ts [URL]
import { createClient, ReceiptError, SlotgateError } from 'slotgate-client';

const [, , url = 'http://127.0.0.1:8787'] = process.argv;

// Here the first key and cluster are believed. Where it matters, pin both: { url, publicKey, cluster }.
const client = createClient({ url });
const addresses = ['9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o', '11111111111111111111111111111111'];

try {
  const { result, slot, body } = await client.get('/balances', { addresses, commitment: 'finalized' }, { nonce: true });
  for (const { address, lamports, sol } of result) console.log(address, lamports, `(${sol} SOL)`);
  console.log(`all at slot ${slot}; evidence of ${body.length} bytes`); // keep `body`: anybody can verify it, for years
} catch (error) {
  if (error instanceof ReceiptError) console.error(`not proven: ${error.code}`);
  else if (error instanceof SlotgateError) console.error(`refused: ${error.code}, ${error.message}`);
  else throw error;
  process.exitCode = 1;
}
