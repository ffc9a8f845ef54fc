import { inTurn } from '../../../support/in-turn.ts';
import { anyone } from '../../../support/line.ts';
import { Peer } from '../../../support/peer.ts';
import { exchange } from '../../../support/raw.ts';
import { none, shown } from '../../row.ts';
import { statuses } from '../http/case.ts';
import type { Row } from '../row.ts';
import { CASES } from '../websocket/cases.ts';
import { HANDSHAKES } from '../websocket/handshakes.ts';

/** What the engine does otherwise. The row fails too when one of them begins to hold. */
const RESIDUE: readonly string[] = [
  '1 framing: no mask',
  '1 framing: a length longer than it needs',
  '1 framing: a length of 64 bits that needs 16',
  '7 close: code 3000',
  '7 close: code 3999',
];
const AT_ONCE = 16;

export const websocket: Row = {
  id: '39',
  what: `WebSocket: ${HANDSHAKES.length} handshakes, ${CASES.length} cases after Autobahn's families`,
  async run({ url }) {
    const failed: string[] = [];
    await inTurn(HANDSHAKES, AT_ONCE, async ({ what, packet, status, has }) => {
      const heard = await exchange(url, [packet]);
      const [got = 0] = statuses(heard);
      if (!status.includes(got) || has?.test(heard.text) === false) failed.push(`handshake: ${what}`);
    });
    await inTurn(CASES, AT_ONCE, async ({ family, what, packets, holds }, i) => {
      const peer = await Peer.open(url, '', anyone(i)); // what one caller may say in a second is limited
      await peer.say(...packets);
      const name = `${family}: ${what}`;
      if (!holds(peer)) failed.push(name);
      if (!holds(peer) && !RESIDUE.includes(name)) {
        console.error(`   ${name}: ${peer.code} ${peer.heard.map(({ opcode }) => opcode)}`);
      }
      peer.line.cut();
    });
    const count = HANDSHAKES.length + CASES.length;
    return [
      shown('hold', `${count - failed.length}/${count}`),
      none('fail and are not known to', failed.filter((name) => !RESIDUE.includes(name)).length),
      none('are known to fail and hold', RESIDUE.filter((name) => !failed.includes(name)).length),
    ];
  },
};
