-- ARGV  the time or nothing, the tokens; and for each limit its name of the slice, requests, tokens, concurrent,
--       requests under way, steps of priority, milliseconds to live
-- Gives 0 and for each limit three numbers given and three that are left; 1, the limit's index, the milliseconds to wait,
-- the three that are left and which of them it is, where one is short; or 2 and the limit's index, where one never has as
-- much.

local function asker_of(state, want)
    return {
        steps = min(want.steps, MOST_STEPS),
        replicas = #state.slices + (slice_of(state, want.slice) and 0 or 1),
        claims = state.now < state.claimed_until,
    }
end

local function offer_permits(state, limit, want, asker)
    if limit.concurrent == 0 then return 0 end
    local need = want.under_way + 1
    local others, others_low, first = held_but(state, want.slice)
    local free = max(limit.concurrent - others, 0)
    local share = share(limit.concurrent)
    local reserve = 0
    if asker.steps > 0 then
        reserve = floor(limit.concurrent / SHARES) * asker.steps
    elseif asker.claims and state.permit_claimed and others_low < share then
        reserve = 1
    end
    reserve = min(reserve, max(limit.concurrent - need, 0))
    local own = asker.steps > 0 and others_low + need <= share
    if need > free or (need + reserve > free and not own) then
        return nil, first and min(max(first - state.now, 1), LONGEST_WAIT) or LONGEST_WAIT
    end
    local spare = floor(max(free - reserve - need, 0) / (2 * asker.replicas))
    return need + min(floor(limit.concurrent / SLICES), spare)
end

local function offers(state, limit, want)
    local asker = asker_of(state, want)
    local requests, requests_wait = offer(state.requests, limit.requests, 1, asker)
    local tokens, tokens_wait = offer(state.tokens, limit.tokens, want.tokens, asker)
    local permits, permits_wait = offer_permits(state, limit, want, asker)
    if requests and tokens and permits then return { requests, tokens, permits } end
    -- Of two that take as long the last is told.
    local wait, of = 0, 0
    for _, each in ipairs({ { permits_wait, 2 }, { tokens_wait, 1 }, { requests_wait, 0 } }) do
        if each[1] and each[1] >= wait then wait, of = each[1], each[2] end
    end
    return nil, wait, of
end

local function commit(state, limit, want, given)
    local low = want.steps > 0
    take(state.requests, limit.requests, 1, given[1], low)
    take(state.tokens, limit.tokens, want.tokens, given[2], low)
    if low then state.permit_claimed = false end
    local slice = slice_of(state, want.slice)
    if not slice then
        slice = { name = want.slice, requests = 0, tokens = 0 }
        table.insert(state.slices, slice)
    end
    slice.requests = slice.requests + given[1] * MINUTE
    slice.tokens = slice.tokens + given[2] * MINUTE
    slice.permits, slice.low, slice.changed = given[3], low, true
    slice.until_ = state.now + want.ttl
    save(state, want.ttl)
end

local function keep_share(state, limit, want, wait)
    local asker = asker_of(state, want)
    local permits = offer_permits(state, limit, want, asker)
    claim(state.requests, limit.requests, 1, asker)
    claim(state.tokens, limit.tokens, want.tokens, asker)
    state.permit_claimed = permits == nil
    state.claimed_until = state.now + wait + PATIENCE
end

local now, tokens, asks = clock(ARGV[1]), tonumber(ARGV[2]), {}
for at = 3, #ARGV, 7 do
    local index = #asks
    local limit = { requests = tonumber(ARGV[at + 1]), tokens = tonumber(ARGV[at + 2]), concurrent = tonumber(ARGV[at + 3]) }
    if limit.tokens > 0 and tokens > bounded(limit.tokens) then return { 2, index } end
    table.insert(asks, {
        limit = limit,
        want = {
            slice = ARGV[at],
            tokens = tokens,
            under_way = tonumber(ARGV[at + 4]),
            steps = tonumber(ARGV[at + 5]),
            ttl = tonumber(ARGV[at + 6]),
        },
        state = load({ KEYS[2 * index + 1], KEYS[2 * index + 2] }, limit, now),
    })
end

local short, longest, short_of
for index, ask in ipairs(asks) do
    local wait, of
    ask.given, wait, of = offers(ask.state, ask.limit, ask.want)
    if wait then
        if ask.want.steps > 0 then keep_share(ask.state, ask.limit, ask.want, wait) end
        if not longest or wait > longest then short, longest, short_of = index, wait, of end
    end
end
if short then
    -- The time that has passed under the limit of now.
    for _, ask in ipairs(asks) do save(ask.state, 0) end
    local remains = left(asks[short].state, asks[short].limit)
    return { 1, short - 1, longest, remains[1], remains[2], remains[3], short_of }
end

local answer = { 0 }
for _, ask in ipairs(asks) do
    commit(ask.state, ask.limit, ask.want, ask.given)
    for _, number in ipairs(ask.given) do table.insert(answer, number) end
    for _, number in ipairs(left(ask.state, ask.limit)) do table.insert(answer, number) end
end
return answer
