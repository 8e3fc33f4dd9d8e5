-- What every script of a tenant's entries begins with. ARGV[1] is its hash tag, ARGV[2] how vectors are searched.
--
-- An entry:  'E', put (8), space of its vector (32), task, locale, fingerprint (26 each), what only we read
-- An alias:  'A', put (8), key it leads to (26)
--
-- Keys that are not among KEYS have the same hash tag, and so are on the same node.
local TAG, WAY = ARGV[1], ARGV[2]
local NO_SPACE = string.rep('-', 32)
local HEADER = 118

local function named(kind, name)
  return 'sb:v1:' .. kind .. ':' .. TAG .. ':' .. name
end

local function in_space(kind, space, name)
  return 'sb:v1:' .. kind .. ':' .. space .. ':' .. TAG .. ':' .. name
end

local function name_of(key)
  return key:sub(-26)
end

-- Milliseconds since 1970.
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Lets a key live at least this long.
local function extend(key, ttl)
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
  end
end

-- Forgets what leads to an entry by nearness and by task. Its key is left to the caller.
local function forget(name, entry)
  redis.call('ZREM', named('h', entry:sub(42, 67)), name)
  local space, member = entry:sub(10, 41), name .. entry:sub(2, 9)
  if space == NO_SPACE then
    return
  end
  if WAY == 'search' then
    redis.call('UNLINK', in_space('s', space, name))
  elseif WAY == 'sets' then
    redis.call('VREM', in_space('v', space, entry:sub(42, 119)), member)
  else
    redis.call('HDEL', in_space('b', space, entry:sub(42, 119)), member)
  end
end

-- Forgets what is under a key, if it is an entry.
local function replace(key)
  local old = redis.call('GETRANGE', key, 0, HEADER)
  if old:sub(1, 1) == 'E' then
    forget(name_of(key), old)
    return true
  end
  return false
end
