-- Replaces a value that is as expected. ARGV[1], ARGV[3]: '1' where there is one; ARGV[2], ARGV[4]: what it is.
local old = redis.call('GET', KEYS[1])
local expected = ARGV[1] == '1' and ARGV[2]
if old ~= expected then
  return old
end
if ARGV[3] == '1' then
  redis.call('SET', KEYS[1], ARGV[4])
  return ARGV[4]
end
redis.call('DEL', KEYS[1])
return false
