//! Pairs that a letter, a mark or a small word tells apart: dates and times, amounts, words said twice, names that are
//! words, contractions, what can and could be.

mod pairs;

use pairs::{Pair, assert_differ, assert_same};

/// Language, and two texts of different meaning.
const DIFFERENT: &[Pair] = &[
    // Dates.
    ("en", "What happened on 5 March and 6 April?", "What happened on 6 March and 5 April?"),
    ("en", "The events of the 1990s", "The events of 1990"),
    ("en", "Describe 1990s music", "Describe 1990 music"),
    ("en", "Sales in May last year", "Sales last May this year"),
    ("en", "Day before yesterday", "Yesterday"),
    ("en", "The week after next", "Next week"),
    ("en", "Every other Friday", "Every Friday"),
    ("en", "Monday at 5 or Tuesday", "Monday or Tuesday at 5"),
    ("it", "L'altro ieri", "Ieri"),
    ("it", "Dal 5 marzo al 6 aprile", "Dal 6 marzo al 5 aprile"),
    ("pl", "Przedwczoraj spotkanie", "Wczoraj spotkanie"),
    ("pl", "Umowa na rok", "Umowa na"),
    ("uk", "З 5 березня до 6 квітня", "З 6 березня до 5 квітня"),
    ("uk", "Через рік заплачу", "Через заплачу"),
    ("zh", "3月5日到4月6日", "3月6日到4月5日"),
    ("zh", "大后天开会", "后天开会"),
    // Times.
    ("en", "Meet at 12:30 am", "Meet at 12:30 pm"),
    ("en", "Meet at 12 am", "Meet at 12 pm"),
    ("en", "Meet at 5", "Meet at 5 am"),
    ("en", "Meet at 10 to 5", "Meet at 5 to 10"),
    ("en", "Open from 9 to 5 pm", "Open from 5 to 9 pm"),
    ("it", "Alle 5 e mezza", "Alle 5"),
    ("pl", "Wpół do piątej spotkanie", "O piątej spotkanie"),
    ("uk", "О сьомій ранку", "О сьомій вечора"),
    ("zh", "三点半见", "三点见"),
    // Amounts.
    ("en", "A rise by 5 percent", "A rise by 5 percentage points"),
    ("en", "One hundred and five", "One hundred, five"),
    ("en", "Pay 5 dollars and 10 cents", "Pay 10 dollars and 5 cents"),
    ("en", "Twice a day", "Two a day"),
    ("en", "A single room", "One room"),
    ("en", "Half a million people", "A million people"),
    ("en", "Summarise chapters 4 and 5", "Summarise chapters 4 to 5"),
    ("it", "Mille e cinque", "Mille, cinque"),
    ("pl", "Półtora miliona złotych", "Milion złotych"),
    ("uk", "5 гривень 10 копійок", "10 гривень 5 копійок"),
    ("zh", "一万二", "一万零二"),
    // Words said twice.
    ("en", "Is bye bye a song?", "Is bye a song?"),
    ("en", "Who is Duran Duran?", "Who is Duran?"),
    ("en", "Is big big data?", "Is big data?"),
    ("en", "The cat ate the cat food", "The cat ate the food"),
    ("it", "Che significa bum bum", "Che significa bum"),
    ("pl", "Co znaczy cicho cicho", "Co znaczy cicho"),
    ("uk", "Що значить ледве ледве", "Що значить ледве"),
    ("zh", "解释妈妈妈", "解释妈妈"),
    // Names that are words.
    ("en", "Where is Abbey Road?", "Where is Abbey Street?"),
    ("en", "Does Rose rise?", "Does rise rise?"),
    ("en", "Is May coming in May?", "Is May coming?"),
    ("en", "Tell Bill to bill Mark", "Tell Mark to bill Bill"),
    ("en", "Who wrote It?", "Who wrote it?"),
    ("en", "Hope asks about it", "hope asks about it"),
    ("en", "Turkey costs what?", "turkey costs what?"),
    ("en", "Polish it up", "polish it up"),
    ("en", "Is it so? Turkey costs less.", "Is it so? turkey costs less."),
    ("it", "Rosa costa molto", "rosa costa molto"),
    ("pl", "Róża kosztuje dużo", "róża kosztuje dużo"),
    ("uk", "Надія зараз тут", "надія зараз тут"),
    ("zh", "王五是谁", "王六是谁"),
    // Contractions.
    ("en", "It's fine here", "Its fine here"),
    ("en", "Is it its own?", "Is it it's own?"),
    ("en", "I'll do it", "I do it"),
    ("en", "I'd do it", "I do it"),
    ("en", "He'd do it", "He'll do it"),
    ("en", "He's late", "He'll be late"),
    ("en", "I've done it", "I'd done it"),
    // What can be, and what only could.
    ("en", "Can he pay?", "Could he pay?"),
    ("en", "Can dogs eat it?", "Do dogs eat it?"),
    ("en", "Dogs can eat it", "Dogs eat it"),
    ("en", "He may pay", "He can pay"),
    // Who, and where.
    ("en", "Is it here?", "Is it there?"),
    ("it", "Ho la febbre", "Ha la febbre"),
    ("pl", "Ma kota", "Mają kota"),
    ("uk", "Він хворий", "Вона хвора"),
    ("zh", "我可以退货吗", "你可以退货吗"),
    // The mark at the end.
    ("en", "You did it?", "You did it."),
    ("it", "Hai pagato?", "Hai pagato."),
    ("pl", "Zapłacił?", "Zapłacił."),
    ("uk", "Він заплатив?", "Він заплатив."),
    ("zh", "他付钱了？", "他付钱了。"),
];

/// Language, and two texts of one meaning.
const SAME: &[Pair] = &[
    ("en", "Meet at 5 am", "Meet at 5:00"),
    ("en", "Meet at 12:30 a.m.", "Meet at 0:30"),
    ("en", "Am I late at 5 am?", "am I late at 5 am"),
    ("en", "One hundred and five boxes", "105 boxes"),
    ("en", "Three hundred and twenty-five boxes", "325 boxes"),
    ("en", "What's the capital of Peru?", "What is the capital of Peru?"),
    ("en", "Can't I log in?", "Cannot I log in?"),
    ("en", "We're late, what'll happen?", "We are late, what will happen?"),
    ("en", "Explain the rise in rents", "explain the rise in rents"),
    ("en", "Don't shorten it", "don't shorten it"),
    ("en", "Turkey is far", "Turkey is far."),
    ("en", "How do I pay?", "how do I pay."),
    ("en", "Could you give me 5 tags?", "Give me 5 tags."),
    ("it", "Spiega il contratto", "spiega il contratto"),
    ("pl", "Streść tę notkę", "streść tę notkę"),
    ("pl", "Wydarzenia roku 1990", "Wydarzenia z roku 1990"),
    ("uk", "Підсумуй цей текст", "підсумуй цей текст"),
    ("zh", "你能写五个标签吗？", "写5个标签"),
];

#[test]
fn what_looks_alike_and_is_not_is_told_apart_either_way_round() {
    assert_differ(DIFFERENT);
}

#[test]
fn what_is_only_put_otherwise_is_the_same_either_way_round() {
    assert_same(SAME);
}
