import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { GENESIS, SECRET } from '../../support/scripted-node.ts';
import { AnswerChecker } from './answer-checker.ts';
import { FormulaChain } from './formula-chain/formula-chain.ts';
import { Tally } from './tally.ts';

// The checker must find each kind of fault.
const chain = new FormulaChain({ genesis: GENESIS, originMs: 0, slotMs: 400, maxUnchangedSlots: 24, forks: false });
const ADDRESS = '9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o';
const PATH = `/balance/${ADDRESS}?commitment=confirmed`;
const SLOT = 1_000_500;

const answerBody = (slot: number, lamports = chain.lamports(ADDRESS, slot)): string =>
  JSON.stringify({ result: { lamports }, slot, receipt: {} });

function checkAll(verifyEvery: number, ...answers: readonly (readonly [text: string, status?: number])[]): Tally {
  const { publicKey } = generateKeyPairSync('ed25519');
  const checker = new AnswerChecker({ chain, publicKey: publicKey.export({ format: 'jwk' }).x ?? '', verifyEvery });
  const tally = new Tally();
  for (const [text, status = 200] of answers) {
    checker.check({ path: PATH, floor: checker.newestSlotOf(PATH), status, text }, tally);
  }
  return tally;
}

t.test('true answers cause no violation', async (t) => {
  const tally = checkAll(100, [answerBody(SLOT)], [answerBody(SLOT)], [answerBody(SLOT + 9)]);
  t.match(tally, { answered: 3, failed: 0, wrong: 0, regressed: 0, leaked: 0 });
});

t.test('a balance that the chain never had at that slot is wrong', async (t) => {
  t.equal(checkAll(100, [answerBody(SLOT, chain.lamports(ADDRESS, SLOT) + 1)]).wrong, 1);
});

t.test('each of several balances is compared', async (t) => {
  const others = [ADDRESS, '4'.repeat(44)];
  const path = `/balances?addresses=${others.join('%2C')}`;
  const check = (extra: number): Tally => {
    const checker = new AnswerChecker({ chain, publicKey: '', verifyEvery: 100 });
    const tally = new Tally();
    const result = others.map((address, i) => ({ address, lamports: chain.lamports(address, SLOT) + i * extra }));
    checker.check({ path, floor: 0, status: 200, text: JSON.stringify({ result, slot: SLOT, receipt: {} }) }, tally);
    return tally;
  };
  t.match([check(0).wrong, check(1).wrong], [0, 1]);
});

t.test('a slot of the future is wrong, whatever its balance', async (t) => {
  t.equal(checkAll(100, [answerBody(chain.processedSlotAt(Date.now()) + 1000)]).wrong, 1);
});

t.test('an older slot than an earlier one is a regression', async (t) => {
  t.equal(checkAll(100, [answerBody(SLOT)], [answerBody(SLOT - 1)]).regressed, 1);
});

t.test('an invalid receipt is wrong when it is verified', async (t) => {
  t.equal(checkAll(1, [answerBody(SLOT)]).wrong, 1);
});

t.test('secret text of a node is a leak, in errors too', async (t) => {
  t.match(checkAll(100, [`{"error":"upstream_error","message":"${SECRET}"}`, 502]), {
    leaked: 1,
    failed: 1,
    answered: 0,
  });
});
