import { scriptOf } from '../transport/redis/redis-connection.ts';

/** Slots by which the leader's right to sign `exact` grows, and that the next leader leaves out. */
const RANGE_SLOTS = 64;

/** Slots before the end of its range at which the leader requests more. */
const RANGE_AHEAD = 32;

/** Slots above its tip that a leader may have the right to sign, at most. */
const MOST_AHEAD = RANGE_AHEAD + RANGE_SLOTS;

/** Slots above its tip that a new leader leaves out, as far as Redis names none. */
export const LEFT_OUT_SLOTS = MOST_AHEAD + RANGE_SLOTS;

/**
 * Acquires or keeps the lock, and in the same step the right to sign `exact`.
 * KEYS: lock, epoch, highest slot that may be signed. ARGV: this member, the lock's milliseconds, the epoch that it leads
 * (0: none), the newest epoch and the highest such slot that it knows of, its finalized tip.
 * Answers: whether it leads, the epoch, the slot above which a new leader may sign (-1 for one that goes on), and the
 * highest slot.
 *
 * A new leader begins beyond all that the one before may sign, which needn't know yet that it is none. What a Redis has
 * forgotten, or a replica has not received, each member that knows it repeats. If none has, it still holds that nobody could
 * have more than {@link MOST_AHEAD} above the tip; {@link RANGE_SLOTS} more are for tips that differ.
 * A leader whose range ends below its tip is elected again, too: Redis may have been behind. So is one that does not know how
 * far its range goes by now: another may have had those slots, of which Redis knew nothing when it gave out this range. Where
 * more is left out already, a new leader leaves out no more, so that many elections in a row do not move the range away from
 * the tip.
 */
export const LEAD = scriptOf(`
local epoch, upTo = tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(redis.call('GET', KEYS[3]) or '0')
local function keep(newEpoch, newUpTo)
  if newEpoch ~= epoch then redis.call('SET', KEYS[2], string.format('%.0f', newEpoch)) end
  if newUpTo ~= upTo then redis.call('SET', KEYS[3], string.format('%.0f', newUpTo)) end
  epoch, upTo = newEpoch, newUpTo
end
keep(math.max(epoch, tonumber(ARGV[4])), math.max(upTo, tonumber(ARGV[5])))
local holder, tip, above = redis.call('GET', KEYS[1]), tonumber(ARGV[6]), -1
if holder and holder ~= ARGV[1] then return { 0, epoch, -1, upTo } end
if not holder or epoch ~= tonumber(ARGV[3]) or upTo < tip or upTo > tonumber(ARGV[5]) then
  above = upTo
  if upTo < tip + ${LEFT_OUT_SLOTS} then above = math.max(upTo, tip + ${MOST_AHEAD}) + ${RANGE_SLOTS} end
  keep(epoch + 1, above)
end
if upTo - tip < ${RANGE_AHEAD} then keep(epoch, math.max(upTo, tip) + ${RANGE_SLOTS}) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 1, epoch, above, upTo }`);

/** Gives the lock back. KEYS: lock. ARGV: this member. */
export const RESIGN = scriptOf(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`);
