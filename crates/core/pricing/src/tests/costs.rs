use super::*;

fn model() -> ModelRef {
    ModelRef::new("vendor", "model")
}

fn rates(input: &str, output: &str) -> Rates {
    Rates::new(rate(input), rate(output))
}

/// One model, one EUR for a USD: a nano-EUR is then a thousand pico-USD.
fn book(rows: Vec<PriceRow>) -> PriceBook {
    book_at(rows, 1_000_000)
}

fn book_at(rows: Vec<PriceRow>, micro_eur_per_usd: u64) -> PriceBook {
    let mut book = PriceBook::new("test", vec![ExchangeRate::new(micro_eur_per_usd, day("2026-01-01"))]);
    book.set(model(), ModelPrices::new(rows));
    book
}

fn cost(book: &PriceBook, usage: &TokenUsage) -> i64 {
    book.cost(&model(), usage, Lane::Interactive, day("2026-11-29")).unwrap().nano_eur()
}

fn prompt_of(input: u64) -> TokenUsage {
    TokenUsage { input, ..TokenUsage::default() }
}

#[test]
fn every_kind_of_token_is_billed_once_at_its_rate_and_reasoning_as_output() {
    let rates = Rates {
        input: rate("1"),
        cache_read: rate("0.1"),
        cache_write: rate("1.25"),
        cache_write_1h: rate("2"),
        output: rate("5"),
    };
    let usage = TokenUsage {
        input: 1_000,
        cache_read: 1_000,
        cache_write: 1_000,
        cache_write_1h: 1_000,
        output: 1_000,
        reasoning: 1_000,
        ..TokenUsage::default()
    };
    let expected = 1_000 * (1_000 + 100 + 1_250 + 2_000 + 5_000 + 5_000);
    assert_eq!(cost(&book(vec![PriceRow::new(rates)]), &usage), expected);
}

#[test]
fn an_unknown_price_is_not_zero_and_a_free_model_is() {
    let mut book = PriceBook::new("test", vec![ExchangeRate::new(860_000, day("2026-01-01"))]);
    let (usage, today) = (prompt_of(10), day("2026-11-29"));
    assert_eq!(book.cost(&model(), &usage, Lane::Interactive, today), None);
    assert_eq!(book.worst_case(&model(), 10, 10, today), None);
    book.set_vendor_default("vendor", ModelPrices::free());
    assert_eq!(book.cost(&model(), &usage, Lane::Interactive, today), Some(Money::ZERO));
    book.set(model(), ModelPrices::default());
    assert_eq!(
        book.cost(&model(), &usage, Lane::Interactive, today),
        None,
        "no rows is unknown, also with a vendor default"
    );
}

#[test]
fn a_step_reprices_the_whole_request_exactly_at_its_bound() {
    for (bound, at_threshold) in [(StepBound::Above, 1_000), (StepBound::AtOrAbove, 2_000)] {
        let step = PriceStep { threshold: 200_000, bound, rates: rates("2", "10") };
        let book = book(vec![PriceRow { steps: vec![step], ..PriceRow::new(rates("1", "5")) }]);
        assert_eq!(cost(&book, &prompt_of(199_999)), 199_999 * 1_000);
        assert_eq!(cost(&book, &prompt_of(200_000)), 200_000 * at_threshold);
        assert_eq!(cost(&book, &prompt_of(200_001)), 200_001 * 2_000);
        let cached = TokenUsage { input: 1, cache_read: 200_000, output: 10, ..TokenUsage::default() };
        assert_eq!(
            cost(&book, &cached),
            200_001 * 2_000 + 10 * 10_000,
            "cached tokens count towards the step"
        );
    }
}

#[test]
fn a_price_change_holds_from_its_day_on_and_before_the_first_row_nothing_is_known() {
    let row =
        |from: &str, input: &str| PriceRow { from: Some(day(from)), ..PriceRow::new(rates(input, "0")) };
    let book = book(vec![row("2026-12-01", "4"), row("2026-06-01", "2")]);
    let on = |at: &str| book.cost(&model(), &prompt_of(1), Lane::Interactive, day(at)).map(Money::nano_eur);
    assert_eq!(on("2026-05-31"), None);
    assert_eq!(on("2026-11-30"), Some(2_000));
    assert_eq!(on("2026-12-01"), Some(4_000));
}

#[test]
fn the_batch_lane_pays_what_the_discount_leaves() {
    let row = PriceRow { batch_discount: 200_000, ..PriceRow::new(rates("1", "1")) };
    let book = book(vec![row]);
    let batch = book.cost(&model(), &prompt_of(1_000), Lane::Batch, day("2026-11-29")).unwrap();
    assert_eq!(batch.nano_eur(), 800_000);
    let worst = |lane| book.worst_case_in(lane, &model(), 1_000, 10, day("2026-11-29")).unwrap().nano_eur();
    assert_eq!(worst(Lane::Batch) * 10, worst(Lane::Interactive) * 8);
}

#[test]
fn rounding_is_up_and_happens_once() {
    // 3 × 0.000001 USD per million tokens is 3 pico-USD: a thousandth of a nano-EUR is still one.
    let row = PriceRow::new(rates("0.000001", "0.000001"));
    assert_eq!(cost(&book(vec![row.clone()]), &prompt_of(3)), 1);
    assert_eq!(cost(&book(vec![row.clone()]), &prompt_of(1_000)), 1);
    let both = TokenUsage { input: 500, output: 500, ..TokenUsage::default() };
    assert_eq!(cost(&book(vec![row]), &both), 1, "two halves are rounded together");
}

