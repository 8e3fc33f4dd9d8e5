# Polski

[settings]
script = latin
apostrophe = letter
decimal = comma

[drop]
do tekstu tego, po tym, to, ten, ta, te, tego, tej, tym, tę, tych, który, która, które, której, którego, którą, że, iż, czy, się, być, został, została, zostało, zostały, został
przy, u, wobec, mi, mnie, go
ma być, mają być, co, jaki, jaka, jakie, jak, r
napisz, napisać, podaj, podać, daj, dać, zaproponuj, zaproponować, wymyśl, wymyślić, przygotuj, przygotować, zrób, zrobić, utwórz, utworzyć, wypisz, wypisać, wygeneruj, stwórz, stworzyć, ułóż
potrzebuję, potrzebne, potrzebny, potrzebna, chcę, chciałbym, chciałabym, poproszę, użyj, używaj, nadaj, określ go, odbędzie, odbędzie się, który odbędzie się, wynosi, na poziomie, autorką jest, autorem jest
razem z, wraz z, z zeszłego razu, także, też, również, nadeszły

[polite]
proszę, proszę o, bardzo proszę, dziękuję, dzięki, z góry dziękuję, uprzejmie proszę
cześć, dzień dobry, dobry wieczór, hej, witam
czy możesz, czy mógłbyś, czy mogłabyś, możesz, mógłbyś, czy może pan, czy może pani, powiedz mi, chciałbym wiedzieć, chciałabym wiedzieć
jeśli można, przepraszam, no, hmm

[number]
0 = zero
1 = jeden, jedna, jedno, jednego, jednej, jednym
2 = dwa, dwie, dwóch, dwoma, dwaj, dwoje
3 = trzy, trzech, trzema, troje
4 = cztery, czterech, czworo
5 = pięć, pięciu, pięcioro
6 = sześć, sześciu
7 = siedem, siedmiu
8 = osiem, ośmiu
9 = dziewięć, dziewięciu
10 = dziesięć, dziesięciu
11 = jedenaście, jedenastu
12 = dwanaście, dwunastu
13 = trzynaście, trzynastu
14 = czternaście, czternastu
15 = piętnaście, piętnastu
16 = szesnaście, szesnastu
17 = siedemnaście, siedemnastu
18 = osiemnaście, osiemnastu
19 = dziewiętnaście, dziewiętnastu
20 = dwadzieścia, dwudziestu
30 = trzydzieści, trzydziestu
40 = czterdzieści, czterdziestu
50 = pięćdziesiąt, pięćdziesięciu
60 = sześćdziesiąt, sześćdziesięciu
70 = siedemdziesiąt, siedemdziesięciu
80 = osiemdziesiąt, osiemdziesięciu
90 = dziewięćdziesiąt, dziewięćdziesięciu
100 = sto, stu
200 = dwieście, dwustu
300 = trzysta, trzystu
400 = czterysta, czterystu
500 = pięćset, pięciuset
600 = sześćset
700 = siedemset
800 = osiemset
900 = dziewięćset
1000 = tysiąc, tysiące, tysięcy
1000000 = milion, miliony, milionów
1000000000 = miliard, miliardy, miliardów

[ordinal]
1 = pierwszy, pierwsza, pierwsze, pierwszego, pierwszej, pierwszym
2 = drugi, druga, drugie, drugiego, drugiej, drugim
3 = trzeci, trzecia, trzecie, trzeciego, trzeciej, trzecim
4 = czwarty, czwarta, czwartego, czwartej, czwartym
5 = piąty, piąta, piątego, piątej, piątym
6 = szósty, szósta, szóstego, szóstej, szóstym
7 = siódmy, siódma, siódmego, siódmej, siódmym
8 = ósmy, ósma, ósmego, ósmej, ósmym
9 = dziewiąty, dziewiąta, dziewiątego, dziewiątej, dziewiątym
10 = dziesiąty, dziesiąta, dziesiątego, dziesiątej, dziesiątym
11 = jedenasty, jedenasta, jedenastego, jedenastej, jedenastym
12 = dwunasty, dwunasta, dwunastego, dwunastej, dwunastym
13 = trzynasty, trzynasta, trzynastego, trzynastej
14 = czternasty, czternasta, czternastego, czternastej
15 = piętnasty, piętnasta, piętnastego, piętnastej
20 = dwudziesty, dwudziesta, dwudziestego, dwudziestej

