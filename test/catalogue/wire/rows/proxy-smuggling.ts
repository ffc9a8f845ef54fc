import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { Pool } from 'undici';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { RawConnection } from '../../../support/raw-connection.ts';
import { expectNone, type Finding, info } from '../../findings.ts';
import { HIDDEN_BODY_REQUEST, SMUGGLED_REQUESTS } from '../http/smuggling-cases.ts';
import { HAPROXY, isInstalled, NGINX, type ReverseProxy, startProxy } from '../reverse-proxy.ts';
import { countFor, expectAll, type WireRow } from '../wire-row.ts';
import type { WireTestbed } from '../wire-testbed.ts';

const ATTACKERS = 16;
const VICTIMS = 16;
const LISTEN_MS = 50;

export const proxySmuggling: WireRow = {
  id: 'proxy-smuggling',
  title: 'smuggled requests through proxies, and their victims',
  async run(testbed, runLength) {
    const kinds = [NGINX, HAPROXY].filter(isInstalled);
    const missing = [NGINX, HAPROXY].filter((kind) => !kinds.includes(kind));
    const findings: Finding[] = missing.map(({ name }) => info(name, 'is not at hand'));
    for (const kind of kinds)
      findings.push(...(await attackThrough(kind, testbed, countFor(runLength, 500, 2000, 10_000))));
    return findings;
  },
};

async function attackThrough(kind: ReverseProxy, { host }: WireTestbed, victims: number): Promise<readonly Finding[]> {
  const proxy = await startProxy(kind, host);
  const pool = new Pool(proxy.url, { connections: VICTIMS });
  const packets = [...Object.values(SMUGGLED_REQUESTS), HIDDEN_BODY_REQUEST];
  let [right, wrong, attacks, isRunning] = [0, 0, 0, true];
  const attacked = Promise.all(
    Array.from({ length: ATTACKERS }, async (_, attacker) => {
      for (let i = attacker; isRunning; i++) {
        const connection = await RawConnection.open(proxy.url);
        connection.write(packets[i % packets.length] ?? '');
        await new Promise((resolve) => setTimeout(resolve, LISTEN_MS));
        connection.reset();
        attacks++;
      }
    }),
  );
  await forEachConcurrent(Array.from({ length: victims }), VICTIMS, async () => {
    const path = `/api/v1/balance/${bs58.encode(randomBytes(32))}`;
    const { statusCode, body } = await pool.request({ method: 'GET', path });
    const text = await body.text();
    if (statusCode === 200 && text.includes(`"request":"GET ${path}"`)) right++;
    else if (statusCode === 200) wrong++;
    else console.error(`   ${kind.name}: ${statusCode} ${text.slice(0, 200)}`);
  });
  isRunning = false;
  await attacked;
  await pool.destroy();
  await proxy.close();
  return [
    expectAll(`${kind.name}: victims with their own answer`, right, victims),
    expectNone("with another's", wrong),
    info('attacks', attacks),
  ];
}
