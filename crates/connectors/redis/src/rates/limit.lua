-- A rate limit as `signalbox_budgeting::rate_limit` has it: same steps, same order, same numbers. All numbers are whole
-- and below 2^53, which Lua's are exact for. Changes here are changes there.
--
-- KEYS  two for each limit: a hash with buckets and slices, a sorted set of the slices by their end
-- ARGV  what a script says at its beginning

local MINUTE, LARGEST, PATIENCE, MOST_STEPS = 60000, 100000000000, 2000, 5
local SLICES, SHARES, LONGEST_WAIT = 20, 10, 1000
-- Everything has filled up again by then.
local KEPT = 600000

local min, max, floor, ceil = math.min, math.max, math.floor, math.ceil

-- Never 1e+15, which would lose digits.
local function text(number) return string.format('%.0f', number) end

-- Milliseconds: the server's clock, or a test's.
local function clock(given)
    if given ~= '' then return tonumber(given) end
    local time = redis.call('TIME')
    return time[1] * 1000 + floor(time[2] / 1000)
end

local function bounded(limit) return min(limit, LARGEST) end
local function share(limit) return ceil(limit / SHARES) end

-- Buckets ------------------------------------------------------------------------------------------------------------

local function fill(bucket, limit, milliseconds)
    limit = bounded(limit)
    local whole = limit * MINUTE
    bucket.used = max(min(bucket.used, whole) - limit * milliseconds, 0)
    bucket.low = max(min(bucket.low, whole) - share(limit) * milliseconds, 0)
end

local function remaining(bucket, limit)
    return floor((bounded(limit) * MINUTE - bucket.used) / MINUTE)
end

local function wait_for_share(bucket, limit, needed)
    local most = max(needed, share(limit) * MINUTE)
    return ceil(max(bucket.low + needed - most, 0) / share(limit))
end

local function reserve_of(bucket, limit, asker)
    if asker.steps > 0 then return floor(limit / SHARES) * asker.steps * MINUTE end
    if asker.claims and wait_for_share(bucket, limit, bucket.claim) == 0 then return bucket.claim end
    return 0
end

-- What is given, or nil and the milliseconds to wait.
local function offer(bucket, limit, need, asker)
    if limit == 0 then return 0 end
    limit = bounded(limit)
    local whole, needed = limit * MINUTE, need * MINUTE
    local free = whole - bucket.used
    local reserve = min(reserve_of(bucket, limit, asker), whole - needed)
    local usable = floor(max(free - reserve, 0) / MINUTE)
    local plenty = min(floor(usable / (2 * asker.replicas)), floor(limit / SLICES))
    local own = asker.steps > 0 and free >= needed and wait_for_share(bucket, limit, needed) == 0
    if need == 0 or free >= needed + reserve or own then return max(need, plenty) end
    local function wait(amount) return ceil(max(amount - free, 0) / limit) end
    local ordinary = wait(needed + reserve)
    if asker.steps == 0 then return nil, ordinary end
    return nil, min(ordinary, max(wait(needed), wait_for_share(bucket, limit, needed)))
end

local function take(bucket, limit, need, given, low)
    if limit == 0 then return end
    bucket.used = bucket.used + given * MINUTE
    if low then
        local most = max(need * MINUTE, share(bounded(limit)) * MINUTE)
        bucket.low = min(bucket.low + given * MINUTE, most)
        bucket.claim = 0
    end
end

local function claim(bucket, limit, need, asker)
    bucket.claim = offer(bucket, limit, need, asker) and 0 or need * MINUTE
end

local function give_back(bucket, returnable, unused, low)
    local back = min(unused * MINUTE, returnable)
    bucket.used = max(bucket.used - back, 0)
    if low then bucket.low = max(bucket.low - back, 0) end
    return returnable - back
end

-- A limit ------------------------------------------------------------------------------------------------------------

