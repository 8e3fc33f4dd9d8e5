-- Under which cache secret the store is used, and since when. KEYS[1] holds both, ARGV[1] is who asks: the fingerprint of
-- its secret. Another one than before takes over, from a time that none has had: since when, and whether it took over.
local whose, since = (redis.call('GET', KEYS[1]) or ''):match('^(%w+):(%d+)$')
if whose == ARGV[1] then
  return { since, 0 }
end
local time = redis.call('TIME')
local began = time[1] * 1000 + math.floor(time[2] / 1000)
if since then
  began = math.max(began, tonumber(since) + 1)
end
local text = string.format('%.0f', began)
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. text)
return { text, whose and 1 or 0 }