#[test]
fn the_vendors_own_cost_is_preferred_even_without_a_price() {
    let usage = TokenUsage { input: 5, vendor_cost_usd_ticks: Some(12_345), ..TokenUsage::default() };
    let with_price = book_at(vec![PriceRow::new(rates("100", "100"))], 860_000);
    // 12 345 ticks are 1234.5 nano-USD, at 0.86 that is 1061.67 nano-EUR.
    assert_eq!(cost(&with_price, &usage), 1_062);
    assert_eq!(cost(&book_at(Vec::new(), 860_000), &usage), 1_062);
}

#[test]
fn the_exchange_rate_of_the_day_applies_and_the_first_one_before_it() {
    let rate_from = |micro, from| ExchangeRate::new(micro, day(from));
    let book =
        PriceBook::new("test", vec![rate_from(900_000, "2026-11-01"), rate_from(800_000, "2026-10-01")]);
    assert_eq!(book.micro_eur_per_usd(day("2026-01-01")), Some(800_000));
    assert_eq!(book.micro_eur_per_usd(day("2026-10-31")), Some(800_000));
    assert_eq!(book.micro_eur_per_usd(day("2026-11-01")), Some(900_000));
}

#[test]
fn a_rate_is_shown_in_euros_per_million() {
    let book = book_at(Vec::new(), 860_000);
    assert_eq!(book.per_million(rate("2.5"), day("2026-11-29")).unwrap().to_string(), "€2.15");
}

#[test]
fn absurd_counts_saturate() {
    let most = TokenUsage {
        input: u64::MAX,
        cache_read: u64::MAX,
        cache_write: u64::MAX,
        cache_write_1h: u64::MAX,
        output: u64::MAX,
        reasoning: u64::MAX,
        ..TokenUsage::default()
    };
    let dear = Rates::new(Rate::from_pico_usd(u64::MAX), Rate::from_pico_usd(u64::MAX));
    let book = book_at(vec![PriceRow::new(dear)], u64::MAX);
    assert_eq!(cost(&book, &most), i64::MAX);
    assert_eq!(book.worst_case(&model(), u64::MAX, u64::MAX, day("2026-11-29")), Some(Money::MAX));
    let reported = TokenUsage { vendor_cost_usd_ticks: Some(u64::MAX), ..TokenUsage::default() };
    assert_eq!(cost(&book, &reported), i64::MAX);
}

fn any_rates() -> impl Strategy<Value = Rates> {
    (any::<[u32; 5]>()).prop_map(|[input, cache_read, cache_write, cache_write_1h, output]| {
        let rate = |pico: u32| Rate::from_pico_usd(u64::from(pico));
        Rates {
            input: rate(input),
            cache_read: rate(cache_read),
            cache_write: rate(cache_write),
            cache_write_1h: rate(cache_write_1h),
            output: rate(output),
        }
    })
}

fn any_row() -> impl Strategy<Value = PriceRow> {
    let bound = prop_oneof![Just(StepBound::Above), Just(StepBound::AtOrAbove)];
    let step = (0u64..1_000_000, bound, any_rates()).prop_map(|(threshold, bound, rates)| PriceStep {
        threshold,
        bound,
        rates,
    });
    (any_rates(), prop::collection::vec(step, 0..4), 0u32..=1_000_000)
        .prop_map(|(rates, steps, batch_discount)| PriceRow { from: None, rates, steps, batch_discount })
}

fn any_usage() -> impl Strategy<Value = TokenUsage> {
    prop::array::uniform6(prop_oneof![0u64..2_000_000, any::<u64>()]).prop_map(
        |[input, cache_read, cache_write, cache_write_1h, output, reasoning]| TokenUsage {
            input,
            cache_read,
            cache_write,
            cache_write_1h,
            output,
            reasoning,
            ..TokenUsage::default()
        },
    )
}

proptest! {
    #[test]
    fn a_cost_is_never_negative_and_never_above_the_reservation(row in any_row(), usage in any_usage(), rate in 1u64..2_000_000) {
        let book = book_at(vec![row], rate);
        let prompt = [usage.cache_read, usage.cache_write, usage.cache_write_1h].into_iter().fold(usage.input, u64::saturating_add);
        let answer = usage.output.saturating_add(usage.reasoning);
        let worst = book.worst_case(&model(), prompt, answer, day("2026-11-29")).unwrap().nano_eur();
        let real = cost(&book, &usage);
        prop_assert!(real >= 0);
        // Sums of counts that pass u64 cannot be reserved for; no vendor can report them.
        if prompt < u64::MAX && answer < u64::MAX {
            prop_assert!(real <= worst, "{} > {}", real, worst);
        }
        let batch = book.cost(&model(), &usage, Lane::Batch, day("2026-11-29")).unwrap().nano_eur();
        prop_assert!((0..=real).contains(&batch));
    }

    #[test]
    fn more_tokens_never_cost_less(row in any_row(), usage in any_usage(), more in 0u64..1_000_000) {
        let stepped = book_at(vec![row.clone()], 860_000);
        let plain = book(vec![PriceRow { steps: Vec::new(), ..row }]);
        let longer = TokenUsage { input: usage.input.saturating_add(more), ..usage };
        prop_assert!(cost(&plain, &usage) <= cost(&plain, &longer));
        let longer = TokenUsage { output: usage.output.saturating_add(more), ..usage };
        prop_assert!(cost(&stepped, &usage) <= cost(&stepped, &longer));
    }

    #[test]
    fn a_reservation_grows_with_its_tokens(row in any_row(), prompt in 0u64..2_000_000, output in 0u64..200_000, more in 0u64..100_000) {
        let book = book_at(vec![row], 860_000);
        let reserve = |prompt, output| book.worst_case(&model(), prompt, output, day("2026-11-29")).unwrap();
        prop_assert!(reserve(prompt, output) <= reserve(prompt + more, output));
        prop_assert!(reserve(prompt, output) <= reserve(prompt, output + more));
    }
}
