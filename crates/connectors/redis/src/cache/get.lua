-- The first entry that one of the keys leads to.
for _, key in ipairs(KEYS) do
  local found = redis.call('GET', key)
  if found and found:sub(1, 1) == 'E' then
    return found
  end
  if found then
    local entry = redis.call('GET', named('x', found:sub(10, 35)))
    if entry and entry:sub(1, 9) == 'E' .. found:sub(2, 9) then
      return entry
    end
  end
end
return false
