import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hasRawEngine } from '../../../../bench/support/raw-engine.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { openConnections, RawConnection } from '../../../support/raw-connection.ts';
import { parseResponses } from '../../../support/raw-http.ts';
import { Bystanders } from '../../bystanders.ts';
import { expect, expectNone, type Finding, info } from '../../findings.ts';
import { get, request } from '../http/raw-request.ts';
import { countFor, expectAll, expectAtMost, type WireRow } from '../wire-row.ts';
import type { WireTestbed } from '../wire-testbed.ts';

const PATHS = ['/api/v1/health', '/api/v1/slot', '/x', '/api/v1/network'];
const CONNECTIONS = [1, 8, 100];
/** Requests that are written to each connection in one piece: about what an engine reads of one in a turn. */
const REQUESTS = 12_000;
/** Longest turn of the event loop, in CPU time of the main thread. */
const MAX_TURN_MS = 20;
/** Caches that other work empties make the same turn longer: the short run has to pass beside it. */
const BUSY_MACHINE_FACTOR = 3;
/** Requests of which an engine has read all before it refuses one: it then loses no answer by resetting the connection. */
const READ_REQUESTS = 1000;
/** Requests that an honest caller has in flight on a connection. */
const DEPTH = 16;
/** Time in which attackers must be answered or closed. */
const PATIENCE_MS = 60_000;
const QUIET_MS = 500;
const ATTACKER = '127.0.0.2';
const CONTROL = fileURLToPath(new URL('../unbudgeted-engine.js', import.meta.url));

export const pipelinedTurn: WireRow = {
  id: 'pipelined-turn',
  title: `${REQUESTS.toLocaleString('en')} requests in one piece on each of ${CONNECTIONS.join(', ')} connections`,
  async run(testbed, runLength) {
    const findings: Finding[] = [];
    const gateway = await start(testbed, undefined);
    const bystanders = new Bystanders({ url: gateway.url, hitTarget: '/health' });
    try {
      for (const path of PATHS) await attack(gateway, path, 8); // a process that has hardly run compiles its code
      await bystanders.nextP99Ms();
      await sleep(QUIET_MS);
      findings.push(info('p99 of a bystander without attack', await bystanders.nextP99Ms()));
      for (const path of PATHS)
        for (const count of CONNECTIONS) {
          await bystanders.nextP99Ms();
          const { longestMs } = await attack(gateway, path, count);
          const p99Ms = await bystanders.nextP99Ms();
          findings.push({
            ...expectAtMost(`${path} x ${count}: longest turn`, longestMs, MAX_TURN_MS, ' ms'),
            isTolerated: runLength === 'short' && longestMs <= BUSY_MACHINE_FACTOR * MAX_TURN_MS,
          });
          findings.push(info('p99 of a bystander', p99Ms));
        }
      for (const path of PATHS) {
        const { answers } = await attack(gateway, path, 1, READ_REQUESTS);
        findings.push(expect(`${path}: whole answers, to all or then a 429 that closes`, areWholeAnswers(answers)));
      }
      findings.push(expectNone('requests of bystanders that failed', bystanders.failed));
    } finally {
      await bystanders.stop();
      await gateway.close();
    }
    const rounds = countFor(runLength, 500, 10_000, 10_000);
    findings.push(expectAll(`${DEPTH} hits at a time: answered`, await honest(testbed.url, rounds), rounds * DEPTH));
    if (!(await hasRawEngine())) return [...findings, info('the bare engine', 'does not load here')];
    const control = await start(testbed, CONTROL);
    const { longestMs } = await attack(control, PATHS[0] ?? '', 8).finally(() => control.close());
    findings.push({
      ...expectAtMost('the bare engine', longestMs, MAX_TURN_MS, ' ms'),
      isMet: longestMs > MAX_TURN_MS,
    });
    return findings;
  },
};

const start = ({ cluster }: WireTestbed, main: string | undefined): Promise<GatewayProcess> =>
  GatewayProcess.start([`${cluster.url},${cluster.wsUrl}`], {
    main,
    set: ['limits.loopDelayMs=60000'],
    isLimited: true,
  });

/** Writes the requests, and waits until each connection is closed or has all answers. */
async function attack(server: GatewayProcess, path: string, count: number, requests = REQUESTS) {
  const packet = Buffer.from(request(`GET ${path}`).repeat(requests), 'latin1');
  const connections = await openConnections(server.url, count, () => ATTACKER);
  await server.report('measure', PATIENCE_MS);
  for (const connection of connections) connection.write(packet);
  const deadlineMs = performance.now() + PATIENCE_MS;
  const isOver = ({ closed, text }: RawConnection): boolean => closed || text.split('HTTP/1.1 ').length > requests;
  while (!connections.every(isOver) && performance.now() < deadlineMs) await sleep(QUIET_MS);
  const report = await server.report('measure', PATIENCE_MS);
  const answers = connections[0]?.text ?? '';
  for (const connection of connections) connection.reset();
  return { longestMs: report?.longestMs ?? Number.POSITIVE_INFINITY, answers };
}

function areWholeAnswers(text: string): boolean {
  const answers = parseResponses(text);
  if (answers.length === READ_REQUESTS) return true; // TCP cut the piece, and each part was within the budget of its turn
  const last = answers.at(-1);
  return answers.length > 1 && last?.status === 429 && /\r\nconnection: close/i.test(last.head);
}

/** Reads hits with several in flight on one connection; returns the number of answers. */
async function honest(url: string, rounds: number): Promise<number> {
  const packet = get().repeat(DEPTH);
  const connection = await RawConnection.open(url);
  let [answered, wake] = [0, (): void => {}];
  connection.socket.on('data', () => wake()).on('close', () => wake());
  for (let round = 0; round < rounds && !connection.closed; round++) {
    connection.text = '';
    connection.write(packet);
    while (countAnswers(connection) < DEPTH && !connection.closed)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    answered += countAnswers(connection);
  }
  connection.reset();
  return answered;
}

const countAnswers = ({ text }: RawConnection): number => text.split('HTTP/1.1 200 ').length - 1;
