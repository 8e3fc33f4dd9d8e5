-- Raises a scope's epoch by one at least, and to the time, which no epoch has been before; or to what is asked for.
-- ARGV[3]: the scope, ARGV[4]: what to raise it to, or nothing.
local MOST = 4096
local time = now()
local floor = tonumber(redis.call('HGET', KEYS[1], 'floor') or time)
local current = tonumber(redis.call('HGET', KEYS[1], ARGV[3]) or floor)
local raised
if ARGV[4] == '' then
  raised = math.max(current + 1, time)
else
  raised = math.max(current, tonumber(ARGV[4]))
end
if redis.call('HLEN', KEYS[1]) >= MOST then
  -- All scopes are raised by being forgotten: what is stored is not served any more.
  for _, epoch in ipairs(redis.call('HVALS', KEYS[1])) do
    raised = math.max(raised, tonumber(epoch) + 1)
  end
  redis.call('DEL', KEYS[1])
  floor = raised
end
local answer = string.format('%.0f', raised)
redis.call('HSET', KEYS[1], 'floor', string.format('%.0f', floor), ARGV[3], answer)
return answer
