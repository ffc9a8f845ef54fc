import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hasRawEngine } from '../../../../bench/support/raw-engine.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { loopbackAddress, openConnections, RawConnection } from '../../../support/raw-connection.ts';
import type { Finding } from '../../findings.ts';
import { get } from '../http/raw-request.ts';
import { overEachEngine } from '../over-each-engine.ts';
import { expectAll, type WireRow } from '../wire-row.ts';

const OPEN_FILES = 1024;
/** More than there is room for. */
const ATTACKERS = 1100;
const ATTACKER = '127.0.0.2';
const OTHERS = 100;
/** Others beside an engine alone, each of which may wait for all of its time. */
const CONTROL_OTHERS = 10;
/** Time in which another caller must be answered; a short run, beside other work, requires an answer. */
const MAX_MS = 1000;
const PAUSE_MS = 20;

/** Files, and connections of the attacker, where a bound of one address is met before that of all. */
const [MANY_FILES, MANY_ATTACKERS] = [4096, 1500];
const MAX_OF_ADDRESS = 1024;
const PATIENCE_MS = 20_000;

export const oneAddress: WireRow = {
  id: 'one-address',
  title: `one address holds ${ATTACKERS} connections, where ${OPEN_FILES} files may be open`,
  async run(testbed, runLength) {
    const withinMs = runLength === 'full' ? MAX_MS : PATIENCE_MS;
    const findings: Finding[] = [];
    const ofGateways = await overEachEngine(testbed, { maxOpenFiles: OPEN_FILES }, async (engine, { url }) => [
      expectAll(`${engine}: others answered within ${withinMs} ms`, await countAnswered(url, OTHERS, withinMs), OTHERS),
    ]);
    for (const control of (await hasRawEngine()) ? ['uws', 'node'] : ['node']) {
      const answered = await withBareEngine(control, OPEN_FILES, (url) => countAnswered(url, CONTROL_OTHERS, MAX_MS));
      findings.push({ text: `${control} alone: ${answered}/${CONTROL_OTHERS}`, isMet: answered !== CONTROL_OTHERS });
    }
    const { node, cluster } = testbed;
    const gateway = await GatewayProcess.start([`${node.url},${cluster.wsUrl}`], {
      set: ['http.engine=node'],
      maxOpenFiles: MANY_FILES,
    });
    const held = await countHeld(gateway.url).finally(() => gateway.close());
    findings.push(expectAll('node: held by one address', held, MAX_OF_ADDRESS));
    const heldAlone = await withBareEngine('node', MANY_FILES, countHeld);
    findings.push({ text: `node alone: ${heldAlone}`, isMet: heldAlone === MANY_ATTACKERS });
    return [...ofGateways, ...findings];
  },
};

const BARE_ENGINE = fileURLToPath(new URL('../unbudgeted-engine.js', import.meta.url));

async function withBareEngine<T>(engine: string, maxOpenFiles: number, body: (url: string) => Promise<T>): Promise<T> {
  const server = await GatewayProcess.start([], { main: BARE_ENGINE, set: [`http.engine=${engine}`], maxOpenFiles });
  return await body(server.url).finally(() => server.close());
}

/** Attacks, and returns how many others are answered in time beside it. */
async function countAnswered(url: string, others: number, withinMs: number): Promise<number> {
  const attackers = [...(await openConnections(url, ATTACKERS, () => ATTACKER))];
  for (const attacker of attackers) attacker.write(get());
  let [answered, isOver] = [0, false];
  const renewing = (async () => {
    while (!isOver) {
      const closed = attackers.findIndex((attacker) => attacker.closed);
      if (closed < 0) await sleep(PAUSE_MS);
      else {
        const renewed = await openInTime(url, ATTACKER, MAX_MS);
        if (renewed !== undefined) attackers[closed] = renewed;
      }
    }
  })();
  for (let i = 0; i < others; i++) {
    if (await isAnswered(url, loopbackAddress(i + 1000), withinMs)) answered++;
    await sleep(PAUSE_MS);
  }
  isOver = true;
  await renewing;
  for (const attacker of attackers) attacker.reset();
  return answered;
}

/** Returns how many connections of one address are open when each has been answered or closed. */
async function countHeld(url: string): Promise<number> {
  const attackers = await openConnections(url, MANY_ATTACKERS, () => ATTACKER);
  for (const attacker of attackers) attacker.write(get());
  const deadlineMs = performance.now() + PATIENCE_MS;
  do await sleep(PAUSE_MS);
  while (!attackers.every(({ closed, text }) => closed || text !== '') && performance.now() < deadlineMs);
  const held = attackers.filter(({ closed }) => !closed).length;
  for (const attacker of attackers) attacker.reset();
  return held;
}

async function isAnswered(url: string, localAddress: string, withinMs: number): Promise<boolean> {
  const connection = await openInTime(url, localAddress, withinMs);
  if (connection === undefined) return false;
  connection.write(get());
  const deadlineMs = connection.openedMs + withinMs;
  while (connection.text === '' && !connection.closed && performance.now() < deadlineMs) await sleep(1);
  connection.reset();
  return connection.text.startsWith('HTTP/1.1 200');
}

/** Opens a connection; returns undefined where nobody has a place for it. */
const openInTime = (url: string, localAddress: string, withinMs: number): Promise<RawConnection | undefined> =>
  Promise.race([RawConnection.open(url, localAddress), sleep(withinMs, undefined)]);
