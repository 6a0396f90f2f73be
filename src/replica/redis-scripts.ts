/**
 * Each script is one atomic step in Redis. Revisions and tokens are the Unix time of the server in ms, or the last known one
 * plus one where that is more. So they grow even when Redis loses its last writes, or all of them.
 *
 * KEYS:
 * 1. the lease
 * 2. a hash with the newest token, revision and version, and the last write of each document
 * 3. the documents by name
 * 4. their revisions by name
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- 0 where there is no number, or something that no replica has written.
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

/** `held` is false where there is no lease, and '' where the key has another type, which no replica has written. */
const LEASE = `
local kind = redis.call('TYPE', KEYS[1])['ok']
local held = kind ~= 'none' and (kind == 'string' and redis.call('GET', KEYS[1]) or '')
local isOurs = held == ARGV[1] and held ~= ''
`;

/**
 * Renews or takes the lease, and fetches documents that have changed. Replicas never write a lease without an end, or with a
 * very far one. Such a lease gets the usual time to live, so that its holder, if there is one, keeps it as long as any.
 *
 * ARGV: our lease, our id, time to live, version, which leases to take, our last token; then name and known revision of
 * each document that is wanted.
 * Returns: status, lease, its time to live if it is of another replica, newest revision, time; then name, revision and text of
 * each document that is newer.
 */
export const HEARTBEAT = `${NOW}${LEASE}
local meta = redis.call('HMGET', KEYS[2], 'token', 'revision', 'version')
local status, lease, left = 'other', held or '', 0
if isOurs then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  status = 'held'
elseif not held or held == 'released' then
  status = held or 'free'
  local isLast = ARGV[5] == 'own' and number(meta[1]) <= number(ARGV[6])
  if number(meta[3]) > number(ARGV[4]) then
    status = 'newer'
  elseif ARGV[5] == 'free' or isLast or (held and ARGV[5] ~= 'never') then
    local token = beyond(meta[1], ARGV[6])
    lease = token .. ' ' .. ARGV[2]
    redis.call('HSET', KEYS[2], 'token', token)
    redis.call('SET', KEYS[1], lease, 'PX', ARGV[3])
    status = 'taken'
  end
else
  left = redis.call('PTTL', KEYS[1])
  if ARGV[5] ~= 'never' and (left < 0 or left > ARGV[3] * 10) then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    left = tonumber(ARGV[3])
  end
end
local answer = {status, lease, text(left), text(number(meta[2])), text(now)}
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
 * Writes a document, if the lease is still ours. A write that was given up with its connection can arrive after a later one.
 * It is refused, because its text is older.
 *
 * ARGV: our lease, version, newest revision that we know, name, text, number of the write: a later one has a higher number.
 * Returns: the revision ('' if refused), the newest revision before.
 */
export const WRITE = `${NOW}${LEASE}
if not isOurs then return {'', '0'} end
local lastLease, lastWrite = 'lease of ' .. ARGV[4], 'write of ' .. ARGV[4]
local last = redis.call('HMGET', KEYS[2], lastLease, lastWrite)
if last[1] == ARGV[1] and number(last[2]) > number(ARGV[6]) then return {'', '0'} end
redis.call('HSET', KEYS[2], lastLease, ARGV[1], lastWrite, ARGV[6])
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

/** A write that changes nothing. It fails on a standby, and for a user who may not write. KEYS: the hash of the numbers. */
export const CHECK_WRITABLE = `
return redis.call('HDEL', KEYS[1], '')
`;