local function read_slice(name, value)
    local requests, tokens, permits, low = string.match(value, '^(%d+) (%d+) (%d+) (%d)$')
    return {
        name = name,
        requests = tonumber(requests),
        tokens = tonumber(tokens),
        permits = tonumber(permits),
        low = low == '1',
    }
end

-- What of a part of all slices may come back is no more than what is used, less for what ends first.
local function fit(slices, part, used)
    local excess = -used
    for _, slice in ipairs(slices) do excess = excess + slice[part] end
    for _, slice in ipairs(slices) do
        local cut = max(min(excess, slice[part]), 0)
        if cut > 0 then
            slice[part] = slice[part] - cut
            slice.changed = true
            excess = excess - cut
        end
    end
end

-- Reads a limit and lets time pass. `limit` has requests, tokens and concurrent.
local function load(keys, limit, now)
    local fields, stored = {}, redis.call('HGETALL', keys[1])
    for at = 1, #stored, 2 do fields[stored[at]] = stored[at + 1] end
    local function number(name) return tonumber(fields[name] or '0') end
    local state = {
        keys = keys,
        now = now,
        known = fields.at ~= nil,
        requests = { used = number('ru'), low = number('rl'), claim = number('rc') },
        tokens = { used = number('tu'), low = number('tl'), claim = number('tc') },
        permit_claimed = number('pc') == 1,
        claimed_until = number('cu'),
        slices = {},
    }
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', keys[2], '-inf', text(now))) do
        redis.call('HDEL', keys[1], 's:' .. name)
    end
    redis.call('ZREMRANGEBYSCORE', keys[2], '-inf', text(now))
    local ends = redis.call('ZRANGE', keys[2], 0, -1, 'WITHSCORES')
    for at = 1, #ends, 2 do
        local value = fields['s:' .. ends[at]]
        if value then
            local slice = read_slice(ends[at], value)
            slice.until_ = tonumber(ends[at + 1])
            table.insert(state.slices, slice)
        end
    end
    -- A clock that was set back fills nothing.
    local passed = fields.at and max(now - number('at'), 0) or 0
    fill(state.requests, limit.requests, passed)
    fill(state.tokens, limit.tokens, passed)
    fit(state.slices, 'requests', state.requests.used)
    fit(state.slices, 'tokens', state.tokens.used)
    return state
end

local function save(state, ttl)
    local hash, set = state.keys[1], state.keys[2]
    redis.call('HSET', hash, 'at', text(state.now),
        'ru', text(state.requests.used), 'rl', text(state.requests.low), 'rc', text(state.requests.claim),
        'tu', text(state.tokens.used), 'tl', text(state.tokens.low), 'tc', text(state.tokens.claim),
        'pc', state.permit_claimed and '1' or '0', 'cu', text(state.claimed_until))
    for _, slice in ipairs(state.slices) do
        if slice.changed then
            local parts = { text(slice.requests), text(slice.tokens), text(slice.permits), slice.low and '1' or '0' }
            redis.call('HSET', hash, 's:' .. slice.name, table.concat(parts, ' '))
            redis.call('ZADD', set, text(slice.until_), slice.name)
        end
    end
    for _, key in ipairs(state.keys) do
        redis.call('PEXPIRE', key, text(max(ttl, KEPT, redis.call('PTTL', key))))
    end
end

local function slice_of(state, name)
    for _, slice in ipairs(state.slices) do
        if slice.name == name then return slice end
    end
end

-- Permits of all slices but this one: all, those of lower priorities, and when the first of them ends.
local function held_but(state, name)
    local all, low, first = 0, 0, nil
    for _, slice in ipairs(state.slices) do
        if slice.name ~= name then
            all = all + slice.permits
            if slice.low then low = low + slice.permits end
            if slice.permits > 0 then first = min(first or slice.until_, slice.until_) end
        end
    end
    return all, low, first
end

local function left(state, limit)
    return {
        remaining(state.requests, limit.requests),
        remaining(state.tokens, limit.tokens),
        max(limit.concurrent - held_but(state, ''), 0),
    }
end
