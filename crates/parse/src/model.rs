//! A trained parser: what it consists of, and its file.
//!
//! ```text
//! container "parser", version 4
//! meta      lines of name=value: kind, beam, lookahead, and figures of the training
//! ends, bytes, slots, classes    the known words (lexicon.rs)
//! tags      one tag per line
//! tlines, tpool                 the tagger's weights (machine/rows.rs)
//! labels    constituents (constituency/labels.rs)
//! plines, ppool                 the parser's weights
//! relation  one relation per line
//! llines, lpool                 the weights that name arcs
//! aside     per tag the relation of words that are put aside, plus 1 (dependency/aside.rs)
//! alines, apool                 the weights that attach them
//! blines, bpool                 the weights of the first guess (dependency/guess.rs), for parsers that look ahead
//! surface   how the treebank writes what people write otherwise (conventions/); not in version 3
//! ```

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{InputError, Result};
use sylvan_store::{Container, ContainerWriter, Name, Section, name};

use crate::constituency::labels::Labels;
use crate::constituency::system::ConstituencySystem;
use crate::conventions::Conventions;
use crate::dependency::aside::Aside;
use crate::dependency::relations::RelationSystem;
use crate::dependency::system::{DependencySystem, Templates, WINDOW};
use crate::lexicon::{Lexicon, Word};
use crate::machine::Rows;
use crate::tagger::{BEAM, TagSystem, Tagger};
use crate::tags::TagSet;

pub(crate) const KIND: Name = name("parser");
pub(crate) const VERSION: u32 = 4;
/// Older versions had other weights.
pub(crate) const OLDEST: u32 = 3;
const META: Name = name("meta");
const TAGS: Name = name("tags");
const LABELS: Name = name("labels");
const TAGGER_ROWS: [Name; 2] = [name("tlines"), name("tpool")];
const RELATIONS: Name = name("relation");
const RELATION_ROWS: [Name; 2] = [name("llines"), name("lpool")];
const ASIDE: Name = name("aside");
const ASIDE_ROWS: [Name; 2] = [name("alines"), name("apool")];
const BACKWARD_ROWS: [Name; 2] = [name("blines"), name("bpool")];
const PARSER_ROWS: [Name; 2] = [name("plines"), name("ppool")];
const SURFACE: Name = name("surface");

/// What a parser makes of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Parts of speech.
    Tagger,
    /// Phrase-structure trees.
    Constituency,
    /// Heads and relations of words.
    Dependency,
}

impl Kind {
    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tagger => "tagger",
            Self::Constituency => "constituency",
            Self::Dependency => "dependency",
        }
    }
}

/// A trained parser. It is immutable and can be shared between threads; each thread has its own
/// [`Workspace`](crate::Workspace).
#[derive(Debug, Clone)]
pub struct Parser {
    pub(crate) lexicon: Lexicon,
    pub(crate) tags: TagSet,
    pub(crate) tagger: Tagger,
    pub(crate) body: Body,
    pub(crate) conventions: Conventions,
    /// Names and values: how the parser was trained.
    pub(crate) notes: Vec<(String, String)>,
}

/// What comes after the tags.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Nothing,
    Constituency {
        system: Box<ConstituencySystem>,
        rows: Rows,
    },
    Dependency {
        system: DependencySystem,
        rows: Rows,
        relations: Box<Relations>,
        aside: Box<Aside>,
        backwards: Option<Rows>,
        tags_alone: bool,
    },
}

/// The names of arcs.
#[derive(Debug, Clone)]
pub(crate) struct Relations {
    pub(crate) system: RelationSystem,
    pub(crate) names: Vec<String>,
    pub(crate) rows: Rows,
}

impl Parser {
    /// What it makes of a sentence.
    pub fn kind(&self) -> Kind {
        match self.body {
            Body::Nothing => Kind::Tagger,
            Body::Constituency { .. } => Kind::Constituency,
            Body::Dependency { .. } => Kind::Dependency,
        }
    }

    /// How the parser was trained: names and values.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// The parts of speech it knows. Several numbers have the same name where the treebank had universal ones too.
    pub fn tags(&self) -> &[String] {
        self.tags.own()
    }

