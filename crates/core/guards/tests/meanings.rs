//! What is taken for the same request, and what is not, language by language.

use signalbox_guards::{Guard, Guards};

/// Language, the guard that refuses, and two texts of different meaning.
const DIFFERENT: &[(&str, Guard, &str, &str)] = &[
    ("en", Guard::Number, "Give 5 tags", "Give 15 tags"),
    ("en", Guard::Number, "Give five tags", "Give six tags"),
    ("en", Guard::Number, "The ticket costs 12 euros", "The ticket costs 12 dollars"),
    ("en", Guard::Number, "The ticket costs €12", "The ticket costs $12"),
    ("en", Guard::Number, "Inflation of 7.2 percent", "Inflation of 7.8 percent"),
    ("en", Guard::Number, "Summarise chapter 3", "Summarise 3 chapters"),
    ("en", Guard::Number, "Summarise the third chapter", "Summarise three chapters"),
    ("en", Guard::Number, "Write 2 tags of 5 words", "Write 5 tags of 2 words"),
    ("en", Guard::Number, "A budget of two million", "A budget of two hundred"),
    ("en", Guard::Number, "Files over 10GB", "Files over 10MB"),
    ("en", Guard::Number, "A bag of 23kg", "A bag of 32kg"),
    ("en", Guard::Comparator, "Name at most 5 witnesses", "Name at least 5 witnesses"),
    ("en", Guard::Comparator, "Orders over £50", "Orders under £50"),
    ("en", Guard::Comparator, "No more than 10 tags", "No fewer than 10 tags"),
    ("en", Guard::Date, "The debate of 5 March 2024", "The debate of 5 May 2024"),
    ("en", Guard::Date, "The briefing from Monday", "The briefing from Thursday"),
    ("en", Guard::Date, "Last week's sales", "Last month's sales"),
    ("en", Guard::Date, "Remind me at 7am", "Remind me at 7pm"),
    ("en", Guard::Date, "The 9:15 train", "The 9:50 train"),
    ("en", Guard::Date, "Photos of 2019", "Photos of 2021"),
    ("en", Guard::Date, "Sales in May were low", "Sales in June were low"),
    ("en", Guard::Negation, "The council approved the line", "The council did not approve the line"),
    ("en", Guard::Negation, "Smoking is allowed", "Smoking isn't allowed"),
    ("en", Guard::Negation, "Smoking is allowed", "smoking isnt allowed"),
    ("en", Guard::Negation, "Tag the note with names", "Tag the note without names"),
    ("en", Guard::Negation, "Prices for members", "Prices for non-members"),
    ("en", Guard::Negation, "Is it safe to run?", "Is it unsafe to run?"),
    ("en", Guard::Negation, "A balanced and loyal opposition", "A balanced and disloyal opposition"),
    ("en", Guard::NamedEntity, "Rome is not open, Milan is", "Milan is not open, Rome is"),
    ("en", Guard::LanguageName, "Translate from English to Italian", "Translate from Italian to English"),
    ("en", Guard::LanguageName, "The headline in French", "The headline in Spanish"),
    ("en", Guard::Quote, "Translate \"we are open\"", "Translate \"we are shut\""),
    ("en", Guard::Code, "Summarise ticket SB-4471", "Summarise ticket SB-4417"),
    ("en", Guard::Code, "Summarise https://a.example/x", "Summarise https://a.example/y"),
    ("en", Guard::Code, "Explain `a < b`", "Explain `b < a`"),
    ("en", Guard::Code, "Write to ann@example.com", "Write to anne@example.com"),
    ("en", Guard::Tone, "A playful headline on the zoo", "A solemn headline on the zoo"),
    ("en", Guard::Question, "Why did the bridge close?", "When did the bridge close?"),
    ("en", Guard::Question, "How do I pay?", "How much do I pay?"),
    ("en", Guard::Scope, "Tag all names", "Tag names"),
    ("en", Guard::Scope, "Tag only names", "Tag names"),
    ("en", Guard::Scope, "What happened before the vote?", "What happened after the vote?"),
    ("en", Guard::Scope, "Which dish sells the most?", "Which dish sells the least?"),
    ("en", Guard::Scope, "He always came", "He never came"),
    ("en", Guard::NamedEntity, "An interview with Laura Bianchi", "An interview with Lara Bianchi"),
    ("en", Guard::NamedEntity, "The office moved to Geneva", "The office moved to Genoa"),
    ("en", Guard::NamedEntity, "How Smith beat Jones", "How Jones beat Smith"),
    ("en", Guard::NamedEntity, "Drinking age in the US", "Drinking age in the UK"),
    ("en", Guard::NamedEntity, "Write about the US", "Write about us"),
    ("en", Guard::Content, "What the minister of health said", "What the minister of finance said"),
    ("en", Guard::Content, "The symptoms of flu", "The symptoms of flu in babies"),
    ("en", Guard::Content, "Summarise the memo", "Translate the memo"),
    ("en", Guard::Content, "The police said so", "The policy said so"),
    ("en", Guard::Content, "What the employer pays", "What the employee pays"),
    ("en", Guard::Content, "The contract is late", "The contact is late"),
    ("en", Guard::Order, "Convert Word to PDF", "Convert PDF to Word"),
    ("en", Guard::Order, "how dogs chase cats", "how cats chase dogs"),
    ("en", Guard::Order, "move money from savings to checking", "move money from checking to savings"),
    // Whoever shouts, or writes like a title, may mean WHO or who, Turkey or turkey.
    ("en", Guard::Case, "DO YOU ACCEPT VOUCHERS?", "do you accept vouchers"),
    ("en", Guard::Case, "Do You Accept Vouchers?", "Do you accept vouchers?"),
    ("it", Guard::Number, "Dammi 6 tag", "Dammi 16 tag"),
    ("it", Guard::Number, "Inflazione al 2,1 per cento", "Inflazione al 3,1 per cento"),
    ("it", Guard::Comparator, "Elenca al massimo 5 nomi", "Elenca almeno 5 nomi"),
    ("it", Guard::Date, "Il concerto del 12 luglio", "Il concerto del 12 giugno"),
    ("it", Guard::Date, "Gli incassi della settimana scorsa", "Gli incassi dell'anno scorso"),
    ("it", Guard::Negation, "È permesso entrare", "Non è permesso entrare"),
    ("it", Guard::Negation, "Un testo leale e chiaro", "Un testo sleale e chiaro"),
    ("it", Guard::LanguageName, "Traduci dal polacco al greco", "Traduci dal greco al polacco"),
    ("it", Guard::Tone, "Traduci dando del tu", "Traduci dando del lei"),
    ("it", Guard::NamedEntity, "L'intervista a Marco Rinaldi", "L'intervista a Mario Rinaldi"),
    ("it", Guard::NamedEntity, "Il film di Paolo Serra", "Il film di Paola Serra"),
    ("it", Guard::Content, "Il ministro dell'istruzione", "Il ministro dell'interno"),
    ("pl", Guard::Number, "Podaj 5 tagów", "Podaj 25 tagów"),
    ("pl", Guard::Comparator, "Podaj najwyżej 5 nazw", "Podaj co najmniej 5 nazw"),
    ("pl", Guard::Date, "Koncert 14 września", "Koncert 14 października"),
    ("pl", Guard::Date, "Środowa konferencja", "Piątkowa konferencja"),
    ("pl", Guard::Negation, "W parku można grillować", "W parku nie można grillować"),
    (
        "pl",
        Guard::Negation,
        "Tekst jest długi i jasny, bezpieczny",
        "Tekst jest długi i jasny, niebezpieczny",
    ),
    ("pl", Guard::LanguageName, "Przetłumacz z czeskiego na polski", "Przetłumacz z polskiego na czeski"),
    ("pl", Guard::NamedEntity, "Biuro przeniesiono do Torunia", "Biuro przeniesiono do Turynu"),
    ("pl", Guard::NamedEntity, "Wpis posła Lisa", "Wpis posła Lipa"),
    ("pl", Guard::Content, "Rozmowa z lekarzem", "Rozmowa z lekarką"),
    ("uk", Guard::Number, "Дай 5 тегів", "Дай 12 тегів"),
    ("uk", Guard::Comparator, "Назви щонайбільше 5 імен", "Назви щонайменше 5 імен"),
    ("uk", Guard::Date, "Концерт 20 серпня", "Концерт 20 липня"),
    ("uk", Guard::Negation, "Тут можна фотографувати", "Тут не можна фотографувати"),
    ("uk", Guard::Negation, "Умови зручні та відомі", "Умови зручні та невідомі"),
    ("uk", Guard::LanguageName, "Переклади з польської на чеську", "Переклади з чеської на польську"),
    ("uk", Guard::NamedEntity, "Офіс переїхав до Чернігова", "Офіс переїхав до Чернівців"),
    ("uk", Guard::NamedEntity, "Роман Ірини Коваль", "Роман Ірини Коваленко"),
    ("zh", Guard::Number, "写5个标签", "写15个标签"),
    ("zh", Guard::Number, "失业率百分之七点二", "失业率百分之七点八"),
    ("zh", Guard::Number, "总结第3章", "总结3章"),
    ("zh", Guard::Comparator, "最多写5个标签", "至少写5个标签"),
    ("zh", Guard::Date, "2024年3月5日的选举", "2024年5月3日的选举"),
    ("zh", Guard::Date, "总结上周的数据", "总结下周的数据"),
    ("zh", Guard::Date, "上午九点开门", "晚上九点开门"),
    ("zh", Guard::Negation, "露台上可以吸烟", "露台上不可以吸烟"),
    ("zh", Guard::LanguageName, "把图注从中文译成英文", "把图注从英文译成中文"),
    ("zh", Guard::Content, "翻译陈思远的简介", "翻译陈思源的简介"),
    ("zh", Guard::Content, "我们搬到了成都", "我们搬到了首都"),
    ("zh", Guard::Content, "给南京的报道选版面", "给北京的报道选版面"),
    ("zh", Guard::Order, "上海队战胜北京队", "北京队战胜上海队"),
];

