# English

[settings]
script = latin
apostrophe = contraction
decimal = point

[drop]
a, an, the, as, into it
that, this, these, those, which is, who is, it, itself, then, so, if
be, being, having
we, myself
what, whats, which, what is, what are
s, whether, some, any
write, give, suggest, propose, provide, generate, produce a, produce the, compose, draft a, draft the, come up with
write me, give me, i need, i want, we need, i would like, i like to
for me, for this, for it, for that, do that, do it, how does that work, held on, taking place on
option, options, titled, called, entitled

[polite]
please, kindly, thanks, thank you, many thanks, thanks in advance, thank you in advance, cheers, ta, thx, pls, plz
hi, hello, hey, hiya, hi team, hi there, hello there, good morning, good afternoon, good evening, dear team
um, uh, er, erm, hmm, well, okay, ok, yeah, oh
just wondering, i was wondering, i am wondering, quick one, quick question, one question, a question, just a quick question
can you tell me, could you tell me, can you please tell me, could you please tell me, do you know, tell me, let me know, i would like to know, i want to know
can you, could you, would you, can you please, could you please, would you please, would you mind
if possible, if you can, if you could, sorry, excuse me, actually, really, basically, simply
would you be so kind as to, be so kind, i appreciate it, much appreciated, asap

[number]
0 = zero
1 = one
2 = two
3 = three
4 = four
5 = five
6 = six
7 = seven
8 = eight
9 = nine
10 = ten
11 = eleven
12 = twelve, dozen, a dozen
13 = thirteen
14 = fourteen
15 = fifteen
16 = sixteen
17 = seventeen
18 = eighteen
19 = nineteen
20 = twenty
30 = thirty
40 = forty
50 = fifty
60 = sixty
70 = seventy
80 = eighty
90 = ninety
100 = hundred, a hundred
1000 = thousand, a thousand
1000000 = million, a million, mn
1000000000 = billion, a billion, bn

[ordinal]
1 = first, 1st
2 = second, 2nd
3 = third, 3rd
4 = fourth, 4th
5 = fifth, 5th
6 = sixth, 6th
7 = seventh, 7th
8 = eighth, 8th
9 = ninth, 9th
10 = tenth, 10th
11 = eleventh, 11th
12 = twelfth, 12th
13 = thirteenth, 13th
14 = fourteenth, 14th
15 = fifteenth, 15th
16 = sixteenth, 16th
17 = seventeenth, 17th
18 = eighteenth, 18th
19 = nineteenth, 19th
20 = twentieth, 20th

[numbered]
chapter = chapter, chapters
section = section, sections
page = page, pages
part = part, parts
step = step, steps
episode = episode, episodes
season = season, seasons
volume = volume, volumes
paragraph = paragraph, paragraphs
question = question, questions
version = version, versions
article no = article no
platform = platform, platforms
gate = gate, gates

[month]
1 = january, Jan
2 = february, Feb
3 = March, Mar
4 = april, Apr
5 = May
6 = june, Jun
7 = july, Jul
8 = August, Aug
9 = september, Sep, Sept
10 = october, Oct
11 = november, Nov
12 = december, Dec

[weekday]
1 = monday, mondays, Mon
2 = tuesday, tuesdays, Tue, Tues
3 = wednesday, wednesdays, Wed
4 = thursday, thursdays, Thu, Thurs
5 = friday, fridays, Fri
6 = saturday, saturdays, Sat
7 = sunday, sundays, Sun

[relative]
yesterday = yesterday
today = today
tomorrow = tomorrow
tonight = tonight, this evening
overnight = overnight
noon = noon, midday, at noon
midnight = midnight
morning = morning, mornings
afternoon = afternoon, afternoons
evening = evening, evenings
now = now, right now, currently, at the moment
same day = same day
next day = next day
weekend = weekend, weekends
spring = spring
summer = summer
autumn = autumn
winter = winter

[bound]
last = last, past, previous
next = next, coming, following
this = this, current

[period]
second = seconds
minute = minute, minutes, min, mins
hour = hour, hours
day = day, days
week = week, weeks
month = month, months
quarter = quarter, quarters
year = year, years
decade = decade, decades
century = century, centuries

[meridiem]
am = in the morning
pm = in the afternoon, in the evening

[unit]
percent = percent, per cent
percentage point = percentage point, percentage points
eur = euro, euros
usd = dollar, dollars
gbp = pound, pounds, pounds sterling
pence = p, pence
cent = cent, cents
kg = kilo, kilos, kilogram, kilograms
km = kilometre, kilometres, kilometer, kilometers
mile = mile, miles
m = metre, metres, meter, meters
gb = gigabyte, gigabytes
mb = megabyte, megabytes
point = point
oclock = o'clock
h = h

