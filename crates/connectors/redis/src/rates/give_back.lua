-- ARGV  the time or nothing, the name of the slice, the limit's requests, tokens and concurrent, and what comes back of
--       each

local limit = { requests = tonumber(ARGV[3]), tokens = tonumber(ARGV[4]), concurrent = tonumber(ARGV[5]) }
local state = load(KEYS, limit, clock(ARGV[1]))
local slice = slice_of(state, ARGV[2])
if slice then
    slice.requests = give_back(state.requests, slice.requests, tonumber(ARGV[6]), slice.low)
    slice.tokens = give_back(state.tokens, slice.tokens, tonumber(ARGV[7]), slice.low)
    slice.permits = max(slice.permits - tonumber(ARGV[8]), 0)
    slice.changed = true
end
if state.known then save(state, 0) end
return 0
