//! Choices of an argument that are those of a library's type, with the help of each.

/// An enumeration of choices with the names of a type's variants, and its conversion to that type.
macro_rules! choices {
    ($(#[$about:meta])* $name:ident as $target:ty { $($(#[$doc:meta])* $choice:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
        pub(crate) enum $name {
            $($(#[$doc])* $choice,)*
        }

        impl From<$name> for $target {
            fn from(choice: $name) -> Self {
                match choice {
                    $($name::$choice => Self::$choice,)*
                }
            }
        }
    };
}

pub(super) use choices;
