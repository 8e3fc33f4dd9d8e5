//! Frames and values of five languages. Where a language inflects, values stand in the form that their frame needs.

/// A sentence with `{}` for each slot.
pub(super) struct Frame {
    pub(super) text: &'static str,
    pub(super) slots: &'static [Slot],
}

pub(super) struct Slot {
    pub(super) kind: &'static str,
    pub(super) values: &'static [&'static str],
}

pub(super) struct Language {
    pub(super) code: &'static str,
    pub(super) frames: &'static [Frame],
    /// What may stand before and after a request.
    pub(super) polite: &'static [(&'static str, &'static str)],
    /// Numbers in digits and in words.
    pub(super) numbers: &'static [(&'static str, &'static str)],
}

const fn slot(kind: &'static str, values: &'static [&'static str]) -> Slot {
    Slot { kind, values }
}

const fn frame(text: &'static str, slots: &'static [Slot]) -> Frame {
    Frame { text, slots }
}

const NUMBERS: Slot = slot("number", &["3", "4", "6", "8", "12"]);
const CODES: Slot = slot("code", &["SB-4471", "SB-4417", "AX19", "AX91"]);
const TIMES: Slot = slot("date", &["9:15", "9:50", "19:15", "21:00"]);

pub(super) const LANGUAGES: [Language; 5] = [
    Language {
        code: "en",
        polite: &[("Please ", ""), ("Hello, could you please ", "? Thanks!"), ("", ", please")],
        numbers: &[("3", "three"), ("4", "four"), ("6", "six"), ("8", "eight"), ("12", "twelve")],
        frames: &[
            frame(
                "write {} tags for the portrait of {}",
                &[NUMBERS, slot("name", &["Nora Quill", "Norah Quill", "Dora Quill", "Nora Quinn"])],
            ),
            frame("compare the rents in {} with those in {}", &[EN_CITIES, EN_CITIES]),
            frame("translate the caption from {} to {}", &[EN_LANGUAGES, EN_LANGUAGES]),
            frame(
                "summarise the debate of {} in {} words",
                &[slot("date", &["3 May 2021", "3 June 2021", "5 May 2021", "3 May 2012"]), NUMBERS],
            ),
            frame("summarise the debate of last {}", &[slot("date", &["week", "month", "year", "Friday"])]),
            frame(
                "list {} {} witnesses of the fire",
                &[
                    slot("comparator", &["at most", "at least", "exactly", "fewer than", "more than"]),
                    NUMBERS,
                ],
            ),
            frame(
                "explain why the jury {} the claim",
                &[slot("negation", &["accepted", "did not accept", "rejected", "never accepted"])],
            ),
            frame(
                "give a {} headline for the zoo story",
                &[slot("tone", &["solemn", "playful", "neutral", "formal", "sarcastic"])],
            ),
            frame("classify ticket {} from the {} shift", &[CODES, TIMES]),
            frame(
                "translate \"{}\"",
                &[slot(
                    "quote",
                    &["the bridge is open", "the bridge is shut", "a bridge is open", "the ridge is open"],
                )],
            ),
            frame(
                "write about how {} defeated {}",
                &[
                    slot("name", &["Alba", "Brno", "Cluj", "Doha"]),
                    slot("name", &["Alba", "Brno", "Cluj", "Doha"]),
                ],
            ),
            frame("tag the note {} names", &[slot("negation", &["with", "without", "excluding"])]),
            frame("summarise what happened {} the vote", &[slot("scope", &["before", "after", "during"])]),
        ],
    },
    Language {
        code: "it",
        polite: &[("Per favore ", ""), ("Ciao, ", ", grazie!"), ("", " per favore")],
        numbers: &[("3", "tre"), ("4", "quattro"), ("6", "sei"), ("8", "otto"), ("12", "dodici")],
        frames: &[
            frame(
                "scrivi {} tag per il ritratto di {}",
                &[NUMBERS, slot("name", &["Livia Corti", "Livio Corti", "Silvia Corti", "Livia Conti"])],
            ),
            frame("confronta gli affitti di {} con quelli di {}", &[IT_CITIES, IT_CITIES]),
            frame("traduci la nota dal {} al {}", &[IT_LANGUAGES, IT_LANGUAGES]),
            frame(
                "riassumi il dibattito del {} in {} parole",
                &[
                    slot("date", &["3 maggio 2021", "3 giugno 2021", "5 maggio 2021", "3 maggio 2012"]),
                    NUMBERS,
                ],
            ),
            frame(
                "elenca {} {} testimoni",
                &[slot("comparator", &["al massimo", "almeno", "esattamente", "più di"]), NUMBERS],
            ),
            frame(
                "spiega perché la giuria {} la richiesta",
                &[slot("negation", &["ha accolto", "non ha accolto", "ha respinto"])],
            ),
            frame(
                "scrivi un titolo {} sullo zoo",
                &[slot("tone", &["solenne", "scherzoso", "neutro", "formale"])],
            ),
            frame("classifica il ticket {} delle {}", &[CODES, TIMES]),
            frame(
                "traduci \"{}\"",
                &[slot("quote", &["il ponte è aperto", "il ponte è chiuso", "il porto è aperto"])],
            ),
            frame(
                "racconta come {} ha battuto {}",
                &[slot("name", &["Alba", "Brno", "Cluj"]), slot("name", &["Alba", "Brno", "Cluj"])],
            ),
        ],
    },
    Language {
        code: "pl",
        polite: &[("Proszę ", ""), ("Dzień dobry, ", ", dziękuję!"), ("", ", proszę")],
        numbers: &[("3", "trzy"), ("4", "cztery"), ("6", "sześć"), ("8", "osiem"), ("12", "dwanaście")],
        frames: &[
            frame(
                "napisz {} tagi do portretu {}",
                &[NUMBERS, slot("name", &["Marii Sowy", "Marty Sowy", "Marii Soi", "Jana Sowy"])],
            ),
            frame("porównaj czynsze w {} i w {}", &[PL_CITIES, PL_CITIES]),
            frame(
                "przetłumacz notkę z {} na {}",
                &[
                    slot("language", &["polskiego", "czeskiego", "włoskiego"]),
                    slot("language", &["polski", "czeski", "włoski"]),
                ],
            ),
            frame(
                "streść debatę z {} w {} słowach",
                &[slot("date", &["3 maja 2021", "3 czerwca 2021", "5 maja 2021", "3 maja 2012"]), NUMBERS],
            ),
            frame(
                "wypisz {} {} świadków",
                &[slot("comparator", &["najwyżej", "co najmniej", "dokładnie", "ponad"]), NUMBERS],
            ),
            frame(
                "wyjaśnij, dlaczego jury {} wniosek",
                &[slot("negation", &["przyjęło", "nie przyjęło", "odrzuciło"])],
            ),
            frame(
                "napisz {} nagłówek o zoo",
                &[slot("tone", &["poważny", "żartobliwy", "neutralny", "oficjalny"])],
            ),
            frame("sklasyfikuj zgłoszenie {} z {}", &[CODES, TIMES]),
            frame(
                "przetłumacz „{}”",
                &[slot("quote", &["most jest otwarty", "most jest zamknięty", "port jest otwarty"])],
            ),
            frame(
                "opisz, jak {} pokonała {}",
                &[slot("name", &["Gwardia", "Iskra", "Stal"]), slot("name", &["Gwardia", "Iskra", "Stal"])],
            ),
        ],
    },
    Language {
        code: "uk",
        polite: &[("Будь ласка, ", ""), ("Добрий день, ", ", дякую!"), ("", ", будь ласка")],
        numbers: &[("3", "три"), ("4", "чотири"), ("6", "шість"), ("8", "вісім"), ("12", "дванадцять")],
        frames: &[
            frame(
                "напиши {} теги до портрета {}",
                &[NUMBERS, slot("name", &["Марії Сови", "Марти Сови", "Марії Сойки", "Івана Сови"])],
            ),
            frame("порівняй оренду в {} та в {}", &[UK_CITIES, UK_CITIES]),
            frame(
                "переклади нотатку з {} на {}",
                &[
                    slot("language", &["польської", "чеської", "італійської"]),
                    slot("language", &["польську", "чеську", "італійську"]),
                ],
            ),
            frame(
                "підсумуй дебати {} у {} словах",
                &[
                    slot("date", &["3 травня 2021", "3 червня 2021", "5 травня 2021", "3 травня 2012"]),
                    NUMBERS,
                ],
            ),
            frame(
                "назви {} {} свідків",
                &[slot("comparator", &["щонайбільше", "щонайменше", "рівно", "понад"]), NUMBERS],
            ),
            frame(
                "поясни, чому журі {} заявку",
                &[slot("negation", &["ухвалило", "не ухвалило", "відхилило"])],
            ),
            frame(
                "напиши {} заголовок про зоопарк",
                &[slot("tone", &["серйозний", "жартівливий", "нейтральний", "офіційний"])],
            ),
            frame("класифікуй звернення {} о {}", &[CODES, TIMES]),
            frame("переклади «{}»", &[slot("quote", &["міст відкрито", "міст закрито", "порт відкрито"])]),
            frame(
                "опиши, як {} перемогла {}",
                &[slot("name", &["Ворскла", "Зоря", "Десна"]), slot("name", &["Ворскла", "Зоря", "Десна"])],
            ),
        ],
    },
    Language {
        code: "zh",
        polite: &[("请", ""), ("你好，请", "，谢谢！"), ("麻烦", "")],
        numbers: &[("3", "三"), ("4", "四"), ("6", "六"), ("8", "八"), ("12", "十二")],
        frames: &[
            frame(
                "给{}的专访写{}个标签",
                &[slot("name", &["林晓梅", "林小梅", "林晓玫", "陈晓梅"]), NUMBERS],
            ),
            frame("比较{}和{}的房租", &[ZH_CITIES, ZH_CITIES]),
            frame("把图注从{}译成{}", &[ZH_LANGUAGES, ZH_LANGUAGES]),
            frame(
                "用{}字总结{}的辩论",
                &[
                    NUMBERS,
                    slot(
                        "date",
                        &["2021年5月3日", "2021年6月3日", "2021年3月5日", "2012年5月3日", "上周", "下周"],
                    ),
                ],
            ),
            frame("列出{}{}名证人", &[slot("comparator", &["最多", "至少", "正好", "超过"]), NUMBERS]),
            frame("解释评审团为何{}申请", &[slot("negation", &["批准", "没有批准", "拒绝"])]),
            frame("给动物园的新闻写一个{}的标题", &[slot("tone", &["严肃", "俏皮", "中性", "正式"])]),
            frame("给工单 {} 分类，时间 {}", &[CODES, TIMES]),
            frame("翻译“{}”", &[slot("quote", &["大桥开放了", "大桥关闭了", "码头开放了"])]),
            frame(
                "介绍{}怎样战胜{}",
                &[
                    slot("name", &["海港队", "申花队", "泰山队"]),
                    slot("name", &["海港队", "申花队", "泰山队"]),
                ],
            ),
        ],
    },
];

const EN_CITIES: Slot = slot("city", &["Bergen", "Bern", "Graz", "Gera", "Lviv"]);
const EN_LANGUAGES: Slot = slot("language", &["Polish", "Welsh", "Greek", "Danish"]);
const IT_CITIES: Slot = slot("city", &["Bergamo", "Brescia", "Parma", "Palma"]);
const IT_LANGUAGES: Slot = slot("language", &["polacco", "greco", "danese", "ceco"]);
const PL_CITIES: Slot = slot("city", &["Sopocie", "Sosnowcu", "Gdyni", "Gnieźnie"]);
const UK_CITIES: Slot = slot("city", &["Сумах", "Самборі", "Умані", "Ужгороді"]);
const ZH_CITIES: Slot = slot("city", &["苏州", "徐州", "上海", "成都"]);
const ZH_LANGUAGES: Slot = slot("language", &["法语", "德语", "波兰语"]);