[numbered]
rozdział = rozdział, rozdziału, rozdziały, rozdziałów, rozdziale
strona = strona, strony, stronę, stronie
część = część, części
odcinek = odcinek, odcinka, odcinki
tom = tom, tomu, tomy
punkt = punkt, punktu, punkty
peron = peron, peronu

[month]
1 = styczeń, stycznia, styczniu
2 = luty, lutego, lutym
3 = marzec, marca, marcu
4 = kwiecień, kwietnia, kwietniu
5 = maj, maja, maju
6 = czerwiec, czerwca, czerwcu
7 = lipiec, lipca, lipcu
8 = sierpień, sierpnia, sierpniu
9 = wrzesień, września, wrześniu
10 = październik, października, październiku
11 = listopad, listopada, listopadzie
12 = grudzień, grudnia, grudniu

[weekday]
1 = poniedziałek, poniedziałku, poniedziałkow*
2 = wtorek, wtorku, wtorkow*
3 = środa, środę, środy, środzie, środow*
4 = czwartek, czwartku, czwartkow*
5 = piątek, piątku, piątkow*
6 = sobota, sobotę, soboty, sobocie, sobotni*
7 = niedziela, niedzielę, niedzieli, niedzieln*

[relative]
yesterday = wczoraj, wczorajsz*
today = dziś, dzisiaj, dzisiejsz*
tomorrow = jutro, jutra, jutrzejsz*
after tomorrow = pojutrze
tonight = dziś wieczorem
noon = południe, w południe
midnight = północ, o północy
morning = rano
evening = wieczorem, wieczór
night = noc, nocy, nocą
now = teraz, obecnie
spring = wiosna, wiosny, wiosną
summer = latem, letni*
autumn = jesień, jesieni, jesienią
winter = zima, zimy, zimą

[bound]
last = zeszły, zeszła, zeszłego, zeszłej, zeszłym, ubiegły, ubiegła, ubiegłego, ubiegłej, ubiegłym, poprzedni*, miniony, minionego, minionym
next = przyszły, przyszła, przyszłego, przyszłej, przyszłym, następny, następnego, następnym, następnej, kolejny, kolejnego
this = tego, tym, bieżący, bieżącego, bieżącym

[period]
minute = minuta, minuty, minut
hour = godzina, godziny, godzin, godz
day = dzień, dnia, dni, dniu
week = tydzień, tygodnia, tygodniu, tygodnie, tygodni
month = miesiąc, miesiąca, miesiącu, miesiące, miesięcy
quarter = kwartał, kwartału, kwartale
year = lata, lat, roku, rok
decade = dekada, dekady
century = wiek, wieku

[unit]
percent = procent, procenta, proc
pln = zł, złoty, złotych, złote
eur = euro
usd = dolar, dolary, dolarów, dolara
gbp = funt, funty, funtów
uah = hrywna, hrywny, hrywien
cent = grosz, grosze, groszy
kg = kilogram, kilogramy, kilogramów, kilo
km = kilometr, kilometry, kilometrów
m = metr, metry, metrów
point = przecinek

[comparator]
at most = najwyżej, co najwyżej, maksymalnie, nie więcej niż, maksimum
at least = co najmniej, przynajmniej, minimum, minimalnie, nie mniej niż
over = ponad, powyżej, więcej niż, przeszło
under = poniżej, mniej niż
about = około, mniej więcej, blisko
exactly = dokładnie

[negation]
nie, bez, ani, żaden, żadna, żadnych, nikt, nic

[language]
english = angielski, angielskiego, angielsku, angielską, angielska, angielskim
italian = włoski, włoskiego, włosku, włoską, włoskim
polish = polski, polskiego, polsku, polską, polskim
ukrainian = ukraiński, ukraińskiego, ukraińsku, ukraińską, ukraińskim
chinese = chiński, chińskiego, chińsku
french = francuski, francuskiego, francusku, francuską
german = niemiecki, niemieckiego, niemiecku, niemiecką
spanish = hiszpański, hiszpańskiego, hiszpańsku
portuguese = portugalski, portugalskiego, portugalsku
dutch = holenderski, holendersku, niderlandzki, niderlandzku
russian = rosyjski, rosyjskiego, rosyjsku
japanese = japoński, japońskiego, japońsku
korean = koreański, koreańsku
arabic = arabski, arabskiego, arabsku
turkish = turecki, tureckiego, turecku
czech = czeski, czeskiego, czesku
slovak = słowacki, słowackiego, słowacku
hungarian = węgierski, węgierskiego, węgiersku
romanian = rumuński, rumuńsku
greek = grecki, greckiego, grecku
swedish = szwedzki, szwedzkiego, szwedzku
norwegian = norweski, norweskiego, norwesku
danish = duński, duńskiego, duńsku
finnish = fiński, fińskiego, fińsku
lithuanian = litewski, litewskiego, litewsku
latvian = łotewski, łotewsku
estonian = estoński, estońsku
bulgarian = bułgarski, bułgarsku
croatian = chorwacki, chorwacku
serbian = serbski, serbsku
latin = łacina, łacinę, łaciny, łacinie