[comparator]
at most = at most, no more than, not more than, up to, maximum, max, a maximum of, at the most, not exceeding, or fewer, or less
at least = at least, no less than, no fewer than, not less than, minimum, min, a minimum of, at the least, or more
over = over, more than, above, greater than, exceeding, longer than, larger than, higher than, older than
under = under, less than, fewer than, below, shorter than, smaller than, lower than, younger than
about = around, roughly, approximately, approx, circa, about
exactly = exactly, precisely

[negation]
not, no, non, cannot, without, nor, neither, none, nobody, nothing, no longer, minus, dont, cant, wont, isnt, arent, doesnt, didnt, wasnt, werent, shouldnt, couldnt, wouldnt, hasnt, havent

[language]
english = English
italian = Italian
polish = Polish
ukrainian = Ukrainian
chinese = Chinese, Mandarin
french = French
german = German
spanish = Spanish, Castilian
portuguese = Portuguese
dutch = Dutch
russian = Russian
japanese = Japanese
korean = Korean
arabic = Arabic
turkish = Turkish
czech = Czech
slovak = Slovak
hungarian = Hungarian
romanian = Romanian
greek = Greek
swedish = Swedish
norwegian = Norwegian
danish = Danish
finnish = Finnish
lithuanian = Lithuanian
latvian = Latvian
estonian = Estonian
bulgarian = Bulgarian
croatian = Croatian
serbian = Serbian
slovenian = Slovenian, Slovene
hebrew = Hebrew
hindi = Hindi
latin = Latin
welsh = Welsh
irish = Irish
catalan = Catalan
vietnamese = Vietnamese
thai = Thai
indonesian = Indonesian
persian = Persian, Farsi

[tone]
formal = formal, formally, in a formal style, formal style, in a formal tone, formal tone, formal form of
informal = informal, informally, casual, casually, in an informal style, informal form of, informal style
neutral = neutral, neutrally, impartial
playful = playful, playfully, fun, a fun
funny = funny, humorous, humorously, witty
ironic = ironic, ironically
sarcastic = sarcastic, sarcastically
serious = serious, seriously
solemn = solemn, solemnly
polite = polite, politely, in a polite manner, in a polite way
rude = rude, rudely
blunt = blunt, bluntly
friendly = friendly, in a friendly way
sensational = sensational, sensationalist
dramatic = dramatic, dramatically
alarming = alarming, alarmist
calm = calm, calmly
enthusiastic = enthusiastic, enthusiastically
critical = critical, critically
provocative = provocative
professional = professional, professionally
simple = simple words, plain language, plain words, plain english
technical = technical, technically
short = short, briefly, in brief, brief, concise, concisely, in short
long = long, lengthy
detailed = detailed, in detail, in depth, at length

[scope]
never = never
only = only, just, solely, exclusively
all = all, every, each, everything, everyone, entire, whole
both = both
most = most
least = least
more = more
less = less, fewer
other = other, others, another, different, else
before = before, prior to, ahead of, earlier than
after = after, later than
within = within
during = during
until = until, till
since = since
except = except, except for, apart from, other than, but not, unless
off = off
up = up
down = down
out = out
between = between
per = per
should = should, ought to, supposed to
must = must, have to, has to
own = own
again = again
together = together, jointly
alone = alone
instead = instead of, rather than
because = because, due to, because of
outside = outside
inside = inside
behind = behind
near = near, nearby
too = too
still = still
already = already
almost = almost, nearly

[question]
why = why, for what reason, how come, why is it that, the reason why
who = who, whom, who do i, who should i, who can i, who do we, to whom
when = when, what time, at what time, on what date, what date, on what day, what day
where = where, in what place, in which place
how many = how many, what number of
how much = how much, what amount of, cost, costs, price, prices, pricing, how much does it cost to, what does it cost to
how long = how long, how long does it take to, how long will it take to, how long does it take for, what length of time
how often = how often, how frequently
how far = how far
how old = how old, what age
how = how, how do i, how can i, how do you, how do we, how can we, how should i, how to, how would i, how could i, how might i, how does one, in what way, what way, what is the way to, what is the best way to, what the best way to, what is the process for, what the process for, what is the procedure for, what the procedure for, what are the steps to, what do i have to do to, what do i need to do to, what do i do to, what should i do to
can = can i, can we, could i, could we, may i, may we, am i allowed to, are we allowed to, is it possible to, is it possible for me to, would it be possible to, am i able to, are we able to, might i, is it ok to, is it okay to

