# Italiano

[settings]
script = latin
apostrophe = elision
decimal = comma

[drop]
il, lo, la, i, gli, le, l, un, una, uno, un
col, tra, fra, che, chi è, cui
essere, stato, stata, stati, state, viene, vengono, aver, avere
mi, ti, ci, vi, si, me, te, lui, questo, questa, questi, queste, quest, quello, quella, quel, quell, ne
qual, quale, quali, che cosa è, cos è, nei confronti di, circa il
scrivi, scrivere, scrivimi, dammi, dai, proponi, proporre, suggerisci, trova, fornisci, fornire, genera, generare, crea, creare, crea dei, elenca, elencare, indica, indicami, metti, produci, redigi
mi serve, mi servono, serve, servono, voglio, vorrei, ho bisogno di, ci vuole, ci vogliono, fai, fare, fammi, devono essere, deve essere, scegli tra, usa, usare, utilizza
che parla, che parlano, che si tiene, tenuta, tenuto, tenutasi, arrivate, arrivati
anche, pure, poi, come, scritto da, scritta da, dal titolo
l opzione

[polite]
per favore, per piacere, per cortesia, grazie, grazie mille, cortesemente, gentilmente per favore, prego
ciao, salve, buongiorno, buonasera, buon giorno, buona sera
puoi, potresti, potrebbe, può, mi puoi, mi potresti, puoi dirmi, potresti dirmi, dimmi, sai dirmi, vorrei sapere, volevo sapere
se possibile, scusa, scusi, ehm, allora

[number]
0 = zero
1 = uno soltanto
2 = due
3 = tre
4 = quattro
5 = cinque
6 = sei
7 = sette
8 = otto
9 = nove
10 = dieci
11 = undici
12 = dodici
13 = tredici
14 = quattordici
15 = quindici
16 = sedici
17 = diciassette
18 = diciotto
19 = diciannove
20 = venti
21 = ventuno
22 = ventidue
23 = ventitré, ventitre
24 = ventiquattro
25 = venticinque
26 = ventisei
27 = ventisette
28 = ventotto
29 = ventinove
30 = trenta
35 = trentacinque
40 = quaranta
45 = quarantacinque
50 = cinquanta
60 = sessanta
70 = settanta
80 = ottanta
90 = novanta
100 = cento
150 = centocinquanta
200 = duecento
250 = duecentocinquanta
300 = trecento
400 = quattrocento
500 = cinquecento
600 = seicento
700 = settecento
800 = ottocento
900 = novecento
1000 = mille, mila
2000 = duemila
1000000 = milione, milioni
1000000000 = miliardo, miliardi

[ordinal]
1 = primo, prima parte, primi, prima pagina
2 = secondo, seconda, secondi
3 = terzo, terza, terzi
4 = quarto, quarta
5 = quinto, quinta
6 = sesto, sesta
7 = settimo, settima
8 = ottavo, ottava
9 = nono, nona
10 = decimo, decima
11 = undicesimo, undicesima
12 = dodicesimo, dodicesima
13 = tredicesimo, tredicesima
14 = quattordicesimo, quattordicesima
15 = quindicesimo, quindicesima
20 = ventesimo, ventesima

[numbered]
capitolo = capitolo, capitoli
sezione = sezione numero
pagina = pagina, pagine
parte = parte, parti
puntata = puntata, puntate, episodio, episodi
volume = volume, volumi
paragrafo = paragrafo, paragrafi

[month]
1 = gennaio
2 = febbraio
3 = marzo
4 = aprile
5 = maggio
6 = giugno
7 = luglio
8 = agosto
9 = settembre
10 = ottobre
11 = novembre
12 = dicembre

[weekday]
1 = lunedì
2 = martedì
3 = mercoledì
4 = giovedì
5 = venerdì
6 = sabato, sabati
7 = domenica, domeniche

[relative]
yesterday = ieri
today = oggi
tomorrow = domani
after tomorrow = dopodomani
tonight = stasera, questa sera, stanotte
noon = mezzogiorno
midnight = mezzanotte
morning = mattina, mattino, mattine
afternoon = pomeriggio
evening = sera, sere
night = notte, notti
now = adesso, ora, attualmente
spring = primavera
summer = estate
autumn = autunno
winter = inverno

