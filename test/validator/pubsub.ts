import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import t from 'tap';
import { CLOCK_SYSVAR } from '../../src/shared/domain/well-known-addresses.ts';
import { waitFor } from '../support/harness.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { openFundedWallet } from './funded-wallet.ts';
import { GATEWAYS, wsUrlOf } from './gateways-under-test.ts';
import { compareRecordings, Recording } from './pubsub-recording.ts';
import { CLIENTS, type Endpoint, type WatchingClient } from './watching-clients.ts';

// Runs kit and @solana/web3.js, unchanged, at a real validator, whose URL is the last argument, and through gateways over it at the
// same time: one alone, one over the validator's Geyser feed, one with workers; GATEWAYS names others.
// Compares what all are notified of.

const url = process.argv.at(-1) ?? '';
const ROUNDS = Number(process.env['ROUNDS'] ?? 20);
const ALL = process.env['GEYSER_URL'] === undefined ? 'alone,workers' : 'alone,feed,workers';
const { GATEWAYS: WHICH = ALL } = process.env;
const PAYMENT = 1_000_000;
/** The slots until the transactions of the last round are final. */
const FINALITY_SLOTS = 40;
/** The longest time for that on a busy machine. */
const PATIENCE_MS = 300_000;

t.setTimeout(900_000);

t.test('kit and web3.js are notified through a gateway as by its node', async (t) => {
  const wallet = await openFundedWallet(url);
  const accounts = Array.from({ length: 3 }, () => bs58.encode(randomBytes(32)));
  const watched = {
    accounts: [...accounts, wallet.signer.address, CLOCK_SYSVAR],
    mentioned: wallet.signer.address,
  };
  await wallet.pay(accounts, PAYMENT);
  const endpoints: Record<string, Endpoint> = { node: { http: url, ws: wsUrlOf(url) } };
  const alarms: (() => readonly string[])[] = [];
  for (const which of WHICH.split(',')) {
    const gateway = await GATEWAYS[which]?.(t, url);
    if (gateway === undefined) throw new Error(`there is no gateway ${which}`);
    const http = `${gateway.url}/api/v1/rpc`;
    endpoints[which] = { http, ws: http.replace('http', 'ws') };
    alarms.push(gateway.alarms);
  }
  const running: (WatchingClient & {
    readonly client: string;
    readonly where: string;
    readonly recording: Recording;
  })[] = [];
  t.teardown(() => Promise.all(running.map(({ end }) => end())));
  for (const [client, start] of Object.entries(CLIENTS))
    for (const [where, endpoint] of Object.entries(endpoints)) {
      const recording = new Recording();
      running.push({ client, where, recording, ...(await start(endpoint, watched, recording)) });
    }
  const signatures: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await wallet.pay(accounts.slice(round % 3), PAYMENT + round);
    if (round % 4 === 0) {
      const signature = await rpcRequest<string>(url, 'requestAirdrop', [accounts[0], PAYMENT + round]);
      signatures.push(signature);
      await Promise.all(running.map(({ watchSignature }) => watchSignature(signature)));
    }
    await sleep(400);
  }
  const end = FINALITY_SLOTS + (await rpcRequest<number>(url, 'getSlot', [{ commitment: 'processed' }]));
  await waitFor(
    async () => (await rpcRequest<number>(url, 'getSlot', [{ commitment: 'finalized' }])) >= end,
    'finality',
    PATIENCE_MS,
  );
  const ofNode = (client: string): Recording =>
    running.find((each) => each.client === client && each.where === 'node')?.recording ?? new Recording();
  for (const { client, where, recording } of running.filter(({ where }) => where !== 'node')) {
    const node = ofNode(client);
    const kinds = client === 'kit' ? /^(account|logs)/ : /^(account|logs|signature)/; // kit drops what comes right after an answer
    for (const subject of node.subjects.filter((subject) => kinds.test(subject))) {
      if (subject.includes(CLOCK_SYSVAR)) continue; // it is never at rest
      const isCurrent = (): boolean => node.last(subject) === recording.last(subject);
      await waitFor(isCurrent).catch(() => t.fail(`${client} ${where}: the last notification of ${subject}`));
    }
    const { same, nearby, differences } = compareRecordings(node, recording, client === 'kit');
    t.comment(JSON.stringify({ client, where, same, nearby, differences: differences.length }));
    t.strictSame(differences.slice(0, 5), [], `${client} ${where}: notified as by the node`);
    for (const kind of ['account', 'logs', 'signature', 'slot', 'root'])
      t.ok((same[kind] ?? 0) + (nearby[kind] ?? 0), `${client} ${where}: ${kind} was compared`);
  }
  const falseClaims = alarms.flatMap((each) => each());
  t.strictSame(falseClaims, [], 'no claim was found to be false');
});
