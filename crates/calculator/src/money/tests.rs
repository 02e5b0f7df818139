//! Bills compared with published trainings and with calculations by hand.

use super::*;
use railwright_spec::run::{RunSpec, parse};

fn run(text: &str, settings: &[&str]) -> Run {
    let mut spec: RunSpec = parse(text, "run.toml").expect("readable");
    for setting in settings {
        spec.set(setting).expect("readable");
    }
    spec.resolve(|_| Ok(String::new())).expect("possible")
}

fn near(found: f64, published: f64, tolerance: f64) {
    assert!((found / published - 1.0).abs() <= tolerance, "found {found}, published {published}");
}

/// DeepSeek-V3 technical report (arXiv 2412.19437), section 3.4 and table 1: 2,048 H800, batch 15,360
/// sequences of 4,096 tokens, 14.8T tokens, 180K GPU-hours per trillion tokens, 2.664M GPU-hours, $5.328M at
/// $2.
const DEEPSEEK_V3: &str = r#"
[model]
name = "deepseek-v3"
[cluster]
preset = "h800"
devices = 2048
[plan]
pp = 16
ep = 64
layers_per_stage = [3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3]
global_batch = 15360
sequence_length = 4096
[training]
tokens = "14.8T"
[cost]
price_per_device_hour = 2.0
"#;

#[test]
fn deepseek_v3_cost_matches_its_report() {
    let run = run(DEEPSEEK_V3, &[]);
    // Step time for 180K GPU-hours per trillion tokens: about 19.9 s.
    let step = Seconds::new(180e3 * 3600.0 / 2048.0 / (1e12 / run.plan.tokens_per_step() as f64));
    near(step.get(), 19.9, 0.01);
    let bill = bill(&run, step).expect("sound").expect("tokens");
    near(bill.device_hours.0, 2.664e6, 1e-4);
    near(bill.rent.expect("a price").get(), 5.328e6, 1e-4);
    // "less than two months"; 3.7 days per trillion tokens.
    near(bill.calendar.get() / 86400.0 / 14.8, 3.7, 0.02);
    assert_eq!(bill.device_price.expect("given").source, "set in the run");
}

/// Llama 3 (arXiv 2407.21783), table 4 and section 3.2.1: 405B on 16,384 H100, batch of 16 Mi tokens, 400
/// TFLOP/s per GPU, 15.6T tokens, 3.8e25 FLOP; model card: 30.84M GPU-hours; more than 90% effective training
/// time.
#[test]
fn llama_3_405b_takes_the_hours_of_its_card() {
    let run = run(
        "[model]\nname = \"llama-3.1-405b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 16384\n[plan]\ntp = 8\npp = 16\n\
         layers_per_stage = [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]\nsequence_length = 8192\nglobal_batch = 2048\n\
         [training]\ntokens = \"15.6T\"\navailability = 0.9\n",
        &[],
    );
    let step = Seconds::new(3.8e25 / 15.6e12 * run.plan.tokens_per_step() as f64 / (16384.0 * 400e12));
    let bill = bill(&run, step).expect("sound").expect("tokens");
    near(bill.device_hours.0, 30.84e6, 0.06);
    near(bill.steps, 929_832.0, 1e-5);
    // The card counts 700 W per GPU: 21.6 GWh. A whole DGX draws 10.2 kW, and the building more.
    assert!(bill.energy.get() > 30.84e6 * 0.7 && bill.energy.get() < 2.5 * 30.84e6 * 0.7);
    assert!(bill.device_price.expect("in the catalogue").source.contains("2026"));
}

/// Llama 2 (arXiv 2307.09288), table 2: 70B took 1,720,320 GPU-hours at 400 W. 291.42 t CO2 at Meta's grid
/// factor of 0.423 kg/kWh is the energy below, for the machines alone.
#[test]
fn llama_2_energy_is_power_times_hours() {
    let hours = 1_720_320.0;
    let mut run = run(
        "[model]\nname = \"llama-2-70b\"\n[cluster]\npreset = \"dgx-a100\"\ndevices = 2048\npower = \"400 W\"\n\
         host.power = \"0 W\"\npower_usage_effectiveness = 1\n[plan]\ntp = 8\n[cost]\npower_share = 1\n\
         [training]\ntokens = \"2T\"\n",
        &[],
    );
    run.training.availability = 1.0;
    let steps = steps(2e12, run.plan.tokens_per_step());
    let bill = bill(&run, Seconds::new(hours * 3600.0 / 2048.0 / steps)).expect("sound").expect("tokens");
    near(bill.energy.get(), 688_128.0, 1e-9);
    near(bill.energy.get() * 0.423 / 1e3, 291.42, 0.01);
    near(bill.power.get(), 2048.0 * 400.0, 1e-12);
}

