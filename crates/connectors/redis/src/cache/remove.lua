-- Removes what is under a key.
replace(KEYS[1])
return redis.call('UNLINK', KEYS[1])
