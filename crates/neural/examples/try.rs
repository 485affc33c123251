//! try
use sylvan_neural::train::*;
struct P;
impl sylvan_base::Progress for P {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn at(&self, _: u64) {}
    fn end(&self) {}
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut c = Config::default();
    c.train = [a[1].clone().into(), a[2].clone().into()];
    c.dev = [a[3].clone().into(), a[4].clone().into()];
    c.out = a[5].clone().into();
    c.threads = a[6].parse().unwrap();
    for o in &a[7..] {
        let (k, v) = o.split_once('=').unwrap();
        match k {
            "epochs" => c.epochs = v.parse().unwrap(),
            "batch" => c.batch = v.parse().unwrap(),
            "dropout" => c.dropout = v.parse().unwrap(),
            "unread" => c.unread = v.parse().unwrap(),
            "smoothing" => c.smoothing = v.parse().unwrap(),
            "rate" => c.pace.rate = v.parse().unwrap(),
            "warm" => c.pace.warm_up = v.parse().unwrap(),
            "enc" => c.size.encoder = v.parse().unwrap(),
            "dec" => c.size.decoder = v.parse().unwrap(),
            "inner" => c.size.inner = v.parse().unwrap(),
            "width" => c.size.width = v.parse().unwrap(),
            "units" => c.units = [v.parse().unwrap(); 2],
            "seed" => c.seed = v.parse().unwrap(),
            "patience" => c.patience = v.parse().unwrap(),
            _ => panic!("{k}"),
        }
    }
    let cpu = || {
        let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
        s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
    };
    let t = std::time::Instant::now();
    train(&c, &P, &mut |e| {
        println!("{:?} ppl {:.2} cpu {:.0} wall {:.0}", e, e.dev.exp(), cpu(), t.elapsed().as_secs_f64())
    })
    .unwrap();
}
