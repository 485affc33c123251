//! Which codes name a language.
//!
//! A code that nobody has is more often a slip (`english`, `cz`) than a language, and general rules in its place
//! would never be noticed. So it is refused, with the code that was probably meant.

use sylvan_base::Fault;

use crate::Lang;

/// The language of a code that a user gave: two letters (ISO 639-1), or three for a language that has no two; a
/// country or script after a hyphen does not matter. All others are faults that name the nearest code.
///
/// ```
/// use sylvan_text::{Lang, language};
/// assert_eq!(language("de-AT").unwrap(), Lang::De);
/// assert_eq!(language("english").unwrap_err().advice, "English is en");
/// ```
pub fn language(code: &str) -> Result<Lang, Fault> {
    let base = code.split(['-', '_']).next().unwrap_or("").to_lowercase();
    let letters = base.bytes().all(|byte| byte.is_ascii_lowercase());
    let known = languages().any(|language| language.code == base);
    let named = languages().find(|language| language.is_called(&base));
    // ISO 639-2 and -3 have codes for thousands of languages; those with two letters have these two.
    if known || letters && base.len() == 3 && named.is_none() {
        let Ok(lang) = base.parse();
        return Ok(lang);
    }
    let fault =
        Fault::new(0, format!("{code:?}"), "the code of a language, such as en, de, fr, cs, zh or ja");
    let nearest = named.map(|language| format!("{} is {}", language.name, language.code));
    let nearest = nearest.or_else(|| {
        let near = nearest_to(&base)?;
        Some(format!("the nearest is {} ({})", near.code, near.name))
    });
    Err(match nearest {
        Some(nearest) => fault.advise(nearest),
        None => fault.advise("two letters of ISO 639-1, or three of a language that has no two"),
    })
}

/// The English name of a language by its code, with or without a country; none for those that have no code of two letters.
///
/// ```
/// assert_eq!(sylvan_text::language_name("de-AT"), Some("German"));
/// ```
pub fn language_name(code: &str) -> Option<&'static str> {
    let base = code.split(['-', '_']).next().unwrap_or("").to_lowercase();
    languages().find(|language| language.code == base).map(|language| language.name)
}

#[derive(Debug, Clone, Copy)]
struct Language {
    code: &'static str,
    /// Codes of three letters, with slashes between them.
    long: &'static str,
    name: &'static str,
}

impl Language {
    /// Whether this is a name of it, a longer code, or the code of a country where it is spoken.
    fn is_called(&self, text: &str) -> bool {
        self.name.to_lowercase() == text
            || self.long.split('/').any(|long| long == text)
            || COUNTRIES.iter().any(|&(country, code)| country == text && code == self.code)
    }
}

fn languages() -> impl Iterator<Item = Language> {
    TABLE.split(';').filter_map(|entry| {
        let mut fields = entry.split_whitespace();
        Some(Language { code: fields.next()?, long: fields.next()?, name: fields.next()? })
    })
}

/// The language whose code, or whose name if the text is longer, takes the fewest changes; of several the first
/// with rules of its own. None if too much would have to change.
fn nearest_to(text: &str) -> Option<Language> {
    let length = text.chars().count();
    let changes = |language: &Language| {
        if length <= 3 {
            distance(text, language.code)
        } else {
            distance(text, &language.name.to_lowercase())
        }
    };
    let general = |language: &Language| {
        let Ok(lang) = language.code.parse::<Lang>();
        lang == Lang::Other
    };
    let near = languages().min_by_key(|language| (changes(language), general(language)))?;
    (changes(&near) <= if length <= 3 { 1 } else { length / 3 }).then_some(near)
}

/// How many characters must be changed, added or removed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &d) in b.iter().enumerate() {
            let changed = diagonal + usize::from(c != d);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Codes of countries that are often taken for those of languages. Some others are codes of languages themselves.
const COUNTRIES: [(&str, &str); 12] = [
    ("at", "de"),
    ("cn", "zh"),
    ("cz", "cs"),
    ("dk", "da"),
    ("gb", "en"),
    ("gr", "el"),
    ("hk", "zh"),
    ("jp", "ja"),
    ("ua", "uk"),
    ("us", "en"),
    ("vn", "vi"),
    ("kp", "ko"),
];