[bound]
last = scorso, scorsa, scorsi, scorse, passato, passata, precedente
next = prossimo, prossima, prossimi, prossime, seguente
this = questo, questa, quest, corrente

[period]
minute = minuto, minuti
hour = ore, ora intera
day = giorno, giorni, giornata
week = settimana, settimane
month = mese, mesi
quarter = trimestre, trimestri
year = anno, anni
decade = decennio, decenni
century = secolo, secoli

[meridiem]
am = di mattina, del mattino
pm = di sera, della sera, del pomeriggio

[unit]
percent = per cento, percento
eur = euro
usd = dollaro, dollari
gbp = sterlina, sterline
cent = centesimo, centesimi
kg = chilo, chili, chilogrammi
km = chilometro, chilometri
m = metro, metri
point = virgola

[comparator]
at most = al massimo, non più di, massimo, fino a, al più
at least = almeno, minimo, non meno di, come minimo
over = più di, oltre, sopra, superiore a, superiori a, maggiore di
under = meno di, sotto, inferiore a, inferiori a, minore di
about = circa, all incirca, più o meno, intorno a
exactly = esattamente, precisamente

[negation]
non, senza, no, né, nessun, nessuno, nessuna, niente, nulla

[language]
english = inglese
italian = italiano, italiana, italiani, italiane
polish = polacco, polacca
ukrainian = ucraino, ucraina
chinese = cinese, mandarino
french = francese
german = tedesco, tedesca
spanish = spagnolo, spagnola, castigliano
portuguese = portoghese
dutch = olandese, neerlandese
russian = russo, russa
japanese = giapponese
korean = coreano, coreana
arabic = arabo, araba
turkish = turco, turca
czech = ceco, ceca
slovak = slovacco, slovacca
hungarian = ungherese
romanian = rumeno, rumena, romeno
greek = greco, greca
swedish = svedese
norwegian = norvegese
danish = danese
finnish = finlandese
lithuanian = lituano
latvian = lettone
estonian = estone
bulgarian = bulgaro
croatian = croato
serbian = serbo
slovenian = sloveno
hebrew = ebraico
latin = latino
catalan = catalano
vietnamese = vietnamita
albanian = albanese

[tone]
formal = formale, formali, formalmente, con tono formale, tono formale, in stile formale
informal = informale, informali, colloquiale, con tono informale
tu = del tu, il tu, dando del tu, con il tu, usando il tu
lei = del lei, il lei, dando del lei, con il lei, usando il lei
neutral = neutro, neutri, neutra, neutre, neutrale, neutrali
ironic = ironico, ironica, ironici, con ironia, ironicamente
sarcastic = sarcastico, sarcastica
playful = scherzoso, scherzosa, giocoso, con tono scherzoso
funny = divertente, spiritoso, umoristico
serious = serio, seria
solemn = solenne
kind = gentile, gentilmente, con tono gentile, cortese, con gentilezza
severe = severo, severa, con tono severo
rude = scortese, brusco, bruscamente
alarming = allarmante, allarmanti, allarmistico
sensational = sensazionalistico, sensazionale, sensazionali
provocative = provocatorio, provocatori, provocatoria, provocatorie
calm = calmo, pacato, tranquillo
critical = critico, critica
professional = professionale, professionali
short = breve, brevi, brevemente, in breve, conciso
long = lungo, lunga, lunghi
detailed = dettagliato, dettagliata, nel dettaglio

[scope]
never = mai
only = solo, soltanto, solamente, unicamente, esclusivamente
all = tutto, tutta, tutti, tutte, ogni, ciascuno, intero, intera
both = entrambi, entrambe
some = alcuni, alcune, qualche
more = più
less = meno
other = altro, altra, altri, altre, diverso, diversa
before = prima, prima di, prima del, prima della
after = dopo, dopo il, dopo la
within = entro
during = durante
until = fino al, fino alla, finché
since = da quando
except = tranne, eccetto, salvo, a parte, escluso
must = deve, devo, devono, bisogna
outside = fuori, fuori da
inside = dentro
near = vicino, presso

[question]
why = perché, per quale motivo, per quale ragione, come mai
who = chi
when = quando, a che ora, in che data
where = dove
how many = quanti, quante
how much = quanto, quanta
how long = da quanto tempo, per quanto tempo, quanto tempo
how = come si fa a, come faccio a, come posso, in che modo

