import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { loopbackAddress, RawConnection } from '../../../support/raw-connection.ts';
import { barrierOf } from '../../../support/raw-http.ts';
import { expectNone, type Finding, info } from '../../findings.ts';
import { batches, packet } from '../fuzz-generators.ts';
import { countFor, expectGrowth, type WireRow } from '../wire-row.ts';
import { type WireTestbed, withWireTestbed } from '../wire-testbed.ts';

const CONCURRENT = 256;
const LIMIT_MS = 12_000;
const PATIENCE_MS = 8000;
/** Packets before memory is compared: what grows once, such as compiled code, has grown by then (measured: all but 0.6 MiB). */
const WARM_UP = 5000;
/** One in this many unanswered connections is watched until it is closed. */
const WATCHED = 50;

const QUOTA = ['limit', 'remaining', 'reset'].map((name) => new RegExp(`\\r\\nx-ratelimit-${name}: \\d+\\r\\n`, 'i'));

/** Settings with small caches, so that they are full before memory is compared. */
const SMALL_CACHES = ['cache.bytes=4194304', 'limits.trackedAddresses=1000'];

export const requestFuzzing: WireRow = {
  id: 'request-fuzzing',
  title: 'random and mutated requests',
  run: (_, runLength) =>
    withWireTestbed(SMALL_CACHES, (testbed) => runFuzzing(testbed, countFor(runLength, 10_000, 30_000, 1_000_000))),
};

async function runFuzzing({ url, gateway, get }: WireTestbed, count: number): Promise<readonly Finding[]> {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
  const fence = barrierOf(url);
  const watched: Promise<boolean>[] = [];
  let [answered, bare, unmetered, silent] = [0, 0, 0, 0];
  const send = (seed: number, count: number): Promise<void> =>
    forEachConcurrent(batches(packet, seed, count), CONCURRENT, async (packet, i) => {
      const connection = await RawConnection.open(url, loopbackAddress(i));
      connection.write(packet);
      await fence.wait();
      const text = connection.text.replace(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+/, '');
      if (text === '') silent++;
      else if (text.includes('<i>uWebSockets')) bare++;
      else if (hasRateHeaders(text)) answered++;
      else {
        unmetered++;
        console.error(`   no quota: ${JSON.stringify(text.slice(0, 300))} for ${JSON.stringify(packet.toString())}`);
      }
      if (connection.text === '' && !connection.closed && silent % WATCHED === 0) watched.push(endsInTime(connection));
      else connection.reset();
    });
  await send(seed, WARM_UP);
  const before = await gateway.memory();
  await send(seed + count, count - WARM_UP);
  const hanging = (await Promise.all(watched)).filter((ended) => !ended).length;
  const after = await gateway.memory();
  return [
    info('sent', count),
    info('seed', String(seed)),
    info('answered', answered),
    info("by the engine's page", bare),
    info('cut off or waited for', silent),
    expectNone('without the three headers', unmetered),
    expectNone(`of ${watched.length} watched, open after 12 s`, hanging),
    ...expectGrowth(before, after, { kept: 2.5, resident: 40 }),
    expectNone('exits', (await get('/health')).status === 200 && gateway.exitReason === undefined ? 0 : 1),
  ];
}

/** Returns whether an answer has the three headers with integers. */
function hasRateHeaders(text: string): boolean {
  const head = text.slice(0, text.indexOf('\r\n\r\n') + 2);
  return QUOTA.every((header) => header.test(head));
}

/** Returns whether a connection is answered or closed in time. */
function endsInTime(connection: RawConnection): Promise<boolean> {
  return new Promise((resolve) => {
    const late = setTimeout(() => end(false), LIMIT_MS + PATIENCE_MS);
    const end = (inTime: boolean): void => {
      clearTimeout(late);
      connection.reset();
      resolve(inTime);
    };
    connection.socket.once('data', () => end(true)).once('close', () => end(true));
  });
}
