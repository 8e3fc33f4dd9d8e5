-- Keeps an entry, with keys that lead to it. KEYS: its own, aliases. ARGV[3..]: milliseconds, entry, vector.
local MOST_BRUTE = 1024
local LOOKED_AT = 2
local ttl, entry, vector = ARGV[3], ARGV[4], ARGV[5]
local name, put = name_of(KEYS[1]), entry:sub(2, 9)

replace(KEYS[1])
redis.call('SET', KEYS[1], entry, 'PX', ttl)
for i = 2, #KEYS do
  replace(KEYS[i])
  redis.call('SET', KEYS[i], 'A' .. put .. name, 'PX', ttl)
end

local time, task = now(), entry:sub(42, 67)
local held = named('h', task)
redis.call('ZREMRANGEBYSCORE', held, '-inf', time)
redis.call('ZADD', held, time + ttl, name)
extend(held, ttl)
redis.call('SADD', named('t', 'tasks'), task)
extend(named('t', 'tasks'), ttl)

-- Members of a partition do not expire by themselves: each who stores looks at a few.
local function sweep(members, remove, key)
  for _, member in ipairs(members) do
    local there = redis.call('GETRANGE', named('x', member:sub(1, 26)), 0, 8)
    if there ~= 'E' .. member:sub(27) then
      redis.call(remove, key, member)
    end
  end
end

local space = entry:sub(10, 41)
if space ~= NO_SPACE then
  if WAY == 'search' then
    local key = in_space('s', space, name)
    redis.call('HSET', key, 'v', vector, 'put', put, 'tenant', TAG:sub(4, 29), 'task', task,
      'locale', entry:sub(68, 93), 'print', entry:sub(94, 119))
    redis.call('PEXPIRE', key, ttl)
  elseif WAY == 'sets' then
    local key = in_space('v', space, entry:sub(42, 119))
    redis.call('VADD', key, 'FP32', vector, name .. put, 'NOQUANT')
    extend(key, ttl)
    sweep(redis.call('VRANDMEMBER', key, LOOKED_AT), 'VREM', key)
  else
    local key = in_space('b', space, entry:sub(42, 119))
    if redis.call('HLEN', key) >= MOST_BRUTE then
      redis.call('HDEL', key, redis.call('HRANDFIELD', key))
    end
    redis.call('HSET', key, name .. put, vector)
    extend(key, ttl)
    sweep(redis.call('HRANDFIELD', key, LOOKED_AT), 'HDEL', key)
  end
end
