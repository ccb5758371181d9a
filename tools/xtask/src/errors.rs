//! When functions fail: each that is `pub` and returns a `Result` says it under `# Errors`, also where only its own
//! crate can call it, which Clippy's `missing_errors_doc` does not ask for.

use syn::{
    Attribute, Expr, GenericArgument, ImplItem, Item, Lit, Meta, PathArguments, ReturnType, Signature, Type,
    TypeParamBound, Visibility,
};

use crate::{
    sources::{crate_roots, is_for_tests, modules},
    step::root,
};

#[test]
fn every_public_function_that_can_fail_says_when() {
    let roots = crate_roots();
    let crates = roots.iter().map(|file| modules(&root(), file));
    let silent: Vec<String> = crates
        .filter(|modules| !leaves_errors_undocumented(&modules[0].attributes))
        .flatten()
        .flat_map(|module| {
            let names = silent(&module.items).into_iter();
            names.map(move |name| format!("{}: {name}", module.file.display()))
        })
        .collect();
    assert!(
        silent.is_empty(),
        "these do not say under `# Errors` when they fail:\n{}",
        silent.join("\n")
    );
}

#[test]
fn it_is_asked_of_functions_and_methods_whatever_their_result_is_called() {
    let source = "
        pub fn free() -> Result<(), ()> {}
        pub async fn of_a_crate() -> anyhow::Result<u8> {}
        pub fn aliased() -> io::SomeResult {}
        pub fn later() -> impl Future<Output = Result<(), ()>> + Send {}
        impl Of { pub fn method(&self) -> Result<(), ()> {} }
        /// # Errors
        pub fn without_text() -> Result<(), ()> {}
        /// # Errors
        ///
        /// If so.
        pub fn told() -> Result<(), ()> {}
        fn private() -> Result<(), ()> {}
        pub(crate) fn inner() -> Result<(), ()> {}
        pub fn infallible() -> Option<u8> {}
        impl Trait for Of { fn of_the_trait(&self) -> Result<(), ()> {} }
        #[cfg(test)]
        pub fn of_a_test() -> Result<(), ()> {}
    ";
    let items = syn::parse_file(source).expect("this is Rust").items;
    let expected = ["free", "of_a_crate", "aliased", "later", "method", "without_text"];
    assert_eq!(silent(&items), expected);
}

/// Whether a crate says of itself that Clippy should not ask, as a test's helpers and generated code do.
fn leaves_errors_undocumented(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => {
            list.path.is_ident("expect") && list.tokens.to_string().contains("missing_errors_doc")
        }
        _ => false,
    })
}

/// The functions that are `pub` and can fail, but do not say when.
fn silent(items: &[Item]) -> Vec<String> {
    let functions = items.iter().flat_map(|item| match item {
        Item::Fn(function) => vec![(&function.attrs, &function.vis, &function.sig)],
        Item::Impl(block) if block.trait_.is_none() && !is_for_tests(&block.attrs) => {
            let methods = block.items.iter().filter_map(|item| match item {
                ImplItem::Fn(method) => Some((&method.attrs, &method.vis, &method.sig)),
                _ => None,
            });
            methods.collect()
        }
        _ => Vec::new(),
    });
    let silent = functions.filter(|(attributes, visibility, signature)| {
        matches!(visibility, Visibility::Public(_))
            && !is_for_tests(attributes)
            && can_fail(signature)
            && !says_when(attributes)
    });
    silent
        .map(|(_, _, signature)| signature.ident.to_string())
        .collect()
}

fn can_fail(signature: &Signature) -> bool {
    match &signature.output {
        ReturnType::Type(_, returned) => is_result(returned),
        ReturnType::Default => false,
    }
}

/// Whether a type is a `Result` by its name, or the promise of one.
fn is_result(returned: &Type) -> bool {
    match returned {
        Type::Path(named) => {
            let last = named.path.segments.last();
            last.is_some_and(|last| last.ident.to_string().ends_with("Result"))
        }
        Type::ImplTrait(promised) => promised.bounds.iter().any(|bound| {
            let TypeParamBound::Trait(bound) = bound else {
                return false;
            };
            let last = bound.path.segments.last().map(|last| &last.arguments);
            let Some(PathArguments::AngleBracketed(arguments)) = last else {
                return false;
            };
            arguments.args.iter().any(|argument| match argument {
                GenericArgument::AssocType(output) => output.ident == "Output" && is_result(&output.ty),
                _ => false,
            })
        }),
        _ => false,
    }
}

/// Whether a doc comment has `# Errors` and a text below it.
fn says_when(attributes: &[Attribute]) -> bool {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(line) if line.path.is_ident("doc") => match &line.value {
            Expr::Lit(line) => match &line.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let mut below = lines.skip_while(|line| line != "# Errors").skip(1);
    below
        .find(|line| !line.is_empty())
        .is_some_and(|line| !line.starts_with('#'))
}