/// Codes of ISO 639-1, those of ISO 639-2, English names.
const TABLE: &str = "\
    aa aar Afar; ab abk Abkhazian; ae ave Avestan; af afr Afrikaans; ak aka Akan; am amh Amharic; \
    an arg Aragonese; ar ara Arabic; as asm Assamese; av ava Avaric; ay aym Aymara; az aze Azerbaijani; \
    ba bak Bashkir; be bel Belarusian; bg bul Bulgarian; bi bis Bislama; bm bam Bambara; bn ben Bengali; \
    bo bod/tib Tibetan; br bre Breton; bs bos Bosnian; ca cat Catalan; ce che Chechen; ch cha Chamorro; \
    co cos Corsican; cr cre Cree; cs ces/cze Czech; cu chu Church-Slavonic; cv chv Chuvash; cy cym/wel Welsh; \
    da dan Danish; de deu/ger German; dv div Divehi; dz dzo Dzongkha; ee ewe Ewe; el ell/gre Greek; \
    en eng English; eo epo Esperanto; es spa Spanish; et est Estonian; eu eus/baq Basque; fa fas/per Persian; \
    ff ful Fulah; fi fin Finnish; fj fij Fijian; fo fao Faroese; fr fra/fre French; fy fry Frisian; \
    ga gle Irish; gd gla Gaelic; gl glg Galician; gn grn Guarani; gu guj Gujarati; gv glv Manx; ha hau Hausa; \
    he heb Hebrew; hi hin Hindi; ho hmo Hiri-Motu; hr hrv Croatian; ht hat Haitian; hu hun Hungarian; \
    hy hye/arm Armenian; hz her Herero; ia ina Interlingua; id ind Indonesian; ie ile Interlingue; ig ibo Igbo; \
    ii iii Sichuan-Yi; ik ipk Inupiaq; io ido Ido; is isl/ice Icelandic; it ita Italian; iu iku Inuktitut; \
    ja jpn Japanese; jv jav Javanese; ka kat/geo Georgian; kg kon Kongo; ki kik Kikuyu; kj kua Kuanyama; \
    kk kaz Kazakh; kl kal Greenlandic; km khm Khmer; kn kan Kannada; ko kor Korean; kr kau Kanuri; \
    ks kas Kashmiri; ku kur Kurdish; kv kom Komi; kw cor Cornish; ky kir Kyrgyz; la lat Latin; \
    lb ltz Luxembourgish; lg lug Ganda; li lim Limburgish; ln lin Lingala; lo lao Lao; lt lit Lithuanian; \
    lu lub Luba-Katanga; lv lav Latvian; mg mlg Malagasy; mh mah Marshallese; mi mri/mao Maori; \
    mk mkd/mac Macedonian; ml mal Malayalam; mn mon Mongolian; mr mar Marathi; ms msa/may Malay; \
    mt mlt Maltese; my mya/bur Burmese; na nau Nauru; nb nob Bokmål; nd nde North-Ndebele; ne nep Nepali; \
    ng ndo Ndonga; nl nld/dut Dutch; nn nno Nynorsk; no nor Norwegian; nr nbl South-Ndebele; nv nav Navajo; \
    ny nya Chichewa; oc oci Occitan; oj oji Ojibwa; om orm Oromo; or ori Odia; os oss Ossetian; pa pan Punjabi; \
    pi pli Pali; pl pol Polish; ps pus Pashto; pt por Portuguese; qu que Quechua; rm roh Romansh; rn run Rundi; \
    ro ron/rum Romanian; ru rus Russian; rw kin Kinyarwanda; sa san Sanskrit; sc srd Sardinian; sd snd Sindhi; \
    se sme Northern-Sami; sg sag Sango; si sin Sinhala; sk slk/slo Slovak; sl slv Slovenian; sm smo Samoan; \
    sn sna Shona; so som Somali; sq sqi/alb Albanian; sr srp Serbian; ss ssw Swati; st sot Sotho; \
    su sun Sundanese; sv swe Swedish; sw swa Swahili; ta tam Tamil; te tel Telugu; tg tgk Tajik; th tha Thai; \
    ti tir Tigrinya; tk tuk Turkmen; tl tgl Tagalog; tn tsn Tswana; to ton Tongan; tr tur Turkish; \
    ts tso Tsonga; tt tat Tatar; tw twi Twi; ty tah Tahitian; ug uig Uyghur; uk ukr Ukrainian; ur urd Urdu; \
    uz uzb Uzbek; ve ven Venda; vi vie Vietnamese; vo vol Volapük; wa wln Walloon; wo wol Wolof; xh xho Xhosa; \
    yi yid Yiddish; yo yor Yoruba; za zha Zhuang; zh zho/chi Chinese; zu zul Zulu";

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(code: &str) -> String {
        language(code).unwrap_err().advice
    }

    #[test]
    fn codes_are_known_with_and_without_countries() {
        for (code, lang) in [
            ("en", Lang::En),
            ("zh-Hans", Lang::Zh),
            ("pt_BR", Lang::Other),
            ("hsb", Lang::Other),
            ("DE", Lang::De),
        ] {
            assert_eq!(language(code).unwrap(), lang, "{code}");
        }
        assert_eq!(languages().count(), 183);
        assert!(languages().all(|language| language.code.len() == 2));
    }

    #[test]
    fn what_is_no_code_is_told_the_nearest() {
        assert_eq!(advice("english"), "English is en");
        assert_eq!(advice("ger"), "German is de");
        assert_eq!(advice("cz"), "Czech is cs");
        assert_eq!(advice("Frensh"), "the nearest is fr (French)");
        assert_eq!(advice("em"), "the nearest is en (English)");
        assert_eq!(advice("xx"), "the nearest is xh (Xhosa)");
        for code in ["", "klingonisch", "e n", "日本語", "-"] {
            assert!(language(code).is_err(), "{code}");
        }
    }
}