#[test]
fn lost_time_is_paid_for() {
    let full = bill(&run(DEEPSEEK_V3, &[]), Seconds::new(20.0)).expect("sound").expect("tokens");
    let half = bill(&run(DEEPSEEK_V3, &["training.availability=0.5"]), Seconds::new(20.0))
        .expect("sound")
        .expect("tokens");
    assert_eq!(half.productive, full.productive);
    near(half.device_hours.0, 2.0 * full.device_hours.0, 1e-12);
    near(half.energy.get(), 2.0 * full.energy.get(), 1e-12);
}

#[test]
fn what_is_not_known_is_not_invented() {
    let text = DEEPSEEK_V3.replace("price_per_device_hour = 2.0", "");
    let bill = bill(&run(&text, &[]), Seconds::new(20.0)).expect("sound").expect("tokens");
    assert_eq!((bill.rent, bill.device_price), (None, None));
    assert_eq!(bill.warnings.iter().map(|w| w.id.as_str()).collect::<Vec<_>>(), ["no-device-price"]);
    let text = DEEPSEEK_V3.replace("tokens = \"14.8T\"", "");
    assert_eq!(super::bill(&run(&text, &[]), Seconds::new(20.0)), Ok(None));
}

/// An instance type without a list price has the accelerator's typical price, with a warning.
#[test]
fn a_typical_price_of_an_instance_is_a_warning() {
    let of = |cluster: &str, more: &str| {
        let text = format!(
            "model.name = \"llama-3-8b\"\ncluster.preset = \"{cluster}\"\ncluster.devices = 64\ntraining.tokens = \"1T\"\n{more}"
        );
        let bill = bill(&run(&text, &[]), Seconds::new(6.0)).expect("sound").expect("tokens");
        let is_warned = bill.warnings.iter().any(|warning| warning.id == "typical-device-price");
        (bill.device_price.expect("a price").amount.get(), is_warned)
    };
    let typical = of("dgx-h100", "");
    assert!(!typical.1);
    assert_eq!(of("gcp-a3-mega", ""), (typical.0, true));
    assert_eq!(of("gcp-a3-mega", "cost.price_per_device_hour = 3.0"), (3.0, false));
    let listed = of("aws-p5", "");
    assert!(listed.0 != typical.0 && !listed.1);
}

#[test]
fn the_catalogue_price_of_electricity_is_dated() {
    let price = electricity_price();
    assert!((0.03..0.5).contains(&price.amount.get()), "{price:?}");
    assert!(price.source.starts_with("20"));
}

#[test]
fn machines_for_a_deadline_and_tokens_for_a_budget() {
    let training = Training { availability: 0.9, ..Training::default() };
    // DeepSeek-V3: 14.8T tokens in 2.664M GPU-hours is 1,543 tokens/s per GPU.
    let rate = 14.8e12 / (2.664e6 * 3600.0);
    let sixty_days = Seconds::new(60.0 * 86400.0);
    let devices = devices_for_deadline(14.8e12, rate, sixty_days, &training).expect("finite");
    near(devices as f64, 2.664e6 / (60.0 * 24.0) / 0.9, 1e-3);
    let full = Training::default();
    let tokens = tokens_for_dollars(Dollars::new(5.328e6), Dollars::new(2.0), rate, &full).expect("finite");
    near(tokens, 14.8e12, 1e-9);
    assert_eq!(devices_for_deadline(1e12, 0.0, sixty_days, &training), None);
    assert_eq!(tokens_for_dollars(Dollars::new(1.0), Dollars::ZERO, rate, &full), None);
}
