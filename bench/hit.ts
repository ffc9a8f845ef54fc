import { report, runInterleaved } from './support/report.ts';
import { startGateway, startServer } from './support/server-process.ts';
import { requestsPerSecond } from './support/wrk.ts';

// Throughput of cache hits relative to the bare engine: the whole gateway over an idle cluster against the engine alone
// with the same bytes, each on one core, the load on another.

const WALLET = '11111111111111111111111111111111';
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 3);

const gateway = await startGateway();
const hot = `${gateway.url}/api/v1/balance/${WALLET}`;
await fetch(hot);
const raw = await startServer('bench/processes/bare-engine.js', [hot]);

const plain = { connections: 64, seconds: SECONDS };
const piped = { ...plain, pipelined: 16 };
const rates = await runInterleaved(ROUNDS, {
  prebuilt: () => requestsPerSecond(`${raw.url}/prebuilt`, plain),
  written: () => requestsPerSecond(`${raw.url}/written`, plain),
  gateway: () => requestsPerSecond(hot, plain),
  slot: () => requestsPerSecond(`${gateway.url}/api/v1/slot`, plain),
  pipedPrebuilt: () => requestsPerSecond(`${raw.url}/prebuilt`, piped),
  pipedWritten: () => requestsPerSecond(`${raw.url}/written`, piped),
  // The engine closes a connection that sends more while an answer is read: the key has to be cached.
  pipedGateway: () => requestsPerSecond(hot, { ...plain, seconds: 1 }).then(() => requestsPerSecond(hot, piped)),
});

console.log(`${'64 connections, medians of'.padEnd(26)} ${ROUNDS} x ${SECONDS} s`);
report('bare engine, same bytes, headers as one block', rates.prebuilt, 'req/s', 1);
report('bare engine, same bytes, headers one by one', rates.written, 'req/s', rates.written / rates.prebuilt);
report('GET /balance, cache hit, by IP', rates.gateway, 'req/s', rates.gateway / rates.prebuilt, 'goal 0.90');
report('GET /slot, cache hit, by IP', rates.slot, 'req/s', rates.slot / rates.prebuilt, 'goal 0.90');
console.log('the same with 16 requests in flight on each connection');
report('bare engine, headers one by one', rates.pipedWritten, 'req/s', 1);
report('bare engine, headers as one block', rates.pipedPrebuilt, 'req/s', rates.pipedPrebuilt / rates.pipedWritten);
report(
  'GET /balance, cache hit, by IP',
  rates.pipedGateway,
  'req/s',
  rates.pipedGateway / rates.pipedWritten,
  'goal 0.70',
);
raw.stop();
gateway.stop();
process.exit();
