import { provenWithoutClock } from '../../../shared/domain/root-lead.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { OPEN_OBJECT } from '../json/json-scanner.ts';
import { elements, member, parseBase64, parseSafeInteger, parseString } from '../json/raw-json.ts';

/** In bytes; it is its slot: https://docs.rs/solana-clock/latest/solana_clock/struct.Clock.html */
export const CLOCK_SLOT_BYTES = 8;

/** The longest Clock that is looked at; as a node shows it, it has some 300 bytes. */
const MAX_CLOCK_BYTES = 1024;

/**
 * Returns the first slot at which all is proven to hold that a node loaded for `slot` before `clock`, its account of the
 * Clock sysvar. The root that a node reads accounts from only advances, and each bank writes the Clock: so nothing before
 * it is newer than the slot that it names. A Clock that is missing, or older than `slot`, is kept elsewhere than the
 * accounts and proves nothing.
 */
export function provenByClock(slot: Slot, clock: Buffer | undefined): Slot {
  const newest = clock === undefined ? undefined : slotOfClock(clock);
  return newest === undefined || newest < slot ? provenWithoutClock(slot) : newest;
}

/** Returns the slot that a Clock sysvar names, in base64 or as a node parses it; undefined for anything else. */
function slotOfClock(account: Buffer): Slot | undefined {
  if (account.length > MAX_CLOCK_BYTES) return undefined;
  try {
    const data = member(account, 'data') ?? Buffer.alloc(0);
    if (data[0] === OPEN_OBJECT) {
      const info = member(member(data, 'parsed') ?? Buffer.alloc(0), 'info') ?? Buffer.alloc(0);
      return parseSafeInteger(member(info, 'slot'));
    }
    const [text, encoding] = elements(data);
    const bytes = parseBase64(text);
    if (parseString(encoding) !== 'base64' || bytes.length < CLOCK_SLOT_BYTES) return undefined;
    return Number(bytes.readBigUInt64LE());
  } catch {
    return undefined;
  }
}
