-- What both scripts about epochs begin with. KEYS[1] holds a tenant's: by scope, `floor` for all others, and `primary`,
-- the replication id of the server that they were asked of last, with ARGV[3]: the secret in use, and since when.
--
-- Whoever becomes primary gives itself a new such id: a replica that is promoted, and a server that comes back with what
-- it had saved. Either may have missed an invalidation, so that all epochs begin anew there: nothing stored before is
-- served any more. The same goes for a secret that is in use again: invalidations under another did not reach what it
-- finds.
local EPOCHS = KEYS[1]

-- Microseconds since 1970. In milliseconds, epochs could be ahead of the time by a few, and be met again by those that
-- begin anew at once.
local function micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Raises all scopes by forgetting them: to the time, which no epoch has been before, and above all that are known.
local function begin_anew(primary)
  local floor = micros()
  local known = redis.call('HGETALL', EPOCHS)
  for i = 1, #known, 2 do
    if known[i] ~= 'primary' then
      floor = math.max(floor, tonumber(known[i + 1]) + 1)
    end
  end
  redis.call('DEL', EPOCHS)
  redis.call('HSET', EPOCHS, 'primary', primary, 'floor', string.format('%.0f', floor))
end

local primary = (redis.call('INFO', 'replication'):match('master_replid:(%w+)') or 'unknown') .. ':' .. ARGV[3]
if redis.call('HGET', EPOCHS, 'primary') ~= primary then
  begin_anew(primary)
end

local function epoch_of(scope)
  return redis.call('HGET', EPOCHS, scope) or redis.call('HGET', EPOCHS, 'floor')
end
