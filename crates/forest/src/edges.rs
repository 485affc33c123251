//! What derivations and engines need to know about edges, made before the search or during it.

use crate::{BundleId, EdgeId, Target, Token, TokenId, TranslationForest};

/// Rule applications by their ids. A [`TranslationForest`] has all of them from the start; a search that makes its
/// edges on demand keeps them in a store of its own.
pub trait Edges {
    /// An edge's target side.
    fn target(&self, edge: EdgeId) -> &[Target];
    /// A bundle's words.
    fn bundle(&self, bundle: BundleId) -> &[TokenId];
    /// A target word.
    fn token(&self, token: TokenId) -> Token;
    /// The weighted sum of an edge's features that need no context.
    fn score(&self, edge: EdgeId) -> f64;
    /// Hash of an edge's content, for ties.
    fn hash(&self, edge: EdgeId) -> u64;
}

impl Edges for TranslationForest {
    #[inline]
    fn target(&self, edge: EdgeId) -> &[Target] {
        self.target(edge)
    }
    #[inline]
    fn bundle(&self, bundle: BundleId) -> &[TokenId] {
        self.bundle(bundle)
    }
    #[inline]
    fn token(&self, token: TokenId) -> Token {
        self.token(token)
    }
    #[inline]
    fn score(&self, edge: EdgeId) -> f64 {
        self.edge(edge).spec.score
    }
    #[inline]
    fn hash(&self, edge: EdgeId) -> u64 {
        self.edge(edge).spec.hash
    }
}
