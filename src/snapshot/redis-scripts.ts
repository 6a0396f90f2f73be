/**
 * What is done in Redis in one step. Revisions and tokens are the server's Unix time in ms, or one more than what was
 * known before: they also grow over a loss of the last writes, and of all of them.
 *
 * The four keys: the lease, a hash with the newest token, revision and version, the documents by name, their revisions.
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function beyond(a, b)
  return string.format('%.0f', math.max(tonumber(a or '0'), tonumber(b), now - 1) + 1)
end
`;

/**
 * Looks at the lease, prolongs or takes it, and fetches what has changed.
 * ARGV: our lease, our id, time to live, version, which lease to take, our last token; name and known revision of each
 * wanted document. Answers: standing, lease, newest revision, time; name, revision and text of each that is newer.
 */
export const BEAT = `${NOW}
local held = redis.call('GET', KEYS[1])
local meta = redis.call('HMGET', KEYS[2], 'token', 'revision', 'version')
local standing, lease = 'other', held or ''
if held and held == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  standing = 'held'
elseif not held or held == 'released' then
  standing = held or 'free'
  if tonumber(meta[3] or '0') > tonumber(ARGV[4]) then
    standing = 'newer'
  elseif ARGV[5] == 'free' or ARGV[5] == standing then
    local token = beyond(meta[1], ARGV[6])
    lease = token .. ' ' .. ARGV[2]
    redis.call('HSET', KEYS[2], 'token', token)
    redis.call('SET', KEYS[1], lease, 'PX', ARGV[3])
    standing = 'taken'
  end
end
local answer = {standing, lease, meta[2] or '0', string.format('%.0f', now)}
for i = 7, #ARGV, 2 do
  local revision = redis.call('HGET', KEYS[4], ARGV[i])
  if revision and tonumber(revision) > tonumber(ARGV[i + 1]) then
    answer[#answer + 1] = ARGV[i]
    answer[#answer + 1] = revision
    answer[#answer + 1] = redis.call('HGET', KEYS[3], ARGV[i])
  end
end
return answer
`;

/**
 * Writes a document, if the lease is still ours.
 * ARGV: our lease, version, newest revision that we know, name, text. Answers: revision ('' if refused), the newest before.
 */
export const WRITE = `${NOW}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'', '0'} end
local before = redis.call('HGET', KEYS[2], 'revision') or '0'
local revision = beyond(before, ARGV[3])
redis.call('HSET', KEYS[2], 'revision', revision, 'version', ARGV[2])
redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
redis.call('HSET', KEYS[4], ARGV[4], revision)
return {revision, before}
`;

/** Gives the lease back. ARGV: our lease. */
export const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'released')
return 1
`;
