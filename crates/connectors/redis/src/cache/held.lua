-- Of each task: its digest in letters, how many entries, and their mean size, of a few.
local SAMPLE = 20
local answer = {}
for _, task in ipairs(redis.call('SMEMBERS', named('t', 'tasks'))) do
  local held = named('h', task)
  local count, bytes, seen = redis.call('ZCOUNT', held, now(), '+inf'), 0, 0
  for _, name in ipairs(redis.call('ZRANDMEMBER', held, SAMPLE)) do
    local key = named('x', name)
    local length = redis.call('STRLEN', key)
    if length > 0 then
      local dimensions = tonumber(redis.call('GETRANGE', key, 36, 40)) or 0
      bytes, seen = bytes + length + 4 * dimensions, seen + 1
    end
  end
  if count > 0 and seen > 0 then
    table.insert(answer, task)
    table.insert(answer, count)
    table.insert(answer, math.floor(bytes / seen))
  end
end
return answer
