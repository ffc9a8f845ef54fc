import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { startStepped, waitFor } from '../support/harness.ts';

/** The false finalized accounts that the node returns. */
let lie: ((answer: any) => void) | undefined;

/** Starts a proxy in front of a node that changes its responses. */
async function liar(url: string): Promise<string> {
  const server = createServer((req, res) => {
    const pass = async (body: string): Promise<void> => {
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      const json: any = await answer.json();
      const { method, params } = JSON.parse(body);
      if (method === 'getMultipleAccounts' && params[1].commitment === 'finalized') lie?.(json);
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(json));
    };
    text(req)
      .then(pass)
      .catch(() => res.destroy()); // one of the sockets has closed
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

const { get, gateway, cluster, step, logged } = await startStepped(t, { proxyUrl: liar });
const target = `/balance/${WALLETS[0].address}?commitment=finalized`;
const conflicts = () => logged.filter(({ message }) => message === 'two results for one finalized slot');
const proven = (body: string) =>
  verifyReceipt(body, {
    publicKeys: [gateway.publicKey],
    cluster: cluster.genesisHash,
    request: `GET /api/v1${target}`,
  });

t.test('a node that changes a finalized result gets no second exact receipt for it', async (t) => {
  await step(40, 4); // beyond the first finalized slot that this process observed
  const truth = await get(target);
  t.equal(truth.json.receipt.claim, 'exact/1');
  lie = ({ result }) => {
    result.context.slot = truth.json.slot;
    for (const account of result.value) account.lamports += 1;
  };
  let lied = truth;
  await waitFor(async () => {
    await step();
    lied = await get(target);
    return lied.text !== truth.text;
  }, 'the lie');
  t.equal(lied.json.slot, truth.json.slot);
  t.not(lied.json.result.lamports, truth.json.result.lamports, 'it is passed on');
  t.equal(proven(lied.text).receipt.claim, 'observed/1', 'but it is not signed as exact');
  t.ok(gateway.conflicts >= 1); // once per sealing
  t.equal(conflicts().length, gateway.conflicts);
  t.match(conflicts()[0], {
    level: 'error',
    fields: { slot: truth.json.slot, signed: truth.json.receipt.digest, refused: lied.json.receipt.digest },
  });

  lie = undefined;
  await step(16, 4); // the false answer may be served while it is refreshed
  const again = await get(target);
  t.ok(again.json.slot > truth.json.slot);
  t.equal(proven(again.text).receipt.claim, 'exact/1');
});
