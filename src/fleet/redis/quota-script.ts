import { scriptOf } from './redis-connection.ts';

/** The arguments of {@link SETTLE} for each window. */
const ARGS_PER_ASK = 7;

/** The numbers in the answer of {@link SETTLE} for each window. */
export const FIELDS_PER_SHARE = 9;

/**
 * Settles asks for shares, as `MemoryQuotaLedger` does. KEYS: a window each. ARGV: member, channel for what is left, the
 * start of all those keys; then for each key limit, milliseconds, the window that is meant, age, used, want, need.
 * Answers for each: share, units left, name of the window, milliseconds until its end, Reset, limit, its milliseconds, how
 * often it has changed, whether it is over.
 *
 * A window is a hash: e its end, r the same in Unix seconds as callers see it, l limit, w milliseconds, g the sum of the
 * shares and the debt of the window before, t what was left when members last heard of it, n members, c changes; the
 * field of a member starts with "m" and is its share. It ends by itself, one window later if it owes. A clock that was
 * set back makes no window longer.
 */
export const SETTLE = scriptOf(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local field, out, told = 'm' .. ARGV[1], {}, {}
local function text(n) return string.format('%.0f', n) end
for i, key in ipairs(KEYS) do
  local a = 3 + (i - 1) * ${ARGS_PER_ASK}
  local limit, windowMs, window = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local age, charged, want, need = tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), tonumber(ARGV[a + 6]), tonumber(ARGV[a + 7])
  local w = redis.call('HMGET', key, 'e', 'r', 'l', 'w', 'g', 't', 'n', 'c', field)
  local e, r, l, ms, g, last, n = tonumber(w[1]), tonumber(w[2]), tonumber(w[3]), tonumber(w[4]), tonumber(w[5]), tonumber(w[6]), tonumber(w[7])
  local changes, before = tonumber(w[8]) or 0, tonumber(w[9])
  if e and now >= e then
    local debt = math.min(l, g - l)
    redis.call('DEL', key)
    if debt > 0 and now < e + ms then
      e, r, g, last, n, changes, before = e + ms, r + math.floor(ms / 1000 + 0.5), debt, l - debt, 0, 0, nil
    else e = nil end
  end
  if e and e > now + ms then e = now + ms end
  if not e then
    if window > now then e = math.min(window, now + windowMs)
    else e = now + windowMs - (window == 0 and math.min(age, windowMs - 1) or 0) end
    r, l, ms, g, last, n, changes, before = math.ceil(e / 1000), limit, windowMs, 0, limit, 0, 0, nil
  end
  local isOver = window ~= 0 and window < e
  local used = isOver and 0 or charged
  local wanted, needed = math.max(isOver and 1 or 0, want - charged), math.max(0, need - charged)
  if not before then n, before = n + 1, 0 end
  local free = math.max(0, l - (g - before))
  local most = math.max(1, math.ceil(math.max(0, free - used) / (2 * n)))
  local granted = math.min(used + math.min(wanted, most), free)
  if needed <= free - used then granted = math.max(granted, used + needed) end
  local share = math.max(used, granted)
  g = g + share - before
  local left = l - g
  changes = changes + 1
  local isHalved, isDoubledDebt = last > 0 and left * 2 <= last, last <= 0 and left < last and left <= 2 * last
  if isHalved or isDoubledDebt or (last <= 0 and left > 0) then
    last = left
    told[#told + 1] = { string.sub(key, #ARGV[3] + 1), left, e, e - now, r, l, ms, changes }
  elseif left > last then last = left end
  redis.call('HSET', key, 'e', text(e), 'r', text(r), 'l', text(l), 'w', text(ms), 'g', text(g), 't', text(last), 'n', n, 'c', changes, field, text(share))
  redis.call('PEXPIREAT', key, text(g > l and e + ms or e))
  for _, value in ipairs({ share, left, e, e - now, r, l, ms, changes, isOver and 1 or 0 }) do out[#out + 1] = value end
end
if #told > 0 then redis.call('PUBLISH', ARGV[2], cjson.encode(told)) end
return out`);
