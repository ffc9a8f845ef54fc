import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { Pool } from 'undici';
import { inTurn } from '../../../support/in-turn.ts';
import { Line } from '../../../support/line.ts';
import { type Finding, none, shown } from '../../row.ts';
import { SMUGGLING, UNSEEN } from '../http/smuggling.ts';
import { HAPROXY, isAtHand, NGINX, type ProxyKind, startProxy } from '../proxy.ts';
import { all, type Row, times } from '../row.ts';
import type { Stage } from '../stage.ts';

const ATTACKERS = 16;
const VICTIMS = 16;
const HEARING_MS = 50;

/** Attackers and victims share the connections of a proxy: who reads an answer that was made for another? */
export const proxied: Row = {
  id: '3',
  what: 'smuggled requests through proxies, and their victims',
  async run(stage, pace) {
    const kinds = [NGINX, HAPROXY].filter(isAtHand);
    const missing = [NGINX, HAPROXY].filter((kind) => !kinds.includes(kind));
    const findings: Finding[] = missing.map(({ name }) => shown(name, 'is not at hand'));
    for (const kind of kinds) findings.push(...(await through(kind, stage, times(pace, 500, 2000, 10_000))));
    return findings;
  },
};

async function through(kind: ProxyKind, { host }: Stage, victims: number): Promise<readonly Finding[]> {
  const proxy = await startProxy(kind, host);
  const pool = new Pool(proxy.url, { connections: VICTIMS });
  const packets = [...Object.values(SMUGGLING), UNSEEN];
  let [right, wrong, attacks, asking] = [0, 0, 0, true];
  const attacked = Promise.all(
    Array.from({ length: ATTACKERS }, async (_, attacker) => {
      for (let i = attacker; asking; i++) {
        const line = await Line.open(proxy.url);
        line.write(packets[i % packets.length] ?? '');
        await new Promise((resolve) => setTimeout(resolve, HEARING_MS));
        line.cut();
        attacks++;
      }
    }),
  );
  await inTurn(Array.from({ length: victims }), VICTIMS, async () => {
    const path = `/api/v1/balance/${bs58.encode(randomBytes(32))}`;
    const { statusCode, body } = await pool.request({ method: 'GET', path });
    const text = await body.text();
    if (statusCode === 200 && text.includes(`"request":"GET ${path}"`)) right++;
    else if (statusCode === 200) wrong++;
    else console.error(`   ${kind.name}: ${statusCode} ${text.slice(0, 200)}`);
  });
  asking = false;
  await attacked;
  await pool.destroy();
  await proxy.close();
  return [
    all(`${kind.name}: victims with their own answer`, right, victims),
    none("with another's", wrong),
    shown('attacks', attacks),
  ];
}