[turn]
in = in
at = at
with = with
of = of
i = i
for = for
by = by
about = about, regarding, concerning
on = on, upon
and = and
or = or
past = was, were, did, had, been
present = is, are, am, do, does, has, have
future = will, shall, going to
might = would, could, might, may
can = can
its = its
here = here
there = there
my = my, mine
your = your, yours
our = our, ours
their = their, theirs
his = his
her = her, hers
me = me
you = you
us = us

[opposed]
- = versus, or, by, past, future, might, can, your, our, his, their, her
for = by, about, versus, from
by = about, on, to, until
about = to
and = or, to
from = to
past = present, future
present = future
my = your, our, their, his, her
your = our, their, his, her
our = their, his, her
their = his, her
his = her
me = us
in = at, on
at = from, to, on, by
with = by, from, to, versus, for
of = by
on = to, from
about = from
for = to
might = past, present, future, can
can = past, present, future
its = present, my, your, our, their, his, her
here = there
i = you

[relation]
from = from, out of
to = to, into, onto
than = than
versus = versus, vs, against

[word]
several = a few, quite a few
some of = a little, a bit of
headline = headline, headlines, title, titles
article = article, articles, story, stories, piece, pieces
photo = photo, photos, photograph, photographs
oped = op ed, opinion piece, opinion column
summary = summar*, sum up, summing up, recap, recaps, recapitulate, synopsis
tag = tag, tags, tagged, tagging, add tags to, assign tags, assign tags to
translation = translat*, how do you say, how would you say
classify = classif*, categoris*, categoriz*
category = category, categories
mention = mention, mentions, mentioning, mentioned
include = include, includes, including, included, do include, come with, comes with
exclude = exclude, excludes, excluding, excluded, leave out, leaving out, omit, omits, omitting, omitted
allow = allow, allows, allowed, allowing, permit, permits, permitted, permitting
forbid = forbid, forbids, forbidden, prohibit, prohibits, prohibited, ban, bans, banned
block = block, blocks, blocked, blocking
approve = approve, approves, approved, approving, approval
reject = reject, rejects, rejected, rejecting, rejection, turn down, turned down, turns down
accept = accept, accepts, accepted, accepting, say yes to, saying yes to, said yes to, agree to, agreed to, agrees to, acceptance of
rise = rise, rises, rising, rose, risen, go up, goes up, going up, went up, increase, increases, increasing, increased, climb, climbing, climbed
fall = fall, falls, falling, fell, fallen, go down, goes down, going down, went down, decrease, decreases, decreasing, decreased, drop, drops, dropping, dropped, decline in, declines in
say = say, says, said, saying, state, stated, states
set up = set up, setting up, create, creates, created, creating, creation of
close = close, closes, closed, closing, shut, shuts, shut down, closure of
cancel = cancel, cancels, cancelled, canceled, cancelling, canceling, cancellation
get = get, gets, getting, got, obtain, obtains, obtaining, obtained, receive, receives, receiving, receive my
buy = buy, buys, buying, bought, purchase, purchases, purchasing, purchased
order = order, orders, ordering, ordered
start = start, starts, starting, started, begin, begins, beginning, began, commence, commences
finish = finish, finishes, finishing, finished, end, ends, ending, ended
help = help, helps, helping, assist, assistance
change = change, changes, changing, changed, alter, alters, altering, modify, modifies, modifying
repair = repair, repairs, repairing, repaired, fix, fixes, fixing, fixed up
choose = choose, chooses, choosing, chose, select, selects, selecting, selected, pick, picks, picking
show = show, shows, showing, display, displays, displaying
submit = submit, submits, submitting, submitted
offer = offer, offers, provide, provides
shop = shop, shops, store, stores
car = car, cars, automobile
phone = phone, phones, telephone, telephones
mobile = mobile, mobiles, cell phone, mobile phone
picture = picture, pictures, image, images
movie = movie, movies, film, films
road = road, roads, street, streets
child = child, children, kid, kids
people = people, persons
woman = woman, women
man = man, men
fast = fast, quick, quickly, rapid, rapidly
fastest = fastest, quickest
big = big, large
bigger = bigger, larger
biggest = biggest, largest
small = small, little
smaller = smaller
smallest = smallest
cheap = cheap, inexpensive, low cost
cheapest = cheapest
earlier = earlier, previous
downside = downside, downsides, drawback, drawbacks, disadvantage, disadvantages
benefit = benefit, benefits, advantage, advantages, upside, upsides, pros
wait = wait, waits, waiting, waiting time, wait time
cashpoint = cashpoint, cashpoints, atm, atms, cash machine, cash machines
holiday = annual leave, holiday entitlement
vaccine = vaccine, vaccines, vaccination, vaccinations, jab, jabs, inoculation
work from home = work from home, working from home, remote work, remote working, work remotely, working remotely
dose = dose, doses, dosage
document = document, documents, paperwork
employee = employee, employees, staff, staff member, staff members
repo = repo, repos, repository, repositories
app = app, apps
fee = fee, fees, charge fee
timetable = timetable, timetables, schedule, schedules
need = do i need, do we need, are needed, is needed, need, needs, needed, require, requires, required, are required
available = available, is there, are there, do you have, have you got
class = class, classes
topic = topic, topics, subject, subjects
letter = letter, letters
warranty = warranty, warranties, guarantee, guarantees
book = book, books, booking, booked, reserve, reserves, reserving, reserved
reservation = reservation, reservations, bookings
trip = trip, trips, journey, journeys
invite = invite, invites, invitation, invitations
delivery = delivery, deliveries, shipping, shipment, shipments
refund = refund, refunds, money back, refunded
parcel = parcel, parcels, package, packages
weather = weather, weather forecast
reply = reply, replies, respond, responds, response, answer, answers
doctor = doctor, doctors, physician, physicians
flat = flat, flats, apartment, apartments
job = job, jobs, occupation
salary = salary, salaries, wage, wages
error = error, errors, mistake, mistakes
request = request, requests, requesting, ask for, asking for
contact = contact, contacts, contacting, get in touch with, reach out to
delete = delete, deletes, deleting, deleted, remove, removes, removing, removed, get rid of
send = send, sends, sending
see = see, view, viewing
nearest = nearest, closest
most recent = latest, most recent, newest
register = register, registering, enrol, enroll, sign up, signing up
supplier = supplier, suppliers, provider, providers
opening hours = opening hours, opening times, business hours
customer service = customer service, customer services, customer support
lawyer = lawyer, lawyers, solicitor, solicitors, attorney, attorneys
rubbish = rubbish, trash, garbage, refuse collection
petrol = petrol, gasoline
luggage = luggage, baggage
ill = ill, sick, unwell
allergic = allergic, allergy, allergies
bicycle = bicycle, bicycles, bike, bikes
tv = tv, television, televisions
fridge = fridge, fridges, refrigerator, refrigerators
advert = advert, adverts, ad, ads, advertisement, advertisements
university = university, universities, uni
exam = exam, exams, examination, examinations
maths = maths, math, mathematics
info = info, information
lift = lift, lifts, elevator, elevators
gift = gift, gifts
instalment = instalment, instalments, installment, installments
colour = colour, colours, color, colors
centre = centre, centres, center, centers
licence = licence, licences, license, licenses
organise = organise, organises, organize, organizes
programme = programme, programmes, program, programs
cv = cv, resume
often = often, frequently
enough = enough, sufficient
sentence = sentence, phrase
memo = memo, memos, memorandum
bus = bus, buses
complaint = complaint, complaints, complain, complaining
overseas = overseas, abroad
autorenewal = auto renewal, automatic renewal, auto renew, autorenewal
wifi = wi fi, wifi
signin = sign in, log in, login, log on, sign on
turn on = turn on, switch on, enable, enables, enabling
turn off = turn off, switch off, disable, disables, disabling
form = form, forms, forming, formed, formation

[opening]
add, adapt, analyse, analyze, apply, arrange, assign, build, calculate, check, claim, collect, combine, come, compare, complete
compute, consider, convert, correct, count, decide, define, describe, design, detect, determine, discuss, divide, edit
estimate, evaluate, examine, expand, explain, extract, figure, fill, format, group, highlight, identify, illustrate
imagine, improve, insert, interpret, introduce, join, judge, justify, keep, let, list, look, make, merge, move, name
outline, paraphrase, perform, plan, point, predict, prepare, print, proofread, put, quote, rank, rate, read, recommend
reformulate, remind, rephrase, replace, return, review, revise, rewrite, score, search, set, shorten, simplify, solve, sort
split, sum, summarise, summarize, take, tell, think, track, transfer, transform, turn, use, verify, they, he, she
don, doesn, didn, isn, aren, wasn, weren, won, wouldn, couldn, shouldn, hasn, haven, hadn

[words]
-, s
4: -, es
4: -, ed, ing, s
4: e, ed, es, ing
4: y, ies, ied, ying
5: -, al
5: e, al
5: e, ion, ions
5: -, ion, ions
6: e, ation, ations, es
6: -, ment, ments
7: -, ly

[names]
-, s