[tone]
formal = formalny, formalnie, formalnym, formalnego, oficjalny, oficjalnie, oficjalnym, w oficjalnym stylu, styl oficjalny, oficjalnym stylem, w formalnym stylu
informal = nieformalny, nieformalnie, nieformalnym, potoczny, potocznie, potocznym, w potocznym stylu, styl potoczny
ty = na ty, zwracając się na ty, formy na ty, formą na ty
pan = per pan, na pan, zwracając się per pan, formy per pan
neutral = neutralny, neutralne, neutralnych, neutralnie, neutralnym, neutralny ton
humorous = żartobliwy, żartobliwie, żartobliwym, z humorem, humorystyczny, zabawny, zabawnie, dowcipny
serious = poważny, poważnie, poważnym
ironic = ironiczny, ironicznie, z ironią
sarcastic = sarkastyczny, sarkastycznie
polite = uprzejmie, uprzejmy, uprzejma, uprzejmym, grzecznie, grzeczny
cold = oschle, oschły, oschła, szorstko
rude = niegrzecznie, niegrzeczny
provocative = prowokacyjny, prowokacyjne, prowokacyjnych, prowokacyjnie
sensational = sensacyjny, sensacyjne, sensacyjnych, sensacyjnie
alarming = alarmujący, alarmująco, niepokojący
calm = spokojny, spokojnie
critical = krytyczny, krytycznie
professional = profesjonalny, profesjonalnie
short = krótki, krótko, krótkie, krótkim, zwięźle, zwięzły, w skrócie
long = długi, długo, długie
detailed = szczegółowy, szczegółowo, szczegółowe

[scope]
never = nigdy
only = tylko, wyłącznie, jedynie
all = wszystko, wszystkie, wszystkich, każdy, każda, każde, cały, cała, całego
both = oba, obie, oboje, obu
other = inny, inna, inne, innych
more = więcej, bardziej
less = mniej
before = przed, zanim, wcześniej niż
after = po tym jak, później niż
within = w ciągu
during = podczas, w trakcie
until = aż do, dopóki
since = odkąd
except = oprócz, z wyjątkiem, poza, prócz
must = musi, muszą, muszę, trzeba, należy pamiętać
near = obok, koło
between = między, pomiędzy

[question]
why = dlaczego, czemu, z jakiego powodu
who = kto, kogo, komu
when = kiedy, o której
where = gdzie, dokąd
how many = ile, ilu
how = w jaki sposób, jak mogę

[turn]
in = w, we
on = na
for = dla, za
by = przez
about = na temat, o, dotyczący, dotyczące, dotyczącej
to = do
out of = z, ze
and = i, oraz, a
or = albo, lub, bądź
past = był, była, było, były
present = jest, są
ma = ma
mają = mają
future = będzie, będą
my = mój, moja, moje
your = twój, twoja, twoje
our = nasz, nasza, nasze
your all = wasz, wasza, wasze
his = jego
her = jej
their = ich

[opposed]
- = versus, or, past, future, your all, your, our, his, their, her
for = versus, by, about, from
by = about
from = to
to = out of
and = or, to
ma = mają
past = present, future
present = future
my = your, our, your all, his, her, their
your = our, your all, his, her, their
our = your all, his, her, their
your all = his, her, their
his = her, their
her = their
in = to
on = out of, from

[relation]
from = od
than = niż
versus = kontra, przeciw, przeciwko

