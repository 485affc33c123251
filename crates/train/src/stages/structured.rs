//! The structured language model: learnt from the parses of the target text, or the parser itself.

use sylvan_parse::Parser;
use sylvan_parse::structured::FromText;
use sylvan_store::read_lines;

use crate::preflight::StructuredKind;
use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let Some(parser) = &run.config.structured_lm else { return Ok(()) };
    if run.settings.structured == StructuredKind::Perceptron {
        run.structured = Some(parser.clone());
        return Ok(());
    }
    let model = run.work.file("structured");
    let text = run.text_to_learn_once().target.clone();
    let learning = FromText { threads: run.threads, ..FromText::default() };
    let stage = Stage {
        name: "structured",
        inputs: vec![parser, &text],
        settings: format!("{} {}", learning.beam, learning.tags),
        outputs: vec![&model],
    };
    let progress = run.progress;
    run.work.run(&stage, say, |_| {
        let lines = read_lines(&text)?;
        // That it makes dependencies was checked before.
        if let Some(learnt) = learning.learn(&Parser::open(parser)?, &lines, progress) {
            learnt.write(&model)?;
        }
        Ok::<(), Error>(())
    })?;
    run.structured = Some(model);
    Ok(())
}