    /// The universal part of speech that goes with one of [`tags`](Self::tags), by number; `_` where the treebank had
    /// none.
    pub fn universal_tag(&self, tag: u8) -> &str {
        self.tags.universal(tag)
    }

    /// How many words it knows by their own number.
    pub fn known_words(&self) -> usize {
        self.lexicon.len()
    }

    /// Whether it knows a word by its own number, in this or in lower case.
    pub fn knows(&self, word: &str) -> bool {
        self.lexicon.get(word).is_some() || self.lexicon.get(&word.to_lowercase()).is_some()
    }

    /// How its treebank writes what people write otherwise.
    pub fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    /// Words as features see them.
    pub(crate) fn atoms(&self, words: &[&str]) -> Vec<Word> {
        let forms = self.conventions.forms(words);
        forms.iter().map(|form| self.atom(form)).collect()
    }

    /// A word as features see it. A typographic apostrophe is worth a word that is known with a plain one.
    pub(crate) fn atom(&self, form: &str) -> Word {
        if form.contains('’') && !self.knows(form) {
            let plain = form.replace('’', "'");
            if self.knows(&plain) {
                return self.lexicon.word(&plain);
            }
        }
        self.lexicon.word(form)
    }

    /// How many features have weights: the tagger's and the parser's.
    pub fn features(&self) -> (usize, usize) {
        let parser = match &self.body {
            Body::Nothing => 0,
            Body::Constituency { rows, .. } | Body::Dependency { rows, .. } => rows.len(),
        };
        (self.tagger.rows.len(), parser)
    }