[word]
nagłówek = nagłówek, nagłówka, nagłówki, nagłówków, nagłówkiem, tytuł, tytułu, tytuły, zatytułuj
tekst = tekst, tekstu, teksty, tekstem, tekstowi, artykuł, artykułu, artykuły, artykułem
tag = tag, tagi, tagów, tagami, otaguj, otagować
streszczenie = streść, streścić, streszczenie, streszczenia, podsumuj, podsumować, podsumowanie, wyjaśnij krótko, krótko wyjaśnij
tłumaczenie = przetłumacz, przetłumaczyć, tłumaczenie, tłumaczenia, tłumaczeniu, przełóż, przekład, potrzebne tłumaczenie, jak przetłumaczyć, jak powiedzieć
powiedzieć = powiedział, powiedziała, powiedzieli, powiedzieć, wypowiedź, wypowiedzi
klasyfikacja = sklasyfikuj, sklasyfikować, przypisz klasę do, klasyfikuj, klasyfikacja, nadaj klasę
klasa = klasa, klasę, klasy, klas
zdanie = zdanie, zdania
wspomnieć = wspomnij, wspominaj, wspominając, wspomnieć, wzmianka, wzmianką
uwzględnić = uwzględnij, uwzględniając, uwzględnić, uwzględnił, uwzględniona, uwzględniono, z uwzględnieniem
pominąć = pomiń, pomijając, pominąć
przyjąć = przyjął, przyjęła, przyjęto, przyjęta, przyjęty, przyjęli, przyjęły, przyjęcie, przyjęciu
odrzucić = odrzucił, odrzuciła, odrzuciły, odrzucono, odrzucona, odrzuceniu
oddalić = oddalił, oddaliła, oddalona, oddalono
zgodzić = zgodził, zgodziła, zgodzili, zgodziły, zgodę, zgoda, zgodziły na, przystali na, przystały na, przystał na, przystała na, przystały, zgodzie
firma = firma, firmy, firm, firmie, firmą
nazwa = nazwa, nazwy, nazw, nazwami
zdjęcie = zdjęcie, zdjęcia, zdjęć, fotografie, fotografii
kategoria = kategoria, kategorii, kategorię
skarga = skarga, skargi, skargę, skardze
dział = dział, działu, działy
list = list, listu, listy, listów
temat = temat, tematu, tematów, tematycznie, według tematu, tematami
wybierz = wybierz, wybrać
opinia = opinia, opinię, opinii
odpowiedź = odpowiedz, odpowiedź, odpowiedzi
przepis = przepis, przepisu, przepisy
wiadomość = wiadomość, wiadomości, news
autor = autor, autora, autorka, autorki
strajk = strajk, strajku, strajki
korek = korki, korkach, korków
konferencja = konferencja, konferencję, konferencji
sprzedaż = sprzedaż, sprzedaży, wyniki sprzedaży, wyników sprzedaży

[opening]
analizuj, dodaj, dopasuj, dokończ, narysuj, nazwij, obejrzyj, oblicz, oceń, ogranicz, określ, omów, opisz, opowiedz, podkreśl, podsumuj
podziel, pogrupuj, policz, pomóż, popraw, porównaj, posortuj, potrzebuję, poproszę, powiedz, przeanalizuj, przeczytaj, przedstaw
przekształć, przepisz, przetłumacz, przełóż, przypisz, rozwiń, rozwiąż, rozważ, scharakteryzuj, sklasyfikuj, skróć, spisz
sprawdź, streść, sformułuj, szacuj, ułóż, usuń, uprość, utwórz, użyj, wskaż, wybierz, wyjaśnij, wylicz, wymień, wymyśl, wyodrębnij
wypisz, wytłumacz, wyszukaj, zamień, zaplanuj, zapisz, zastąp, zdefiniuj, znajdź, zrób, zwróć

[words]
-, a, u, owi, em, ie, y, i, ów, om, ami, ach, e
a, y, i, ę, ą, ie, o, om, ami, ach, e, -
o, a, u, em, om, ami, ach, -
e, a, u, em, om, ami, ach
4: y, a, e, ego, ej, emu, ym, ych, ą, ymi, o
4: i, a, ie, ia, e, ego, ej, emu, im, ich, ą, iego, iej, imi, o
4: ć, ł, ła, ło, li, ły, ny, na, no, ne, nie, nia, niu
4: ić, ił, iła, iło, ili, iły, ony, ona, ono, enie, enia, eniu
5: ość, ości, y, a, e
5: ek, ka, ki, ku, kiem, ków, kach, kami, kom
4: ja, ji, ję, ją, je

[names]
-, a, owi, em, ie, u, e
-, a, owi, iem, u, iu, ie
a, y, ie, ę, ą, o, e
a, i, ie, ę, ą, o, e
i, iego, iemu, im
ki, kiego, kiemu, kim
ka, kiej, ką
ia, ii, ię, ią, io
-, ia, iowi, iem, iu
ń, nia, niowi, niem, niu
