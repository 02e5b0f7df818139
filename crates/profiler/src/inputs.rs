//! Inputs of an operator as one text: shapes, the element type of the first tensor, and the settings of a
//! convolution.
//!
//! Responsible for: writing the text from a recorder's fields (`Input Dims`, `Input type`, `Concrete
//! Inputs`), and reading its parts. Shapes come first, as written; each further part follows a `;`. Excludes
//! operators without recorded shapes.

use railwright_spec::precision::DataType;

/// Maximum number of spatial dimensions.
const MOST: usize = 3;

/// Settings of a convolution that its shapes do not show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Convolution {
    /// Stride of each spatial dimension; a single value applies to all.
    pub stride: Vec<u64>,
    pub padding: Vec<u64>,
    pub dilation: Vec<u64>,
    pub output_padding: Vec<u64>,
    pub transposed: bool,
}

/// Text of an operator's inputs, from the recorder's lists as written.
pub(crate) fn text(operator: &str, shapes: &[u8], types: &[u8], concrete: &[u8], into: &mut Vec<u8>) {
    into.clear();
    into.extend_from_slice(shapes);
    let tensor = |entry: &&[u8]| !entry.is_empty() && !entry.starts_with(b"Scalar");
    if let Some(first) = entries(types).find(tensor) {
        into.extend_from_slice(b";type=");
        into.extend(first.iter().filter(|byte| byte.is_ascii_alphanumeric() || b":_".contains(byte)));
    }
    if !concrete.is_empty()
        && let Some(order) = order(operator)
    {
        let values: Vec<&[u8]> = entries(concrete).collect();
        for (name, place) in order {
            if let Some(value) = place.and_then(|place| values.get(place)) {
                into.extend_from_slice(name.as_bytes());
                into.extend(
                    value.iter().filter(|byte| !byte.is_ascii_whitespace() && !b"()[];".contains(byte)),
                );
            }
        }
    }
}

/// Items of a list of strings, without quotes.
fn entries(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b'"').skip(1).step_by(2)
}