    /// Writes the model file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut writer = ContainerWriter::create(path, KIND, VERSION, Lexicon::SECTIONS + 15)?;
        let mut meta = format!("kind={}\nlookahead={}\n", self.kind().name(), self.tagger.system.lookahead);
        if let Body::Dependency { system, tags_alone, .. } = &self.body {
            let templates = if system.templates == Templates::Paper { "paper" } else { "rich" };
            let tags = if *tags_alone { "word" } else { "context" };
            meta.push_str(&format!("templates={templates}\nwindow={}\ntagging={tags}\n", system.lookahead));
        }
        for (name, value) in &self.notes {
            meta.push_str(&format!("{name}={value}\n"));
        }
        writer.section(META, meta.as_bytes())?;
        self.lexicon.write(&mut writer)?;
        writer.section(SURFACE, self.conventions.to_text().as_bytes())?;
        writer.section(TAGS, self.tags.to_text().as_bytes())?;
        self.tagger.rows.write(&mut writer, TAGGER_ROWS)?;
        match &self.body {
            Body::Nothing => {}
            Body::Constituency { system, rows } => {
                writer.section(LABELS, system.labels.to_text().as_bytes())?;
                rows.write(&mut writer, PARSER_ROWS)?;
            }
            Body::Dependency { rows, relations, aside, backwards, .. } => {
                writer.section(ASIDE, &aside.relations)?;
                aside.rows.write(&mut writer, ASIDE_ROWS)?;
                if let Some(rows) = backwards {
                    rows.write(&mut writer, BACKWARD_ROWS)?;
                }
                writer.section(RELATIONS, relations.names.join("\n").as_bytes())?;
                rows.write(&mut writer, PARSER_ROWS)?;
                relations.rows.write(&mut writer, RELATION_ROWS)?;
            }
        }
        writer.finish()
    }

    /// Maps a model file and compares it with its checksums.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(Container::open(path, KIND, OLDEST..=VERSION)?)
    }

    /// Opens a parser that is a section of a larger file, in place.
    pub fn inside(file: &Container, section: Name) -> Result<Self> {
        Self::from_container(file.part(section, KIND, OLDEST..=VERSION)?)
    }

    pub(crate) fn from_container(file: Container) -> Result<Self> {
        file.check_all()?;
        let file = Arc::new(file);
        let meta = text(&file, META)?;
        let mut notes: Vec<(String, String)> = meta
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        let mut take = |wanted: &str| {
            let at = notes.iter().position(|(name, _)| name == wanted);
            at.map(|at| notes.remove(at).1).unwrap_or_default()
        };
        let (kind, lookahead) = (take("kind"), take("lookahead"));
        let [templates, window, tagging] = ["templates", "window", "tagging"].map(&mut take);
        let lookahead = lookahead.parse().ok().filter(|&words| words <= 2);
        let lookahead = lookahead.ok_or_else(|| bad(&file, "a lookahead of more than 2 words"))?;
        let tags = TagSet::from_text(&text(&file, TAGS)?);
        if tags.len() == 0 || tags.len() > 255 {
            return Err(bad(&file, "no tags, or more than 255"));
        }
        let tagger = Tagger {
            system: TagSystem { tags: tags.len(), lookahead },
            rows: rows(&file, TAGGER_ROWS)?,
            beam: BEAM,
        };
        let body = match kind.as_str() {
            "tagger" => Body::Nothing,
            "constituency" => {
                let labels = Labels::from_text(&text(&file, LABELS)?);
                let labels = labels.ok_or_else(|| bad(&file, "labels that cannot be read"))?;
                let system = Box::new(ConstituencySystem { labels });
                Body::Constituency { system, rows: rows(&file, PARSER_ROWS)? }
            }
            "dependency" => {
                let templates = if templates == "paper" { Templates::Paper } else { Templates::Rich };
                let window = window.parse().ok().filter(|&words| words <= WINDOW);
                let lookahead = window.ok_or_else(|| bad(&file, "a window that cannot be read"))?;
                let names: Vec<String> = text(&file, RELATIONS)?.lines().map(str::to_string).collect();
                if names.is_empty() || names.len() > 255 {
                    return Err(bad(&file, "no relations, or more than 255"));
                }
                let relations = Box::new(Relations {
                    system: RelationSystem { relations: names.len() },
                    names,
                    rows: rows(&file, RELATION_ROWS)?,
                });
                let aside = Box::new(Aside {
                    relations: file.section::<u8>(ASIDE)?.to_vec(),
                    rows: self::rows(&file, ASIDE_ROWS)?,
                });
                if aside.relations.iter().any(|&relation| usize::from(relation) > relations.names.len()) {
                    return Err(bad(&file, "words put aside with a relation that is not there"));
                }
                let system = DependencySystem { templates, lookahead };
                let backwards =
                    system.looks_around().then(|| self::rows(&file, BACKWARD_ROWS)).transpose()?;
                Body::Dependency {
                    aside,
                    backwards,
                    system,
                    rows: rows(&file, PARSER_ROWS)?,
                    relations,
                    tags_alone: tagging == "word",
                }
            }
            other => return Err(bad(&file, &format!("a parser of the kind {other:?}"))),
        };
        let lexicon = Lexicon::inside(&file)?;
        let conventions = if file.has(SURFACE) {
            let read = Conventions::from_text(&text(&file, SURFACE)?);
            read.ok_or_else(|| bad(&file, "conventions that cannot be read"))?
        } else {
            Conventions::of_words(|word| lexicon.get(word).is_some())
        };
        Ok(Self { lexicon, tags, tagger, body, conventions, notes })
    }

    /// Reads the whole file and compares it with its checksums.
    pub fn verify(path: &Path) -> Result<()> {
        Container::open(path, KIND, OLDEST..=VERSION)?.verify()
    }
}

fn bad(file: &Container, found: &str) -> InputError {
    file.bad(found.to_string(), "a parser model of this program".into())
}

fn text(file: &Container, name: Name) -> Result<String> {
    let bytes = file.section::<u8>(name)?;
    String::from_utf8(bytes.to_vec()).map_err(|_| bad(file, "a section that is no text"))
}

fn rows(file: &Arc<Container>, names: [Name; 2]) -> Result<Rows> {
    let rows = Rows::from_sections(Section::from_file(file, names[0])?, Section::from_file(file, names[1])?);
    rows.ok_or_else(|| bad(file, "weights without buckets"))
}
