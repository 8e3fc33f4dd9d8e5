-- ARGV  the time or nothing, the name of the slice, the limit's requests, tokens and concurrent, requests under way,
--       milliseconds to live
-- Gives the permits and three numbers that are left, or nothing where the slice is over.

local limit = { requests = tonumber(ARGV[3]), tokens = tonumber(ARGV[4]), concurrent = tonumber(ARGV[5]) }
local state = load(KEYS, limit, clock(ARGV[1]))
local slice, ttl = slice_of(state, ARGV[2]), tonumber(ARGV[7])
if slice then
    slice.permits = min(slice.permits, tonumber(ARGV[6]) + floor(limit.concurrent / SLICES))
    slice.until_ = state.now + ttl
    slice.changed = true
end
if state.known then save(state, ttl) end
if not slice then return {} end
local remains = left(state, limit)
return { slice.permits, remains[1], remains[2], remains[3] }
