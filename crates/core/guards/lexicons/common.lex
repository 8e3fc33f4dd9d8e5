# Symbols and units that every language writes.

[unit]
percent = %
eur = €, eur
usd = $, usd
gbp = £, gbp
uah = ₴, uah
pln = pln
cny = ¥, cny, rmb
kg = kg
g = g
km = km
m = m
cm = cm
mm = mm
l = l
ml = ml
mg = mg
kb = kb
mb = mb
gb = gb
tb = tb
kwh = kwh
degree = °

[meridiem]
am = am
pm = pm

[drop]
&, +
