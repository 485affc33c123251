//! A second language model: of word classes, which are learnt from the same text.

use std::path::PathBuf;

use sylvan_base::{InputError, Progress};
use sylvan_lm::classes::{ClassConfig, Classes};
use sylvan_lm::{CompileConfig, Estimator, LayoutKind, Lm, MAX_ORDER};
use sylvan_store::{Output, TextReader};

use super::language_model::{estimating, texts};
use crate::run::{Of, Run};
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    if run.config.lm_classes > 0 {
        run.class_model = Some(of_text(run, Of::All, say)?);
        if run.rest.is_some() {
            let model = of_text(run, Of::Rest, say)?;
            run.rest.iter_mut().for_each(|rest| rest.class_model = Some(model.clone()));
        }
    }
    Ok(())
}

fn of_text(run: &mut Run<'_>, of: Of, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let count = run.config.lm_classes;
    let files = [["class-lm", "class-lm-rest"], ["classes", "classes-rest"]];
    let [model, classes] = files.map(|names| run.work.file(of.name(names)));
    let arpa = run.work.file("class-lm.arpa");
    let texts = texts(run, of);
    // There are few classes, so longer n-grams of them have been seen.
    let order = (run.config.lm_order + 1).min(MAX_ORDER);
    let config = estimating(run, order);
    let stage = Stage {
        name: of.name(["classes", "classes-rest"]),
        inputs: texts.iter().map(PathBuf::as_path).collect(),
        settings: format!("{order} {count}"),
        outputs: vec![&model, &classes],
    };
    let progress = run.progress;
    run.work.run(&stage, say, |_| {
        learn(&texts, ClassConfig { count, ..ClassConfig::default() }, progress)?.write(&classes)?;
        let classes = Classes::read(&classes)?;
        let mut estimator = Estimator::with_temp(config, &sylvan_lm::temp_folder(&model))?;
        for text in &texts {
            estimator.read_classes(&mut TextReader::open(text)?.tolerant(), &classes, progress)?;
        }
        let mut out = Output::create(&arpa)?;
        estimator.write_arpa(&mut out, progress)?;
        out.finish()?;
        let compile = CompileConfig { layout: LayoutKind::Hash, quantize: None, bounds: false };
        Lm::open(&arpa)?.with_classes(&classes).compile(&model, compile)?;
        std::fs::remove_file(&arpa).map_err(InputError::io(&arpa, "remove"))?;
        Ok::<(), Error>(())
    })?;
    Ok(model)
}

fn learn(texts: &[PathBuf], config: ClassConfig, progress: &dyn Progress) -> Result<Classes> {
    let mut learner = config.learner();
    for text in texts {
        learner.read(&mut TextReader::open(text)?.tolerant(), progress)?;
    }
    progress.begin("sorting words into classes", Some(config.passes as u64));
    let classes = learner.learn(progress);
    progress.end();
    Ok(classes)
}
