//! Where a source can be mutated, and how.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Context, Result};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, ImplItemFn, ItemFn, Lit, ReturnType, Signature, TraitItemFn, UnOp, parse_quote};

/// One place, mutated in one way.
#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    pub(crate) number: u32,
    file: String,
    line: usize,
    what: String,
    /// The line itself: what it is known by when lines have moved.
    text: String,
}

impl Mutant {
    /// File, change and line, however the line is numbered.
    pub(crate) fn place(&self) -> String {
        format!("{}\t{}\t{}", self.file, self.what, self.text)
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// The source with a choice at each place, but for those left out. Numbers go on from those there are.
pub(crate) fn mutate(
    file: &str,
    text: &str,
    mutants: &mut Vec<Mutant>,
    left_out: &BTreeSet<u32>,
) -> Result<String> {
    let mut source = syn::parse_file(text).with_context(|| file.to_string())?;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    Visitor { file, lines: &lines, mutants, left_out }.visit_file_mut(&mut source);
    Ok(prettyplease::unparse(&source))
}

struct Visitor<'v> {
    file: &'v str,
    lines: &'v [&'v str],
    mutants: &'v mut Vec<Mutant>,
    left_out: &'v BTreeSet<u32>,
}

impl Visitor<'_> {
    /// The number of the next mutant; `None` if it is left out.
    fn next(&mut self, line: usize, what: String) -> Option<u32> {
        let number = self.mutants.len() as u32 + 1;
        let text = self.lines.get(line.saturating_sub(1)).map_or(String::new(), ToString::to_string);
        self.mutants.push(Mutant { number, file: self.file.to_string(), line, what, text });
        (!self.left_out.contains(&number)).then_some(number)
    }

    fn function(&mut self, signature: &Signature, block: &mut syn::Block) {
        if signature.constness.is_some() {
            return;
        }
        let body: Vec<String> = block.stmts.iter().map(|part| part.to_token_stream().to_string()).collect();
        visit_mut::visit_block_mut(self, block);
        let ReturnType::Type(_, kind) = &signature.output else {
            // What does nothing already cannot do less.
            if body.is_empty() {
                return;
            }
            let what = format!("{} does nothing", signature.ident);
            if let Some(number) = self.next(signature.span().start().line, what) {
                block.stmts.insert(0, parse_quote!(if crate::mutant(#number) { return; }));
            }
            return;
        };
        let kind = kind.to_token_stream().to_string();
        let values: &[&str] = match kind.as_str() {
            "bool" => &["true", "false"],
            "f64" | "f32" => &["0.0", "-1.0"],
            "usize" | "u32" | "u64" | "u8" => &["0", "1"],
            _ if kind.starts_with("Option <") => &["None"],
            _ if kind.starts_with("Vec <") => &["Vec::new()"],
            _ => &[],
        };
        // A function that is nothing but a value is not mutated into that value.
        for value in values.iter().filter(|&&value| body != [value]) {
            let what = format!("{} returns {value}", signature.ident);
            if let Some(number) = self.next(signature.span().start().line, what) {
                let Ok(value) = syn::parse_str::<Expr>(value) else { continue };
                block.stmts.insert(0, parse_quote!(if crate::mutant(#number) { return #value; }));
            }
        }
    }

    /// The other operators that stand for one.
    fn others(operator: &BinOp) -> &'static [&'static str] {
        match operator {
            BinOp::Add(_) => &["-", "*"],
            BinOp::Sub(_) => &["+"],
            BinOp::Mul(_) => &["+"],
            BinOp::Div(_) => &["*"],
            BinOp::Rem(_) => &["/"],
            BinOp::And(_) => &["||"],
            BinOp::Or(_) => &["&&"],
            BinOp::Eq(_) => &["!="],
            BinOp::Ne(_) => &["=="],
            BinOp::Lt(_) => &["<=", ">"],
            BinOp::Le(_) => &["<", ">"],
            BinOp::Gt(_) => &[">=", "<"],
            BinOp::Ge(_) => &[">", "<"],
            BinOp::BitAnd(_) => &["|"],
            BinOp::BitOr(_) => &["&"],
            BinOp::BitXor(_) => &["|"],
            BinOp::Shl(_) => &[">>"],
            BinOp::Shr(_) => &["<<"],
            BinOp::AddAssign(_) => &["-=", "*="],
            BinOp::SubAssign(_) => &["+="],
            BinOp::BitOrAssign(_) => &["&="],
            BinOp::BitAndAssign(_) => &["|="],
            _ => &[],
        }
    }

    /// What an expression can be replaced with, and the words for it.
    fn replacements(expression: &Expr) -> Vec<(Expr, String)> {
        let mut found = Vec::new();
        match expression {
            Expr::Binary(binary) => {
                let is_let = |side: &Expr| side.to_token_stream().to_string().starts_with("let ");
                if is_let(&binary.left) || is_let(&binary.right) {
                    return found;
                }
                for other in Self::others(&binary.op) {
                    let Ok(op) = syn::parse_str::<BinOp>(other) else { continue };
                    let mut changed = binary.clone();
                    changed.op = op;
                    let what = format!("{} becomes {other}", binary.op.to_token_stream());
                    found.push((Expr::Binary(changed), what));
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                let what = format!("{} is left out", unary.op.to_token_stream());
                found.push(((*unary.expr).clone(), what));
            }
            Expr::Lit(literal) => match &literal.lit {
                Lit::Bool(value) => {
                    let other = !value.value;
                    found.push((parse_quote!(#other), format!("{} becomes {other}", value.value)));
                }
                Lit::Int(value) if value.suffix().is_empty() => {
                    if let Ok(number) = value.base10_parse::<u64>() {
                        let next = proc_macro2::Literal::u64_unsuffixed(number.saturating_add(1));
                        found.push((parse_quote!(#next), format!("{number} becomes {next}")));
                    }
                }
                Lit::Float(value) if value.suffix().is_empty() => {
                    if let Ok(number) = value.base10_parse::<f64>() {
                        let next = proc_macro2::Literal::f64_unsuffixed(number * 2.0 + 1.0);
                        found.push((parse_quote!(#next), format!("{number} becomes {next}")));
                    }
                }
                _ => {}
            },
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let pairs = [
                    ("min", "max"),
                    ("max", "min"),
                    ("rev", ""),
                    ("take", "skip"),
                    ("any", "all"),
                    ("all", "any"),
                ];
                for (from, to) in pairs {
                    if name != from {
                        continue;
                    }
                    if to.is_empty() {
                        found.push(((*call.receiver).clone(), format!("{name} is left out")));
                    } else if !call.args.is_empty() {
                        let mut changed = call.clone();
                        changed.method = syn::Ident::new(to, call.method.span());
                        found.push((Expr::MethodCall(changed), format!("{name} becomes {to}")));
                    }
                }
            }
            _ => {}
        }
        found
    }
}

impl VisitMut for Visitor<'_> {
    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        self.function(&function.sig.clone(), &mut function.block);
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        self.function(&function.sig.clone(), &mut function.block);
    }

    fn visit_trait_item_fn_mut(&mut self, function: &mut TraitItemFn) {
        if let Some(block) = &mut function.default {
            self.function(&function.sig.clone(), block);
        }
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        // Tests are not mutated.
        let is_test = |attribute: &syn::Attribute| attribute.to_token_stream().to_string().contains("test");
        if !module.attrs.iter().any(is_test) {
            visit_mut::visit_item_mod_mut(self, module);
        }
    }

    // Constants, patterns, array lengths and types are no places for a choice.
    fn visit_item_const_mut(&mut self, _: &mut syn::ItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut syn::ItemStatic) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}
    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        let line = match &*expression {
            Expr::Binary(binary) => binary.op.span().start().line,
            other => other.span().start().line,
        };
        let replacements = Self::replacements(expression);
        if !matches!(expression, Expr::Const(_)) {
            visit_mut::visit_expr_mut(self, expression);
        }
        for (other, what) in replacements {
            if let Some(number) = self.next(line, what) {
                let original = expression.clone();
                *expression = parse_quote!((if crate::mutant(#number) { #other } else { #original }));
            }
        }
    }
}