[turn]
of = di, del, dello, della, dei, degli, delle, dell, d
in = in, nel, nello, nella, nei, negli, nelle, nell
for = per
with = con
to = a, al, allo, alla, ai, agli, alle, all, ad, verso
by = da parte di, da parte del, da parte della, da parte dei
about = su, sul, sullo, sulla, sui, sugli, sulle, sull, riguardo a, riguardo
and = e, ed
or = o, oppure
past = era, erano
present = è
sono = sono
ho = ho
hai = hai
ha = ha
abbiamo = abbiamo
hanno = hanno
my = mio, mia, miei, mie
your = tuo, tua, tuoi, tue
our = nostro, nostra, nostri, nostre
your all = vostro, vostra, vostri, vostre
his = suo, sua, suoi, sue
their = loro

[opposed]
- = versus, or, by, past, your all, your, our, his, their
for = versus, by, about, from
by = about, to
from = to
and = or, to
past = present, sono
present = sono
ho = hai, ha, abbiamo, hanno
hai = ha, abbiamo, hanno
ha = abbiamo, hanno
abbiamo = hanno
my = your, our, your all, his, their
your = our, your all, his, their
our = your all, his, their
your all = his, their
his = their
in = from, about, to
of = to, from, by

[relation]
from = da, dal, dallo, dalla, dai, dagli, dalle, dall
than = rispetto a
versus = contro

[word]
titolo = titolo, titoli, intitola, titolare il
articolo = articolo, articoli, pezzo, pezzi, testo per il giornale
notizia = notizia, notizie
bici = bici, bicicletta, biciclette
tv = tv, televisione, televisivo, televisiva, televisivi
foto = foto, fotografia, fotografie, fotografico, fotografica
tag = tag, assegna i tag, metti i tag, etichetta, etichette
riassunto = riassumi, riassumere, riassunto, riassunti, sintesi, sintetizza, spiega in breve, riepilogo, riepiloga
traduzione = traduci, tradurre, traduzione, traduzioni, tradotto, mi traduci, traducimi, come si dice
classifica = classifica, classificare, classificalo, classificala, classificazione, assegna una classe, dai una classe
classe = classe, classi
ordina = ordina, ordinare, raggruppa
dividi = dividi, dividere, suddividi
frase = frase, frasi
includere = includi, includendo, includere, inclusi, comprendi, comprendendo
escludere = escludi, escludendo, escludere, ometti, omettendo
citare = cita, citando, citare, menziona, menzionando, menzionare
accogliere = accolto, accoglie, accolta, accogliere
respingere = respinto, respinge, respinta, respingere
accettare = accetta, accettano, accettare, accettato, dicono sì, dice sì, dire sì
rifiutare = rifiuta, rifiutano, rifiutare, rifiutato, dicono no
approvare = approva, approvato, approvata, approvano, approvare, approvazione
permettere = permesso, permette, consentito, consente, è permesso, si può
vietare = vietato, vieta, vietata
spiega = spiega, spiegare, spiegala, spiegalo
dire = detto, dice, dicono, parole del, parole della, ha detto
frase breve = slogan
tema = tema, temi, argomento
sentimento = sentimento
categoria = categoria, categorie
reclamo = reclamo, reclami
lettera = lettera, lettere
sezione = sezione, sezioni
aprire = apre, aprire, apertura, aprono
chiudere = chiude, chiudere, chiusura, chiudono
didascalia = didascalia, didascalie
ritardo = ritardo, in ritardo, ritardi

[opening]
aggiungi, analizza, applica, assegna, calcola, cambia, cerca, classifica, combina, completa, componi, confronta, controlla, converti
correggi, decidi, definisci, descrivi, determina, dividi, elabora, estrai, evidenzia, formatta, identifica, immagina, individua
inserisci, leggi, migliora, ordina, pensa, porta, prepara, raggruppa, restituisci, riassumi, riformula, rispondi, riscrivi
scegli, semplifica, spiega, stima, traduci, trasforma, unisci, valuta, verifica

[words]
o, i
a, e
e, i
4: o, a, i, e
4: co, chi, ca, che
5: are, ato, ata, ati, ate, a, ano, ando, azione, azioni, o
5: ere, uto, uta, e, ono, endo
5: ire, ito, ita, e, ono, endo
4: io, i
5: a, i

[names]
-
