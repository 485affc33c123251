//! Raw text in, natural text out: tokens that remember where they stood, the way back, case, and sentences.
//!
//! ```text
//! raw line --Tokenizer--> tokens with byte spans and joins --> translation --Detokenizer--> natural text
//! text --sentences--> one sentence per line          words --Truecaser--> words in their usual case
//! text without spaces --Segmenter--> words
//! ```
//!
//! *Useful for* everything between what people write and what models count. *Not useful for* scoring, which has
//! tokenisers of its own (they are part of the metrics), or for normalising: tokens are slices of the line, and no
//! byte changes.
//!
//! ```
//! use sylvan_text::{Detokenizer, Lang, Tokenizer};
//! let line = "He doesn't pay $3.50, \"no way\".";
//! let tokenizer = Tokenizer::new(Lang::En);
//! let tokens = tokenizer.tokenize(line);
//! let words: Vec<&str> = tokens.iter().map(|token| token.text(line)).collect();
//! assert_eq!(words.join(" "), "He doesn 't pay $ 3.50 , \" no way \" .");
//! assert!(tokens[2].joined_left && tokens[1].joined_right);
//! assert_eq!(Detokenizer::new(Lang::En).detokenize(&words), line);
//! ```

mod chars;
mod detokenize;
mod joiner;
mod lang;
mod languages;
mod markup;
mod protect;
mod segment;
mod sentences;
mod token;
mod tokenize;
mod truecase;

pub use detokenize::Detokenizer;
pub use joiner::{MARK, mark, unmark};
pub use lang::Lang;
pub use languages::{language, language_name};
pub use markup::{Tag, markup, tag};
pub use protect::Protect;
pub use segment::{Segmenter, SegmenterTrainer};
pub use sentences::sentences;
pub use token::{Token, join};
pub use tokenize::Tokenizer;
pub use truecase::{Truecaser, TruecaserTrainer, capitalise};
