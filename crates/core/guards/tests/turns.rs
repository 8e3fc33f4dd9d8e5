//! Small words that turn the meaning: what one text has and the other has the opposite of.

mod pairs;

use pairs::{Pair, assert_differ, assert_same};

/// Language, and two texts of different meaning.
const DIFFERENT: &[Pair] = &[
    ("en", "Write a speech for the tax", "Write a speech against the tax"),
    ("en", "List the arguments on the ban", "List the arguments against the ban"),
    ("en", "The dog bit the man", "The dog bitten by the man"),
    ("en", "List the arguments for the ban", "List the arguments against the ban"),
    ("pl", "Podaj argumenty za podatkiem", "Podaj argumenty przeciw podatkowi"),
    ("pl", "Napisz głos za ustawą", "Napisz głos przeciw ustawie"),
    ("uk", "Наведи аргументи за податок", "Наведи аргументи проти податку"),
    ("en", "How do I get from A to B?", "How do I get from B to A?"),
    ("en", "Migrate data from system A to system B", "Migrate data from system B to system A"),
    ("en", "Move files from home to work", "Move files from work to home"),
    ("it", "Come vado da casa a scuola?", "Come vado da scuola a casa?"),
    ("it", "Il volo da Roma a Milano", "Il volo da Milano a Roma"),
    ("it", "Sposta i file da A a B", "Sposta i file da B a A"),
    ("en", "Summarise the payments to vendors", "Summarise the payments from vendors"),
    ("pl", "Podsumuj płatności do dostawców", "Podsumuj płatności od dostawców"),
    ("pl", "Pociąg do Krakowa", "Pociąg z Krakowa"),
    ("pl", "List do matki", "List od matki"),
    ("uk", "Потяг до Києва", "Потяг з Києва"),
    ("uk", "Лист до матері", "Лист від матері"),
    ("it", "Una lettera per la madre", "Una lettera dalla madre"),
    ("it", "I pagamenti per i fornitori", "I pagamenti dai fornitori"),
    ("en", "How do I log into the app?", "How do I log out of the app?"),
    ("en", "The dog ran into the house", "The dog ran out of the house"),
    ("en", "A deadline on Monday", "A deadline by Monday"),
    ("en", "What is due on Friday?", "What is due by Friday?"),
    ("en", "Recipes with milk, honey", "Recipes with milk or honey"),
    ("en", "Recipes with milk and honey", "Recipes with milk or honey"),
    ("it", "Ricette con latte e miele", "Ricette con latte o miele"),
    ("pl", "Przepisy: mleko i miód", "Przepisy: mleko lub miód"),
    ("uk", "Рецепти: молоко та мед", "Рецепти: молоко або мед"),
    ("zh", "牛奶和蜂蜜的食谱", "牛奶或蜂蜜的食谱"),
    ("en", "Did you pay?", "Will you pay?"),
    ("en", "The mayor was here", "The mayor will be here"),
    ("en", "Where are the keys?", "Where were the keys?"),
    ("en", "Who is the mayor of Rome?", "Who was the mayor of Rome?"),
    ("it", "Chi è il sindaco di Roma?", "Chi era il sindaco di Roma?"),
    ("pl", "Kto jest burmistrzem?", "Kto był burmistrzem?"),
    ("pl", "Kto był burmistrzem?", "Kto będzie burmistrzem?"),
    ("uk", "Хто був мером?", "Хто буде мером?"),
    ("zh", "为客户写道歉信", "写客户道歉信"),
    ("en", "The list has few errors", "The list has a few errors"),
    ("en", "Summarise my contract", "Summarise your contract"),
    ("en", "Summarise our contract", "Summarise their contract"),
    ("it", "Riassumi il mio contratto", "Riassumi il tuo contratto"),
    ("en", "A poem by Anna", "A poem about Anna"),
    ("en", "A poem by Anna", "A poem for Anna"),
    ("en", "A poem about Anna", "A poem for Anna"),
    ("en", "Name the author of the book", "Name the authors of the book"),
    ("en", "Who is the author?", "Who are the authors?"),
    ("uk", "Собака вкусив чоловіка", "Собаку вкусив чоловік"),
    ("uk", "Чоловіка вкусив собака", "Собаку вкусив чоловік"),
    ("pl", "Pies ugryzł kota", "Psa ugryzł kot"),
    ("en", "Is A better than B?", "Is B better than A?"),
    ("en", "Does vitamin A help?", "Does vitamin B help?"),
    ("en", "Emails sent by the customer to the bank", "Emails sent by the bank to the customer"),
    ("en", "Did the bank approve the loan?", "Does the bank approve the loan?"),
    ("en", "Convert a to b", "Convert b to a"),
    ("en", "Should I take tea or coffee?", "Should I take tea and coffee?"),
    ("en", "Write a letter to him", "Write a letter to her"),
    ("en", "Am I liable?", "Are you liable?"),
    ("en", "Summarise the report on Monday", "Summarise the report from Monday"),
    ("en", "The cat in the box", "The cat on the box"),
    ("en", "Is there a bus to the airport?", "Is there a bus from the airport?"),
    ("en", "I ate a little", "I ate little"),
    ("it", "Scrivi a favore della legge", "Scrivi contro la legge"),
    ("it", "Lettera al sindaco", "Lettera dal sindaco"),
    ("it", "Lettera al sindaco", "Lettera del sindaco"),
    ("it", "Sposta i soldi dal conto alla carta", "Sposta i soldi dalla carta al conto"),
    ("pl", "List Anny do Piotra", "List Piotra do Anny"),
    ("pl", "Wiersz dla Anny", "Wiersz o Annie"),
    ("pl", "Przelej pieniądze z karty na konto", "Przelej pieniądze z konta na kartę"),
    ("uk", "Вірш про Анну", "Вірш для Анни"),
    ("uk", "Мій договір", "Твій договір"),
    ("uk", "Перекажи гроші з картки на рахунок", "Перекажи гроші з рахунку на картку"),
    ("zh", "从北京到上海的火车", "从上海到北京的火车"),
    ("zh", "支持税收的理由", "反对税收的理由"),
    ("zh", "我的合同", "你的合同"),
];

/// Language, and two texts that leave out or change what turns nothing.
const SAME: &[Pair] = &[
    ("en", "A headline about the zoo", "A headline on the zoo"),
    ("en", "Reset my password", "Reset the password"),
    ("en", "Is it open and free?", "Is it open, free?"),
    ("it", "Scrivi i tag per la ricetta", "Scrivi i tag della ricetta"),
    ("uk", "Теги для рецепта", "Теги до рецепта"),
    ("pl", "Tagi dla przepisu", "Tagi do przepisu"),
];

#[test]
fn what_turns_the_meaning_is_a_difference_either_way_round() {
    assert_differ(DIFFERENT);
}

#[test]
fn what_is_only_left_out_or_said_otherwise_is_none() {
    assert_same(SAME);
}
