//! Order of the layers of a hybrid model given by shares: `--hybrid-attention-ratio 0.08 --hybrid-mlp-ratio
//! 0.5`.
//!
//! Responsible for: the places that Megatron-Core gives to attention and MLP layers. Independent of the
//! arguments of a script.

/// Attention layers divide the others into equal sections, and MLP layers the Mamba layers that are left.
///
/// With `a = round(n x attention)`, sections have `(n - a) / (a + 1)` layers; with `m = round(n x mlp)`, an
/// MLP layer follows each `(n - a - m) / m` Mamba layers. Source: Megatron-Core,
/// `ssm/mamba_hybrid_layer_allocation.py`.
pub(super) fn allocated(layers: usize, attention: f64, mlp: f64) -> String {
    let mut kinds = vec!['M'; layers];
    let share = |share: f64| (layers as f64 * share).round_ties_even();
    let of_attention = share(attention);
    place(&mut kinds, '*', (layers as f64 - of_attention) / (of_attention + 1.0), of_attention);
    let of_mlp = share(mlp).min(layers as f64 - of_attention);
    if of_mlp > 0.0 {
        place(&mut kinds, '-', (layers as f64 - of_attention - of_mlp) / of_mlp, of_mlp);
    }
    kinds.into_iter().collect()
}

/// Puts `kind` in the place of each Mamba layer that is nearest to the end of a section.
fn place(kinds: &mut [char], kind: char, section: f64, most: f64) {
    let (mut left, mut placed) = (section, 0.0);
    for layer in kinds.iter_mut().filter(|layer| **layer == 'M') {
        if left < 0.5 && placed < most {
            *layer = kind;
            left += section;
            placed += 1.0;
        } else {
            left -= 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::allocated;

    /// Megatron-Core's own test states the numbers of layers of these shares
    /// (`test_mamba_hybrid_layer_allocation.py`).
    #[test]
    fn shares_give_the_numbers_of_layers() {
        let of = |kinds: &str, kind: char| kinds.chars().filter(|c| *c == kind).count();
        for (layers, attention, mlp, expected) in [
            (48, 0.08, 0.5, (4, 24, 20)),
            (8, 0.25, 0.25, (2, 2, 4)),
            (8, 0.5, 0.25, (4, 2, 2)),
            (48, 0.5, 0.2, (24, 10, 14)),
            (30, 0.0, 0.0, (0, 0, 30)),
        ] {
            let kinds = allocated(layers, attention, mlp);
            assert_eq!((of(&kinds, '*'), of(&kinds, '-'), of(&kinds, 'M')), expected, "{kinds}");
            assert_eq!(kinds.len(), layers);
        }
        // Attention is divided by equal sections of the other layers, and neither begins nor ends the model.
        assert_eq!(allocated(14, 0.143, 0.0), "MMMM*MMMM*MMMM");
        assert_eq!(allocated(8, 0.0, 0.5), "M-M-M-M-");
        // The 800M model of `examples/mamba/train.sh`.
        assert_eq!(allocated(48, 0.08, 0.5), "M-M-M--M-*M-M-M-M--*M-M-M-M-*M--M-M-M-*M-M--M-M-");
    }
}
