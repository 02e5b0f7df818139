//! Parameters of a torus: no switches, each device joined to its neighbours along each dimension, with
//! wrap-around links.
//!
//! Responsible for: links, those within cubes (copper) and those between cubes (optical, through circuit
//! switches), and positions of devices. Does not build; [`super::Topology`] does.

use railwright_spec::problem::Problem;
use serde::Serialize;

/// A torus of up to three dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Torus {
    /// Devices along each dimension.
    pub dimensions: Vec<u64>,
    /// Edge of a cube within which links are copper; `None` without cubes.
    pub cube: Option<u64>,
}

impl Torus {
    /// The given shape, or the most even one in three dimensions.
    pub fn new(devices: u64, dimensions: Option<&[u64]>, cube: Option<u64>) -> Result<Self, Problem> {
        let dimensions = match dimensions {
            Some(given) => given.to_vec(),
            None => most_even(devices),
        };
        if dimensions.is_empty() || dimensions.len() > 3 || dimensions.contains(&0) {
            return Err(Problem::new("a torus has one to three dimensions of at least 1")
                .at_key("design.dimensions")
                .hint("write design.dimensions = [16, 16, 16]"));
        }
        let product = dimensions.iter().try_fold(1_u64, |product, d| product.checked_mul(*d));
        if product != Some(devices) {
            let even = most_even(devices);
            let given = listed(&dimensions).replace(',', " x ");
            return Err(Problem::new(format!("{given} does not have {devices} devices"))
                .at_key("design.dimensions")
                .hint(format!("use {}, the most even shape", listed(&even))));
        }
        if let Some(edge) = cube
            && (edge == 0 || dimensions.iter().any(|d| !d.is_multiple_of(edge)))
        {
            return Err(Problem::new(format!(
                "cubes with an edge of {edge} do not fill {}",
                listed(&dimensions)
            ))
            .at_key("design.cube")
            .hint("choose an edge that divides every dimension"));
        }
        Ok(Self { dimensions, cube })
    }

    /// Devices: the product of the dimensions.
    pub fn devices(&self) -> u64 {
        self.dimensions.iter().product()
    }

    /// Links along a dimension: one for each device, none along a dimension of one device.
    pub fn links(&self, dimension: usize) -> u64 {
        if self.dimensions[dimension] < 2 { 0 } else { self.devices() }
    }

    /// Total number of links.
    pub fn all_links(&self) -> u64 {
        (0..self.dimensions.len()).map(|d| self.links(d)).sum()
    }

    /// Links that leave cubes: along each dimension one in `edge`. All links if there are no cubes.
    ///
    /// TPU v4, 4096 chips in cubes of 4 x 4 x 4: 3 x 4096 / 4 = 3072 links with 6144 ends, 96 for each of 64
    /// cubes (N. Jouppi et al., ISCA 2023).
    pub fn links_between_cubes(&self) -> u64 {
        self.cube.map_or_else(|| self.all_links(), |edge| self.all_links() / edge)
    }

    /// Links that a cut into halves across the longest dimension severs: twice the cross-section, `2 n^2` for
    /// `n^3`.
    pub fn bisection_links(&self) -> u64 {
        let longest = self.dimensions.iter().copied().max().unwrap_or(1);
        if longest < 2 { 0 } else { 2 * self.devices() / longest }
    }

    /// Coordinates of a device; the first dimension varies fastest.
    pub fn place(&self, device: u64) -> [u64; 3] {
        let mut rest = device;
        let mut place = [0; 3];
        for (at, size) in place.iter_mut().zip(&self.dimensions) {
            *at = rest % size;
            rest /= size;
        }
        place
    }

    /// The device at given coordinates.
    pub fn device(&self, place: [u64; 3]) -> u64 {
        self.dimensions.iter().zip(place).rev().fold(0, |device, (size, at)| device * size + at)
    }
}

/// Dimensions as the option expects them: `4,4,4`.
fn listed(dimensions: &[u64]) -> String {
    dimensions.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// The three factors of a number that are nearest to each other.
fn most_even(n: u64) -> Vec<u64> {
    let mut best = vec![n, 1, 1];
    let mut a = 1;
    while a * a * a <= n {
        if n.is_multiple_of(a) {
            let m = n / a;
            let mut b = m.isqrt();
            while b >= a {
                if m.is_multiple_of(b) {
                    if m / b <= best[0] {
                        best = vec![m / b, b, a];
                    }
                    break;
                }
                b -= 1;
            }
        }
        a += 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tpu_v4_pod() {
        let pod = Torus::new(4096, None, Some(4)).expect("16 x 16 x 16");
        assert_eq!(pod.dimensions, [16, 16, 16]);
        assert_eq!(pod.all_links(), 3 * 4096);
        // 96 optical ends at each of 64 cubes; 48 circuit switches with 128 ports in use.
        assert_eq!(2 * pod.links_between_cubes(), 64 * 96);
        assert_eq!(2 * pod.links_between_cubes(), 48 * 128);
        assert_eq!(pod.bisection_links(), 2 * 16 * 16);
    }

    #[test]
    fn places_and_devices_agree() {
        let torus = Torus::new(24, Some(&[4, 3, 2]), None).expect("24");
        for device in 0..24 {
            assert_eq!(torus.device(torus.place(device)), device);
        }
        assert_eq!(torus.place(13), [1, 0, 1]);
        assert_eq!(
            Torus::new(25, Some(&[4, 3, 2]), None).expect_err("24").message,
            "4 x 3 x 2 does not have 25 devices"
        );
        assert!(Torus::new(24, Some(&[4, 3, 2]), Some(2)).is_err());
        assert_eq!(Torus::new(8192, None, None).expect("even").dimensions, [32, 16, 16]);
    }
}
