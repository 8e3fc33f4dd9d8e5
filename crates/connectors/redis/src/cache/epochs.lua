-- Current epochs of scopes. One that was never raised has the floor, which is the time it was first asked for: epochs
-- that were lost and begin anew never meet those of entries that were not.
local floor = redis.call('HGET', KEYS[1], 'floor')
if not floor then
  floor = string.format('%.0f', now())
  redis.call('HSET', KEYS[1], 'floor', floor)
end
local answer = {}
for i = 3, #ARGV do
  table.insert(answer, redis.call('HGET', KEYS[1], ARGV[i]) or floor)
end
return answer
