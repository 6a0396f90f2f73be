/**
 * What is done in Redis in one step. Revisions and tokens are the server's Unix time in ms, or one more than what was
 * known before: they also grow over a loss of the last writes, and of all of them.
 *
 * The four keys: the lease, a hash with the newest token, revision and version, the documents by name, their revisions.
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- 0 where there is none, also where somebody else has written something.
local function number(text)
  local value = tonumber(text or '')
  return value and value > 0 and value < 9e15 and value or 0
end
local function text(value)
  return string.format('%.0f', value)
end
local function beyond(a, b)
  return text(math.max(number(a), number(b), now - 1) + 1)
end
`;

/** False: there is none. '': it is of another type, so of no replica. */
const LEASE = `
local kind = redis.call('TYPE', KEYS[1])['ok']
local held = kind ~= 'none' and (kind == 'string' and redis.call('GET', KEYS[1]) or '')
local isOurs = held == ARGV[1] and held ~= ''
`;

/**
 * Looks at the lease, prolongs or takes it, and fetches what has changed. A lease that would never run out, or not for very
 * long, was not left so by a replica: it gets as long to live as any, so its holder, if it has one, is not overtaken.
 * ARGV: our lease, our id, time to live, version, which lease to take, our last token; name and known revision of each
 * wanted document. Answers: standing, lease, newest revision, time; name, revision and text of each that is newer.
 */
export const BEAT = `${NOW}${LEASE}
local meta = redis.call('HMGET', KEYS[2], 'token', 'revision', 'version')
local standing, lease = 'other', held or ''
if isOurs then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  standing = 'held'
elseif not held or held == 'released' then
  standing = held or 'free'
  if number(meta[3]) > number(ARGV[4]) then
    standing = 'newer'
  elseif ARGV[5] == 'free' or ARGV[5] == standing then
    local token = beyond(meta[1], ARGV[6])
    lease = token .. ' ' .. ARGV[2]
    redis.call('HSET', KEYS[2], 'token', token)
    redis.call('SET', KEYS[1], lease, 'PX', ARGV[3])
    standing = 'taken'
  end
elseif ARGV[5] ~= 'never' then
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 or left > ARGV[3] * 10 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
end
local answer = {standing, lease, text(number(meta[2])), text(now)}
for i = 7, #ARGV, 2 do
  local found = redis.call('HGET', KEYS[4], ARGV[i])
  local revision = math.max(1, number(found))
  if found and revision > number(ARGV[i + 1]) then
    answer[#answer + 1] = ARGV[i]
    answer[#answer + 1] = text(revision)
    answer[#answer + 1] = redis.call('HGET', KEYS[3], ARGV[i])
  end
end
return answer
`;

/**
 * Writes a document, if the lease is still ours.
 * ARGV: our lease, version, newest revision that we know, name, text. Answers: revision ('' if refused), the newest before.
 */
export const WRITE = `${NOW}${LEASE}
if not isOurs then return {'', '0'} end
local before = text(number(redis.call('HGET', KEYS[2], 'revision')))
local revision = beyond(before, ARGV[3])
redis.call('HSET', KEYS[2], 'revision', revision, 'version', ARGV[2])
redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
redis.call('HSET', KEYS[4], ARGV[4], revision)
return {revision, before}
`;

/** Gives the lease back. ARGV: our lease. */
export const RELEASE = `${LEASE}
if not isOurs then return 0 end
redis.call('SET', KEYS[1], 'released')
return 1
`;

/** Writes, and changes nothing: fails on a standby, and for a user who may not write. KEYS: the hash of the numbers. */
export const TOUCH = `
return redis.call('HDEL', KEYS[1], '')
`;