/// Language, and two texts of the same meaning.
const SAME: &[(&str, &str, &str)] = &[
    ("en", "Summarise chapter 4 of the guide", "Please summarise the guide's fourth chapter"),
    ("en", "The debate of 5 March 2024", "The debate of March 5, 2024"),
    ("en", "The debate of 5 March 2024", "The debate of 2024-03-05"),
    ("en", "Doors open at 7 pm", "Doors open at 19:00"),
    ("en", "Doors open at 7 p.m.", "Doors open at 7:00 pm"),
    ("en", "A house for £250,000", "A house for 250000 pounds"),
    ("en", "Name at most 5 witnesses", "Name no more than five witnesses"),
    ("en", "Unemployment at 7.2 percent", "Unemployment at 7.2%"),
    ("en", "Prices for non-members", "Prices if you are not a member"),
    (
        "en",
        "Is there a discount for students on train tickets?",
        "On train tickets, is there a discount for students?",
    ),
    ("en", "Translate: the shop is closed", "Please translate \"the shop is closed\""),
    (
        "it",
        "Riassumi il capitolo 3 del manuale",
        "Per favore fammi il riassunto del terzo capitolo del manuale",
    ),
    ("it", "Traduci l’intervista", "Traduci l'intervista"),
    ("it", "Un prezzo di 1.500 euro", "Un prezzo di 1500 euro"),
    (
        "pl",
        "Tagi do recenzji powieści Olgi Maj",
        "Podaj tagi dla recenzji powieści, której autorką jest Olga Maj",
    ),
    ("pl", "Streść środową konferencję prasową", "Podsumuj konferencję prasową ze środy"),
    (
        "uk",
        "Теги до рецензії на роман Ірини Коваль",
        "Підбери теги для рецензії на роман, який написала Ірина Коваль",
    ),
    ("uk", "Підсумуй брифінг у вівторок", "Підсумуй вівторковий брифінг"),
    ("zh", "失业率升至百分之七点二", "失业率升到7.2%"),
    ("zh", "总结周一的新闻发布会", "请概括星期一的新闻发布会"),
    ("zh", "翻译：門票", "翻译“門票”"),
    ("zh", "晚上七点开门", "19:00开门"),
];

#[test]
fn different_requests_are_refused_by_the_guard_that_is_about_the_difference() {
    let guards = Guards::builtin();
    let wrong: Vec<String> = DIFFERENT
        .iter()
        .filter_map(|(language, guard, a, b)| {
            let found = guards.differences(a, b, language);
            let refused = found.iter().any(|refusal| refusal.guard == *guard);
            (!refused).then(|| format!("{a} | {b}: wanted {guard}, found {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_same_request_passes_in_other_words() {
    let guards = Guards::builtin();
    let wrong: Vec<String> = SAME
        .iter()
        .filter_map(|(language, a, b)| {
            let refusal = guards.compare(a, b, language).err()?;
            Some(format!("{a} | {b}: {refusal}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn it_makes_no_difference_which_text_was_first() {
    let guards = Guards::builtin();
    for (language, _, a, b) in DIFFERENT {
        assert!(guards.compare(b, a, language).is_err(), "{b} | {a}");
    }
    for (language, a, b) in SAME {
        assert_eq!(guards.compare(b, a, language), Ok(()), "{b} | {a}");
    }
}
