import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { PipeliningDetector } from '../../../../src/http/engine/pipelining-detector.ts';

type Verdict = 'unproven' | 'sequential' | 'pipelining';

/** Runs turns of the event loop in which a peer sends so many requests over so many sockets. */
function open() {
  let events = 0;
  const detector = new PipeliningDetector(() => events);
  const turn = async (peer: string, requests: number, sockets: number): Promise<Verdict> => {
    for (let i = 0; i < requests; i++) detector.countRequest();
    const isUnproven = detector.mayPipeline(peer);
    const verdict = detector.hasPipelined(peer) ? 'pipelining' : isUnproven ? 'unproven' : 'sequential';
    events += sockets;
    await nextTurn();
    return verdict;
  };
  /** Runs turns with one request each, and returns how many it took until the verdict was another. */
  const turnsUntil = async (peer: string, wanted: Verdict): Promise<number> => {
    for (let turns = 0; ; turns++) if ((await turn(peer, 1, 1)) === wanted) return turns;
  };
  return { detector, turn, turnsUntil };
}

t.test('a peer may pipeline until sixteen turns in a row have shown that nobody does', async (t) => {
  const { turn, turnsUntil } = open();
  t.equal(await turn('one', 1, 3), 'unproven');
  t.equal(await turnsUntil('one', 'sequential'), 15);
  t.equal(await turn('another', 1, 1), 'unproven');
});

t.test('more requests than sockets in a turn show pipelining, by whoever asks in it', async (t) => {
  const { detector, turn, turnsUntil } = open();
  await turnsUntil('one', 'sequential');
  detector.mayPipeline('one');
  t.equal(await turn('one', 3, 1), 'sequential');
  t.equal(await turn('one', 1, 1), 'pipelining');
  t.equal(await turnsUntil('one', 'sequential'), 31);
});

t.test('a peer whose connection was cut off counts as pipelining for a thousand turns', async (t) => {
  const { detector, turn, turnsUntil } = open();
  detector.recordCutOff('one');
  t.equal(await turn('another', 1, 1), 'unproven');
  t.equal(await turnsUntil('one', 'unproven'), 1000);
});

t.test('a new connection may pipeline whatever those before it did', async (t) => {
  const { detector, turnsUntil } = open();
  await turnsUntil('one', 'sequential');
  detector.countConnection('another');
  t.equal(await turnsUntil('one', 'sequential'), 0);
  detector.countConnection('one');
  t.equal(await turnsUntil('one', 'sequential'), 16);
});

t.test('a new connection does not end the doubt about a peer that was cut off', async (t) => {
  const { detector, turn } = open();
  detector.recordCutOff('one');
  detector.countConnection('one');
  t.equal(await turn('one', 1, 1), 'pipelining');
});
