import type { EngineName } from '../../../../src/gateway/http/engine/engine.ts';
import { seededRng } from '../../../../src/localnet/traffic/seeded-rng.ts';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import type { GatewayProcess } from '../../../support/gateway-process.ts';
import { exchange } from '../../../support/raw-http.ts';
import { OP, parseFrames } from '../../../support/websocket-frame.ts';
import { expectNone, type Finding, info } from '../../findings.ts';
import { statuses } from '../http/http-case.ts';
import { VALID_REQUESTS, type ValidRequest } from '../http/valid-requests.ts';
import { overEachEngine } from '../over-each-engine.ts';
import { countFor, type RunLength, type WireRow } from '../wire-row.ts';

const CONCURRENT = 200;

/** Settings under which no answer depends on the requests before, or on the machine's other work. */
const SETTINGS = [
  'limits.free.messages=1000000',
  'limits.free.streams=1000000',
  'limits.free.inFlight=10000',
  'limits.inFlight=10000',
  'limits.loopDelayMs=60000',
];

/** The positions at which one part of a valid request is cut, in order. */
interface Cut {
  readonly part: number;
  readonly at: readonly number[];
}

export const cutRequests: WireRow = {
  id: 'cut-requests',
  title: `${VALID_REQUESTS.length} valid requests, cut at every byte`,
  async run(testbed, runLength) {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
    const findings = await overEachEngine(testbed, { set: SETTINGS }, (engine, gateway) =>
      runOver(engine, gateway, runLength, seed),
    );
    return runLength === 'short' ? findings : [info('seed', String(seed)), ...findings];
  },
};

async function runOver(
  engine: EngineName,
  gateway: GatewayProcess,
  runLength: RunLength,
  seed: number,
): Promise<readonly Finding[]> {
  const { url } = gateway;
  const rng = seededRng(seed);
  let [tried, refused, unexpected] = [0, 0, 0];
  for (const valid of VALID_REQUESTS) {
    const whole = await outcomeOf(url, valid, valid.parts);
    const known = engine === 'uws-pack' ? valid.parts.map(positionsThatUwsPackRefuses) : [];
    if (known[0] !== undefined) console.log(`   uws-pack refuses ${valid.title}, cut at ${[...known[0]].join(' ')}`);
    const random = Array.from({ length: countFor(runLength, 0, 100, 2000) }, () => threeParts(valid, rng.intBelow));
    await forEachConcurrent([...everyCut(valid), ...random], CONCURRENT, async (cut) => {
      const outcome = await outcomeOf(url, valid, packetsOf(valid, cut));
      const isKnown = cut.at.some((at) => known[cut.part]?.has(at));
      tried++;
      if (outcome !== whole) refused++;
      if (outcome === (isKnown ? REFUSAL_OF_UWS_PACK : whole)) return;
      unexpected++;
      console.error(`   ${engine}: ${valid.title}, part ${cut.part} cut at ${cut.at}: ${outcome}, whole: ${whole}`);
    });
  }
  return [
    info(`${engine}: tried`, tried),
    info('refused', refused),
    expectNone(engine === 'uws-pack' ? 'of which not known, or known and answered' : 'of which not known', unexpected),
    expectNone('exceptions', gateway.defectLogLines.length + (gateway.exitReason === undefined ? 0 : 1)),
  ];
}

/** Sends packets; returns the statuses, the pongs, and whether the connection was closed, in one text. */
async function outcomeOf(url: string, valid: ValidRequest, packets: readonly Buffer[]): Promise<string> {
  const exchanged = await exchange(url, packets, { responses: valid.responses });
  const outcome: (string | number)[] = [...statuses(exchanged)];
  if (valid.parts.length > 1) outcome.push(...pongsBehindHandshake(exchanged.text));
  if (exchanged.closed) outcome.push('closed');
  return outcome.join(' ');
}

function pongsBehindHandshake(text: string): readonly string[] {
  const frames = parseFrames(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1'));
  return frames.filter(({ opcode }) => opcode === OP.pong).map(({ payload }) => `pong ${payload}`);
}

const everyCut = ({ parts }: ValidRequest): readonly Cut[] =>
  parts.flatMap(({ length }, part) => Array.from({ length: length - 1 }, (_, i) => ({ part, at: [i + 1] })));

/** Cuts a part in three. */
function threeParts({ parts }: ValidRequest, intBelow: (bound: number) => number): Cut {
  const part = intBelow(parts.length);
  const length = parts[part]?.length ?? 0;
  const first = 1 + intBelow(length - 2);
  return { part, at: [first, first + 1 + intBelow(length - first - 1)] };
}

const packetsOf = ({ parts }: ValidRequest, { part, at }: Cut): readonly Buffer[] =>
  parts.flatMap((bytes, i) => {
    if (i !== part) return [bytes];
    return [0, ...at].map((start, k) => bytes.subarray(start, at[k]));
  });

/** What uws-pack answers at the positions below, also in place of the answers to pipelined requests before. */
const REFUSAL_OF_UWS_PACK = '505 closed';

/**
 * Returns the positions at which uws-pack refuses cut bytes: behind the blank that ends the method, and inside of
 * ` HTTP/1.1\r\n` (uNetworking/uWebSockets#1776).
 */
function positionsThatUwsPackRefuses(bytes: Buffer): ReadonlySet<number> {
  const positions = new Set<number>();
  for (const line of bytes.toString('latin1').matchAll(REQUEST_LINE)) {
    const [text, method = ''] = line;
    positions.add(line.index + method.length + 1);
    for (let before = 1; before < VERSION.length; before++) positions.add(line.index + text.length - before);
  }
  return positions;
}

const VERSION = ' HTTP/1.1\r\n';
const REQUEST_LINE = /([A-Z]+) [^ ]* HTTP\/1\.1\r\n/g;
