-- Raises a scope's epoch by one at least, and to the time, which no epoch has been before. ARGV[4]: the scope.
local MOST = 4096
if redis.call('HLEN', EPOCHS) >= MOST then
  begin_anew(primary)
end
local raised = string.format('%.0f', math.max(tonumber(epoch_of(ARGV[4])) + 1, micros()))
redis.call('HSET', EPOCHS, ARGV[4], raised)
return raised
