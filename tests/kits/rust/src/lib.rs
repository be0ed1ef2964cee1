// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! The kit for Rust, as a crate that depends on it: cargo test.
#![cfg(test)]
use kits_rust::ashlar::{self, Context, Element, View, ViewMut, BF16, F16};
use kits_rust::{energy, kinds, matmul_i8, min_max, row_norm, strided, swish, windows};

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|k| k as f32 / 4.0 - 3.0).collect()
}

fn fails(done: Result<(), ashlar::Error>, code: i32, text: &str) {
    let error = done.unwrap_err();
    assert_eq!((error.code, error.to_string().contains(text)), (code, true), "{error}");
}

#[test]
fn elementwise() -> Result<(), ashlar::Error> {
    for (m, n) in [(1, 1), (3, 5), (16, 64), (0, 4), (4, 0)] {
        let x = numbers(m * n);
        let mut y = vec![0.0; m * n];
        swish(View::new(&x, [m, n])?, 1.5, ViewMut::new(&mut y, [m, n])?)?;
        for (a, b) in x.iter().zip(&y) {
            assert!((b - a / (1.0 + (-1.5 * a).exp())).abs() < 1e-5);
        }
    }
    Ok(())
}

#[test]
fn reduction() -> Result<(), ashlar::Error> {
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut y = vec![0.0; 2];
    row_norm(View::new(&x, [2, 3])?, &[1.0, 0.5, 2.0], &mut y)?;
    assert_eq!(y, [1.0 + 2.0 + 18.0, 16.0 + 12.5 + 72.0]);
    let mut one = 0.0;
    energy(View::new(&x, [2, 3])?, &mut one)?;
    assert_eq!(one, 91.0);
    let (mut low, mut high) = ([0.0; 2], [0.0; 2]);
    min_max(View::new(&x, [2, 3])?, &mut low, &mut high[..])?;
    assert_eq!((low, high), ([1.0, 4.0], [3.0, 6.0]));
    Ok(())
}

#[test]
fn product() -> Result<(), ashlar::Error> {
    let (m, n, k) = (5, 7, 33);
    let a: Vec<u8> = (0..m * k).map(|v| (v * 37) as u8).collect();
    let b: Vec<i8> = (0..k * n).map(|v| (v * 91) as i8).collect();
    let mut c = vec![0i32; m * n];
    matmul_i8(View::new(&a, [m, k])?, View::new(&b, [k, n])?, ViewMut::new(&mut c, [m, n])?)?;
    for i in 0..m {
        for j in 0..n {
            let sum: i32 = (0..k).map(|l| a[i * k + l] as i32 * b[l * n + j] as i32).sum();
            assert_eq!(c[i * n + j], sum);
        }
    }
    Ok(())
}

#[test]
fn numbers_and_extents() -> Result<(), ashlar::Error> {
    let x: Vec<i32> = (0..9).collect();
    let mut y = [0; 6];
    windows(&x, -5, ViewMut::new(&mut y, [2, 3])?)?;
    assert_eq!(y, [-5, -1, 3, -4, 0, 4]);
    Ok(())
}

#[test]
fn other_types() -> Result<(), ashlar::Error> {
    let x = [F16(0x3c00), F16(0xc000), F16(0)]; // 1, -2, 0
    let (mut positive, mut half) = ([true; 3], [BF16(0); 3]);
    kinds(&x, false, &mut positive, &mut half)?;
    assert_eq!((positive, half), ([true, false, false], [BF16(0x3f00), BF16(0xbf80), BF16(0)]));
    kinds(&x, true, &mut positive, &mut half)?;
    assert_eq!(positive, [false, true, false]);
    Ok(())
}

#[test]
fn views() -> Result<(), ashlar::Error> {
    let whole = numbers(40);
    let mut out = vec![7.0; 20];
    swish(View::strided(&whole[3..], [2, 4], [10, 1])?, 1.0, ViewMut::strided(&mut out, [2, 4], [8, 1])?)?;
    assert!((out[9] - whole[14] / (1.0 + (-whole[14]).exp())).abs() < 1e-5);
    assert_eq!((out[4], out[12]), (7.0, 7.0)); // nothing between the rows is written
    #[repr(align(64))]
    struct Aligned([f32; 3]);
    let bias = Aligned([1.0, 2.0, 3.0]);
    let mut y = [0.0; 6];
    strided(View::strided(&whole, [2, 3], [1, 10])?, &bias.0, ViewMut::new(&mut y, [2, 3])?)?; // columns
    assert_eq!(y[5], whole[21] + 3.0);
    Ok(())
}

#[test]
fn refusals() -> Result<(), ashlar::Error> {
    let x = numbers(6);
    let mut y = vec![9.0; 2];
    fails(row_norm(View::new(&x, [2, 3])?, &[1.0, 2.0], &mut y), -4, "row_norm: w.shape[0] is 2, expected 3 (N, from x.shape[1])");
    fails(row_norm(View::strided(&x, [2, 3], [1, 2])?, &[1.0; 3], &mut y), -5, "row_norm: x.strides[1] is 2, expected 1");
    fails(row_norm(View::new(&x[..0], [2, 0])?, &[0.0; 0], &mut y), -13, "row_norm: N is 0, expected at least 1");
    assert_eq!(y, [9.0; 2]); // nothing was written
    fails(View::new(&x, [2, 4]).map(|_| ()), -4, "a view of shape [2, 4]: expected as many elements, found 6");
    fails(View::strided(&x, [2, 4], [4, 1]).map(|_| ()), -4, "expected 8 elements, found 6");
    fails(View::strided(&x, [usize::MAX, 2], [usize::MAX, 1]).map(|_| ()), -4, "expected fewer elements");
    fails(View::new(&x, [usize::MAX, 2]).map(|_| ()), -4, "expected as many elements");
    Ok(())
}

#[test]
fn as_in_c() -> Result<(), ashlar::Error> {
    let x = numbers(6);
    let mut y = [0.0f32; 2];
    let (a, b) = (View::new(&x, [2, 3])?, View::from(&[1.0f32, 1.0, 1.0]));
    let mut c = ViewMut::from(&mut y);
    assert_eq!(f32::TYPE, 0x2002);
    // SAFETY: the views live as long as the calls.
    unsafe {
        let mut context: Context = std::mem::zeroed();
        ashlar::ashlar_default_context(&mut context);
        assert_eq!(context.size as usize, std::mem::size_of::<Context>());
        assert_eq!(kits_rust::row_norm::sys::row_norm_with(&a.tensor(), &b.tensor(), &mut c.tensor(), &context), 0);
    }
    assert_eq!(y[0], x[..3].iter().map(|v| v * v).sum::<f32>());
    Ok(())
}

#[test]
fn threads() {
    let x = numbers(64 * 512);
    let w = vec![1.0; 512];
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let mut y = vec![0.0; 64];
                row_norm(View::new(&x, [64, 512]).unwrap(), &w, &mut y).unwrap();
                fails(row_norm(View::new(&x, [64, 512]).unwrap(), &w[1..], &mut y), -4, "w.shape[0] is 511");
            });
        }
    });
}
