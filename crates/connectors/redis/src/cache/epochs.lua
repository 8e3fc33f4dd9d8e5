-- Current epochs of scopes. One that was never raised has the floor, which is the time it was first asked for: epochs
-- that were lost and begin anew never meet those of entries that were not.
local answer = {}
for i = 4, #ARGV do
  table.insert(answer, epoch_of(ARGV[i]))
end
return answer
