import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { Cache } from '../../../src/cache/cache.ts';
import type { AnswerMeta, Entry } from '../../../src/cache/entry.ts';
import type { Slot } from '../../../src/domain/slot.ts';
import { ReadHeat } from '../../../src/live/read-heat.ts';
import { Watermark } from '../../../src/live/watermark.ts';
import { WatermarkLease } from '../../../src/live/watermark-lease.ts';
import { isOpensslSignature } from '../../../src/receipts/verify/openssl-signature.ts';
import { createVerifier } from '../../../src/receipts/verify/verify-receipt.ts';
import { Sealer } from '../../../src/serving/sealer.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CLUSTER, newSigner } from '../../support/receipts/sealed-answers.ts';

const KEY = '/api/v1/balance/11111111111111111111111111111111';
const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };
const FIRST_SLOT = 100;
const NONCE = 'a-nonce-of-this-caller';

/** What may happen to a live account, and how it is read. */
const EVENTS = ['clock update', 'tip', 'change', 'read', 'read now', 'read with nonce', 'turn'] as const;
type Event = (typeof EVENTS)[number];

/** One answer, in the order in which they were given. */
interface GivenAnswer {
  readonly slot: Slot;
  readonly body: string;
  /** The newest slot that was known of the account when it was asked for. */
  readonly knownSlot: Slot;
  readonly nonce: string | null;
}

const verify = createVerifier({ isSignature: isOpensslSignature });
const signer = newSigner();

/** A live account, its cache and its sealer; the state changes when the test says so. */
function openAccount() {
  const clock = new ManualClock();
  const cache = new Cache({ clock, bytes: 1_000_000, maxStaleSlots: 150, hotKeys: 10 });
  const sealer = new Sealer({ cache, signer, clock, sealAhead: 10, sealTogether: 4 });
  const heat = new ReadHeat(75);
  let tip = FIRST_SLOT;
  const watermark = new Watermark(() => tip);
  const changes: Slot[] = [FIRST_SLOT];
  const resultAt = (slot: Slot): string => `{"changed":${changes.findLast((change) => change <= slot)}}`;
  const answers: GivenAnswer[] = [];
  const failures: unknown[] = [];
  let lease = new WatermarkLease(FIRST_SLOT, watermark, heat);

  /** Reads as the hit path does, or loads the state as the full path does. */
  function currentEntry(): Entry {
    const item = cache.get(KEY);
    if (item?.kind === 'answer' && cache.isFresh(item)) return item;
    const answer = { slot: lease.slot, result: resultAt(lease.slot), lease };
    return cache.put(KEY, answer, { slots: 2 }, META);
  }

  function read(nonce: string | null, isNow: boolean): void {
    const current = currentEntry();
    const body = nonce === null ? sealer.bodyOf(current) : undefined;
    const entry = body === undefined ? (current.successor ?? current) : current;
    const [{ slot }, knownSlot] = [entry, lease.slot];
    const give = (text: string | Buffer): void => void answers.push({ slot, body: text.toString(), knownSlot, nonce });
    const waiter = { resolve: give, reject: (reason: unknown) => void failures.push(reason) };
    if (body !== undefined) give(body);
    else if (isNow) sealer.sealNow(entry, nonce, waiter);
    else sealer.sealFor(entry, nonce, waiter);
  }

  const act: Readonly<Record<Event, () => void>> = {
    'clock update': () => {
      watermark.advance(tip - 1, clock.monotonic());
      cache.advanceHot(watermark);
    },
    tip: () => {
      clock.advance(400);
      tip++;
      cache.advanceTip(tip);
      cache.refreshHot();
    },
    change: () => {
      if (changes.at(-1) === tip) return; // the state of a slot is the last one in it
      changes.push(tip);
      const former = lease;
      lease = new WatermarkLease(tip, watermark, heat);
      former.revoke();
    },
    read: () => read(null, false),
    'read now': () => read(null, true),
    'read with nonce': () => read(NONCE, false),
    turn: () => {},
  };
  cache.advanceTip(FIRST_SLOT);
  return { answers, failures, resultAt, act };
}

/** Returns what is wrong with the answers. */
function faultsOf({ answers, failures, resultAt }: ReturnType<typeof openAccount>): unknown[] {
  const faults = [...failures];
  let newest = 0;
  for (const { slot, body, knownSlot, nonce } of answers) {
    if (slot < newest) faults.push(`slot ${slot} after ${newest}`);
    if (slot > knownSlot) faults.push(`slot ${slot} when the lease covers ${knownSlot}`);
    newest = slot;
    const verified = verify(body, { publicKeys: [signer.publicKey], cluster: CLUSTER, request: `GET ${KEY}`, nonce });
    if (verified.slot !== slot) faults.push(`the body of slot ${slot} is of ${verified.slot}`);
    if (verified.result !== resultAt(slot)) faults.push(`at slot ${slot} ${verified.result}, not ${resultAt(slot)}`);
  }
  return faults;
}

t.test(
  'each answer of a live account holds at its slot, which its lease covers and which never goes back',
  async () => {
    const event = fc.constantFrom(...EVENTS);
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 60 }), async (events) => {
        const account = openAccount();
        for (const name of events) {
          account.act[name]();
          if (name === 'turn') await turn();
        }
        for (let i = 0; i < 5; i++) await turn();
        const reads = events.filter((name) => name.startsWith('read')).length;
        const faults = faultsOf(account);
        if (account.answers.length !== reads) faults.push(`${account.answers.length} answers to ${reads} reads`);
        if (faults.length > 0) throw new Error(faults.join('; '));
      }),
      { numRuns: 200 },
    );
  },
);

t.test('the first reads of a turn share a signature, and one that can not wait has one of its own', async (t) => {
  const { act, answers } = openAccount();
  const sizeOf = (i: number): unknown => /"size":(\d+)/.exec(answers[i]?.body ?? '')?.[1];
  act.read();
  act['read with nonce']();
  t.equal(answers.length, 0);
  await turn();
  t.same([answers.length, sizeOf(0), sizeOf(1)], [2, '2', '2']);
  act.tip();
  act['clock update']();
  act.read();
  act['read now']();
  t.equal(answers.length, 4, 'who asked before is answered with it');
});
