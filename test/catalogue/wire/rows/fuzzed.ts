import { inTurn } from '../../../support/in-turn.ts';
import { anyone, Line } from '../../../support/line.ts';
import { fenceOf } from '../../../support/raw.ts';
import { type Finding, none, shown } from '../../row.ts';
import { batches, packet } from '../fuzz.ts';
import { grownBy, type Row, times } from '../row.ts';
import { onStage, type Stage } from '../stage.ts';

const AT_ONCE = 256;
const LIMIT_MS = 12_000;
const PATIENCE_MS = 8000;
/** Before memory is compared, all that grows once has to have grown. */
const WARM_UP = 0.2;
/** Of so many that are left without an answer one is watched until it is closed. */
const WATCHED = 50;

const QUOTA = ['limit', 'remaining', 'reset'].map((name) => new RegExp(`\\r\\nx-ratelimit-${name}: \\d+\\r\\n`, 'i'));

/** What is kept on purpose is kept small here, so that it is full before memory is compared. */
const SMALL = ['cache.bytes=4194304', 'limits.identities=1000'];

/** Random and mutated requests, to every route, on a connection each. */
export const fuzzed: Row = {
  id: '7',
  what: 'random and mutated requests',
  run: (_, pace) => onStage(SMALL, (stage) => play(stage, times(pace, 5000, 30_000, 1_000_000))),
};

async function play({ url, gateway, get }: Stage, count: number): Promise<readonly Finding[]> {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
  const fence = fenceOf(url);
  const watched: Promise<boolean>[] = [];
  let [answered, bare, unmetered, silent] = [0, 0, 0, 0];
  const send = (seed: number, count: number): Promise<void> =>
    inTurn(batches(packet, seed, count), AT_ONCE, async (packet, i) => {
      const line = await Line.open(url, anyone(i));
      line.write(packet);
      await fence.pass();
      const text = line.text.replace(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+/, '');
      if (text === '') silent++;
      else if (text.includes('<i>uWebSockets')) bare++;
      else if (isMetered(text)) answered++;
      else {
        unmetered++;
        console.error(`   no quota: ${JSON.stringify(text.slice(0, 300))} for ${JSON.stringify(packet.toString())}`);
      }
      if (line.text === '' && !line.closed && silent % WATCHED === 0) watched.push(isEnded(line));
      else line.cut();
    });
  await send(seed, count * WARM_UP);
  const before = await gateway.rss();
  await send(seed + count, count * (1 - WARM_UP));
  const hanging = (await Promise.all(watched)).filter((ended) => !ended).length;
  const after = await gateway.rss();
  return [
    shown('sent', count),
    shown('seed', String(seed)),
    shown('answered', answered),
    shown("by the engine's page", bare),
    shown('cut off or waited for', silent),
    none('without the three headers', unmetered),
    none(`of ${watched.length} watched, open after 12 s`, hanging),
    grownBy(before, after, 10),
    none('exits', (await get('/health')).status === 200 && gateway.ending === undefined ? 0 : 1),
  ];
}

/** Whether an answer has the three headers, integers all of them. */
function isMetered(text: string): boolean {
  const head = text.slice(0, text.indexOf('\r\n\r\n') + 2);
  return QUOTA.every((header) => header.test(head));
}

/** Whether it is answered or closed in time. */
function isEnded(line: Line): Promise<boolean> {
  return new Promise((resolve) => {
    const late = setTimeout(() => end(false), LIMIT_MS + PATIENCE_MS);
    const end = (inTime: boolean): void => {
      clearTimeout(late);
      line.cut();
      resolve(inTime);
    };
    line.socket.once('data', () => end(true)).once('close', () => end(true));
  });
}
