import { MEMBER_MS } from '../leadership/members.ts';
import { scriptOf } from '../transport/redis/redis-connection.ts';

const ARGS_PER_REPORT = 8;
export const NUMBERS_PER_ANSWER = 4;

/** The time after which Redis forgets the streams of a caller that nobody reports again, in milliseconds. */
const KEEP_MS = 120_000;

/**
 * Counts what a member reports, as `MemoryStore` does. KEYS: the gateways, then a hash for each counter. ARGV: the member
 * ("GATEWAY NUMBER"), channel, the start of the keys of counters; then the numbers of each report in the order of
 * `numbersOf`. Answers for each: total, the window's end in Unix time, the milliseconds until then, what is counted for
 * this member.
 *
 * The hash of a window has e, its end, t, the total with the debt of the window before, a, what was left when members were
 * last informed, l, the highest limit that members have seen, and a field for each member. It ends by itself, one window
 * later if it owes. A clock that was set back makes no window longer. The hash of streams has a field for each member; those
 * of gateways that are not heartbeating any more are dropped.
 */
export const COUNT = scriptOf(`
local t = redis.call('TIME')
local now, out, news, alive = t[1] * 1000 + math.floor(t[2] / 1000), {}, {}, {}
local function text(n) return string.format('%.0f', n) end
local function isAlive(field)
  local gateway = string.match(field, '^%S+')
  if alive[gateway] == nil then
    local at = string.match(redis.call('HGET', KEYS[1], gateway) or '', '^(%d+) ')
    alive[gateway] = at ~= nil and math.abs(now - tonumber(at)) <= ${MEMBER_MS}
  end
  return alive[gateway]
end
local function streams(key, spent)
  local before = tonumber(redis.call('HGET', key, ARGV[1])) or 0
  if spent > 0 then redis.call('HSET', key, ARGV[1], spent) else redis.call('HDEL', key, ARGV[1]) end
  redis.call('PEXPIRE', key, ${KEEP_MS})
  local all, total = redis.call('HGETALL', key), 0
  for i = 1, #all, 2 do
    if all[i] == ARGV[1] or isAlive(all[i]) then total = total + tonumber(all[i + 1]) else redis.call('HDEL', key, all[i]) end
  end
  if total > spent and spent ~= before then news[#news + 1] = { string.sub(key, #ARGV[3] + 1), 0, 0, 0, 0 } end
  return { total, 0, 0, spent }
end
local function window(key, limit, ms, name, age, total, counted, spent, prepay)
  local w = redis.call('HMGET', key, 'e', 't', 'a', ARGV[1], 'l')
  local e, sum, left, have = tonumber(w[1]), tonumber(w[2]), tonumber(w[3]), tonumber(w[4])
  local most = tonumber(w[5]) or limit
  if e and now >= e then
    redis.call('DEL', key)
    local debt = math.min(most, sum - most)
    most = limit
    if debt > 0 and now < e + ms then e, sum, left, have = e + ms, debt, limit, nil else e = nil end
  end
  most = math.max(most, limit)
  if not e then
    e = (name > now and math.min(name, now + ms)) or now + ms - math.min(age, ms - 1)
    sum, left, have = 0, limit, nil
  end
  e, have = math.min(e, now + ms), have or counted
  if not (name > 0 and name <= now) then
    have = math.max(have, counted)
    local new = math.max(sum, total) + math.max(0, spent - have)
    have = math.max(have, spent)
    local more = spent + prepay - have
    if more > 0 and new + more <= limit then new, have = new + more, have + more end
    sum = math.max(sum, math.min(new, 2 * limit))
    redis.call('HSET', key, ARGV[1], text(have))
  end
  local rest = math.max(0, limit - sum)
  if left > 0 and rest * 2 <= left then
    left = rest
    news[#news + 1] = { string.sub(key, #ARGV[3] + 1), ms, sum, e, e - now }
  end
  redis.call('HSET', key, 'e', text(e), 't', text(sum), 'a', text(left), 'l', text(most))
  redis.call('PEXPIREAT', key, text(sum > most and e + ms or e))
  return { math.min(sum, 2 * limit), e, e - now, have }
end
for i = 2, #KEYS do
  local a = {}
  for j = 1, ${ARGS_PER_REPORT} do a[j] = tonumber(ARGV[3 + (i - 2) * ${ARGS_PER_REPORT} + j]) end
  local answer = a[2] == 0 and streams(KEYS[i], a[7]) or window(KEYS[i], unpack(a))
  for _, n in ipairs(answer) do out[#out + 1] = n end
end
if #news > 0 then redis.call('PUBLISH', ARGV[2], cjson.encode(news)) end
return out`);