/// Positions of a convolution's settings among its arguments (PyTorch, `native_functions.yaml`).
fn order(operator: &str) -> Option<[(&'static str, Option<usize>); 5]> {
    let base = operator.strip_prefix("aten::")?;
    let [stride, padding, dilation, output_padding, transposed] = match base {
        "convolution" | "_convolution" | "convolution_overrideable" => {
            [Some(3), Some(4), Some(5), Some(7), Some(6)]
        }
        "convolution_backward" => [Some(4), Some(5), Some(6), Some(8), Some(7)],
        "conv1d" | "conv2d" | "conv3d" | "cudnn_convolution_relu" => [Some(3), Some(4), Some(5), None, None],
        "cudnn_convolution" => [Some(3), Some(2), Some(4), None, None],
        "miopen_convolution" | "miopen_depthwise_convolution" | "mkldnn_convolution" => {
            [Some(4), Some(3), Some(5), None, None]
        }
        _ => return None,
    };
    Some([
        (";stride=", stride),
        (";padding=", padding),
        (";dilation=", dilation),
        (";output_padding=", output_padding),
        (";transposed=", transposed),
    ])
}

/// The shapes without the other parts.
#[must_use]
pub fn shapes(text: &str) -> &str {
    text.split(';').next().unwrap_or_default()
}

/// A part after the shapes.
fn part<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split(';').skip(1).find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

/// The element type of the first tensor.
pub(crate) fn element(text: &str) -> Option<DataType> {
    let name = part(text, "type")?.trim_start_matches("c10::").to_ascii_lowercase();
    match name.as_str() {
        "bfloat16" => Some(DataType::Bf16),
        "half" => Some(DataType::Fp16),
        "float" => Some(DataType::Fp32),
        _ => name.starts_with("float8").then_some(DataType::Fp8),
    }
}

/// Settings of a convolution; `None` unless all settings that determine its output were recorded.
pub(crate) fn convolution(text: &str) -> Option<Convolution> {
    let numbers = |name: &str| -> Option<Vec<u64>> {
        let all: Vec<u64> = part(text, name)?.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
        (1..=MOST).contains(&all.len()).then_some(all)
    };
    let transposed = part(text, "transposed").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    Some(Convolution {
        stride: numbers("stride")?,
        padding: numbers("padding")?,
        dilation: numbers("dilation")?,
        output_padding: numbers("output_padding").unwrap_or_else(|| vec![0]),
        transposed,
    })
}

impl Convolution {
    /// Output shape for an input `[N, C, sides...]` and a weight `[C_out, C_in / groups, kernel...]`
    /// (transposed: `[C_in, C_out / groups, kernel...]`). A side `L` becomes `(L + 2 p - d (k - 1) - 1) /
    /// s + 1`, rounded down; if transposed, `(L - 1) s - 2 p + d (k - 1) + o + 1` (PyTorch, `Conv2d` and
    /// `ConvTranspose2d`).
    pub(crate) fn output(&self, input: &[u64], weight: &[u64]) -> Option<Vec<u64>> {
        let ([batch, channels, sides @ ..], [first, second, kernel @ ..]) = (input, weight) else {
            return None;
        };
        if sides.is_empty() || sides.len() != kernel.len() {
            return None;
        }
        // The number of groups is the input's channels over those of one group.
        let out =
            if self.transposed { second.checked_mul(channels.checked_div(*first)?.max(1))? } else { *first };
        let mut shape = vec![*batch, out];
        for (at, (&side, &k)) in sides.iter().zip(kernel).enumerate() {
            let of =
                |values: &[u64]| values.get(at).or(values.first().filter(|_| values.len() == 1)).copied();
            let (s, p, d) = (of(&self.stride)?, of(&self.padding)?, of(&self.dilation)?);
            let reach = d.checked_mul(k.checked_sub(1)?)?;
            let side = if self.transposed {
                let o = of(&self.output_padding)?;
                let full = side.checked_sub(1)?.checked_mul(s)?.checked_add(reach)?.checked_add(o + 1)?;
                full.checked_sub(p.checked_mul(2)?)?
            } else {
                let room = side.checked_add(p.checked_mul(2)?)?.checked_sub(reach)?.checked_sub(1)?;
                room.checked_div(s)? + 1
            };
            shape.push(side);
        }
        Some(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(operator: &str, shapes: &str, types: &str, concrete: &str) -> String {
        let mut into = Vec::new();
        text(operator, shapes.as_bytes(), types.as_bytes(), concrete.as_bytes(), &mut into);
        String::from_utf8(into).expect("text")
    }

    #[test]
    fn parts_are_written_and_read() {
        let concrete = r#"["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"]"#;
        let text =
            of("aten::convolution", "[[1, 3, 224, 224], [64, 3, 7, 7]]", r#"["float", "float"]"#, concrete);
        assert_eq!(
            text,
            "[[1, 3, 224, 224], [64, 3, 7, 7]];type=float;stride=2,2;padding=3,3;dilation=1,1;output_padding=0,0;transposed=False"
        );
        assert_eq!(shapes(&text), "[[1, 3, 224, 224], [64, 3, 7, 7]]");
        assert_eq!(element(&text), Some(DataType::Fp32));
        // ResNet's first convolution: 224 becomes 112.
        let settings = convolution(&text).expect("settings");
        assert_eq!(settings.output(&[1, 3, 224, 224], &[64, 3, 7, 7]), Some(vec![1, 64, 112, 112]));
        assert_eq!(convolution("[[1, 3, 224, 224], [64, 3, 7, 7]];type=float"), None);
        assert_eq!(
            element(&of("aten::mm", "[[4, 4], [4, 4]]", r#"["", "Scalar", "c10::BFloat16"]"#, "")),
            Some(DataType::Bf16)
        );
        assert_eq!(element(&of("aten::mm", "[[4, 4], [4, 4]]", r#"["long int"]"#, "")), None);
        // The libraries' own operators list padding first.
        let cudnn =
            of("aten::cudnn_convolution", "[[1]]", "", r#"["", "", "[3, 3]", "[2, 2]", "[1, 1]", "1"]"#);
        assert_eq!(
            convolution(&cudnn),
            Some(Convolution {
                stride: vec![2, 2],
                padding: vec![3, 3],
                dilation: vec![1, 1],
                output_padding: vec![0],
                transposed: false
            })
        );
    }

    #[test]
    fn outputs_are_those_of_pytorch() {
        let with = |stride: u64, padding: u64, dilation: u64, output_padding: u64, transposed| Convolution {
            stride: vec![stride],
            padding: vec![padding],
            dilation: vec![dilation],
            output_padding: vec![output_padding],
            transposed,
        };
        // torch.nn.Conv2d(256, 256, 3, padding=16, dilation=16): the side is kept.
        assert_eq!(
            with(1, 16, 16, 0, false).output(&[2, 256, 128, 128], &[256, 256, 3, 3]),
            Some(vec![2, 256, 128, 128])
        );
        // torch.nn.ConvTranspose2d(512, 256, 4, stride=2, padding=1): the side doubles.
        assert_eq!(
            with(2, 1, 1, 0, true).output(&[4, 512, 8, 8], &[512, 256, 4, 4]),
            Some(vec![4, 256, 16, 16])
        );
        // Kernels larger than the padded input, strides of 0 and other numbers of dimensions have no output.
        assert_eq!(with(1, 0, 1, 0, false).output(&[1, 1, 2], &[1, 1, 3]), None);
        assert_eq!(with(0, 0, 1, 0, false).output(&[1, 1, 9], &[1, 1, 3]), None);
        assert_eq!(with(1, 0, 1, 0, false).output(&[1, 1, 9, 9], &[1, 1, 3]), None);
        assert_eq!(with(u64::MAX, 0, u64::MAX, 0, true).output(&[1, 1, 9], &[1, 1, 3]), None);
    }
}
