-- Removes those of the keys whose entries are under a scope, and those that lead to no entry. ARGV[3]: the scope's kind,
-- ARGV[4]: its digest in letters, ARGV[5]: the scope as it stands in an entry's epochs, ARGV[6]: where those begin.
-- How many entries and how many other keys that were.
local kind, digest, scope, from = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local HEAD = 16383

local function is_under(entry)
  if kind == 'tenant' then
    return true
  elseif kind == 'task' and entry:sub(42, 67) == digest then
    return true
  elseif kind == 'locale' and entry:sub(68, 93) == digest then
    return true
  end
  local count = entry:byte(from) * 256 + entry:byte(from + 1)
  for i = 0, count - 1 do
    local at = from + 2 + 25 * i
    if entry:sub(at, at + 16) == scope then
      return true
    end
  end
  return false
end

local entries, others = 0, 0
for _, key in ipairs(KEYS) do
  local found = redis.call('GETRANGE', key, 0, HEAD)
  if found:sub(1, 1) == 'E' then
    if is_under(found) then
      forget(name_of(key), found)
      entries = entries + redis.call('UNLINK', key)
    end
  elseif found ~= '' then
    local leads_to = redis.call('GETRANGE', named('x', found:sub(10, 35)), 0, 8)
    if leads_to ~= 'E' .. found:sub(2, 9) then
      others = others + redis.call('UNLINK', key)
    end
  end
end
return { entries, others }
