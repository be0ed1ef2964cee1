// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! What the modules of generated functions share: views of slices, errors, and the types of Ashlar's C ABI.
//!
//! ```ignore
//! let x = vec![1.0f32; 12];
//! let mut y = vec![0.0f32; 3];
//! row_norm(View::new(&x, [3, 4])?, &[1.0, 2.0, 3.0, 4.0], &mut y)?;
//! ```
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_void};

// ---- the C ABI ------------------------------------------------------------------------------------------------------------
/// `ashlar_tensor`, which is DLPack's `DLTensor`.
#[repr(C)]
pub struct Tensor {
    pub data: *mut c_void,
    pub device_type: i32,
    pub device_id: i32,
    pub ndim: i32,
    pub type_code: u8,
    pub type_bits: u8,
    pub type_lanes: u16,
    pub shape: *mut i64,
    pub strides: *mut i64,
    pub byte_offset: u64,
}

/// `ashlar_error`
#[repr(C)]
pub struct Record {
    pub code: i32,
    pub argument: i32,
    pub dimension: i32,
    pub expected: i64,
    pub found: i64,
    pub what: *const c_char,
}

type Body = unsafe extern "C" fn(closure: *mut c_void, slot: i32) -> c_int;

/// `ashlar_context`
#[repr(C)]
pub struct Context {
    pub size: u32,
    pub flags: u32,
    pub stream: *mut c_void,
    pub workspace: *mut c_void,
    pub workspace_bytes: usize,
    pub error: *mut Record,
    pub user: *mut c_void,
    pub allocate: Option<unsafe extern "C" fn(*mut c_void, usize, usize, i32, i32) -> *mut c_void>,
    pub release: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, i32, i32)>,
    pub parallelism: i32,
    pub parallel_for: Option<unsafe extern "C" fn(*mut c_void, i32, Body, *mut c_void) -> c_int>,
}

extern "C" {
    pub fn ashlar_default_context(context: *mut Context);
    pub fn ashlar_last_error() -> *const Record;
    pub fn ashlar_error_text(record: *const Record, text: *mut c_char, room: usize) -> usize;
    pub fn ashlar_version() -> *const c_char;
    pub fn ashlar_set_threads(threads: i32) -> c_int;
}

// ---- elements -------------------------------------------------------------------------------------------------------------
/// A type that elements of tensors have.
///
/// # Safety
/// `TYPE` is the type's number in the C ABI: DLPack's code, plus 256 times the bits.
pub unsafe trait Element: Copy {
    const TYPE: u16;
}

macro_rules! elements {
    ($($type:ty = $number:literal),*) => { $(unsafe impl Element for $type { const TYPE: u16 = $number; })* };
}

/// The bits of a number with 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);
/// The bits of a bfloat16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct BF16(pub u16);
/// The bits of a number with 8 bits, 4 of them the exponent's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct E4M3(pub u8);
/// The bits of a number with 8 bits, 5 of them the exponent's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct E5M2(pub u8);

elements!(i8 = 0x0800, i16 = 0x1000, i32 = 0x2000, i64 = 0x4000, u8 = 0x0801, u16 = 0x1001, u32 = 0x2001, u64 = 0x4001);
elements!(F16 = 0x1002, f32 = 0x2002, f64 = 0x4002, BF16 = 0x1004, bool = 0x0806, E4M3 = 0x080a, E5M2 = 0x080c);

// ---- errors ---------------------------------------------------------------------------------------------------------------
/// What a call says that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// `ASHLAR_E_SHAPE` and the like, of `ashlar/runtime/runtime.h`.
    pub code: i32,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for Error {}

fn refused(message: String) -> Error {
    Error { code: -4, message } // ASHLAR_E_SHAPE
}

/// The result of an entry without a context.
pub fn done(code: c_int) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let mut text = [0 as c_char; 600];
    // SAFETY: the text is terminated within its room, and the error is of this thread.
    let message = unsafe {
        ashlar_error_text(ashlar_last_error(), text.as_mut_ptr(), text.len());
        CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
    };
    Err(Error { code, message })
}

// ---- views ----------------------------------------------------------------------------------------------------------------
/// Elements and how they lie.
#[derive(Clone, Copy)]
struct Place<const R: usize> {
    data: *mut c_void,
    shape: [i64; R],
    strides: [i64; R],
}

impl<const R: usize> Place<R> {
    /// Refused: elements that lie behind the slice's end.
    fn new(data: *mut c_void, length: usize, shape: [usize; R], strides: [usize; R]) -> Result<Self, Error> {
        let mut end = Some(1usize);
        for d in 0..R {
            let steps = shape[d].saturating_sub(1).checked_mul(strides[d]);
            end = end.and_then(|e| steps.and_then(|s| e.checked_add(s)));
        }
        let needed = if shape.contains(&0) { Some(0) } else { end };
        match needed {
            Some(n) if n <= length => Ok(Place { data, shape: shape.map(|e| e as i64), strides: strides.map(|e| e as i64) }),
            Some(n) => Err(refused(format!("a view of shape {shape:?} and strides {strides:?}: expected {n} elements, found {length}"))),
            None => Err(refused(format!("a view of shape {shape:?} and strides {strides:?}: expected fewer elements"))),
        }
    }

    fn dense(data: *mut c_void, length: usize, shape: [usize; R]) -> Result<Self, Error> {
        let mut strides = [1usize; R];
        for d in (1..R).rev() {
            strides[d - 1] = strides[d].saturating_mul(shape[d]);
        }
        let count = shape.iter().try_fold(1usize, |n, &e| n.checked_mul(e));
        if count != Some(length) {
            return Err(refused(format!("a view of shape {shape:?}: expected as many elements, found {length}")));
        }
        Place::new(data, length, shape, strides)
    }

    fn tensor<T: Element>(&self) -> Tensor {
        Tensor {
            data: self.data,
            device_type: 1,
            device_id: 0,
            ndim: R as i32,
            type_code: (T::TYPE & 255) as u8,
            type_bits: (T::TYPE >> 8) as u8,
            type_lanes: 1,
            shape: self.shape.as_ptr() as *mut i64,
            strides: self.strides.as_ptr() as *mut i64,
            byte_offset: 0,
        }
    }
}

/// Elements that a kernel reads.
#[derive(Clone, Copy)]
pub struct View<'a, T: Element, const R: usize> {
    place: Place<R>,
    of: PhantomData<&'a [T]>,
}

impl<'a, T: Element, const R: usize> View<'a, T, R> {
    /// Dense and row-major: the slice has as many elements as the shape.
    pub fn new(data: &'a [T], shape: [usize; R]) -> Result<Self, Error> {
        Ok(View { place: Place::dense(data.as_ptr() as *mut c_void, data.len(), shape)?, of: PhantomData })
    }
    /// Strides count elements.
    pub fn strided(data: &'a [T], shape: [usize; R], strides: [usize; R]) -> Result<Self, Error> {
        Ok(View { place: Place::new(data.as_ptr() as *mut c_void, data.len(), shape, strides)?, of: PhantomData })
    }
    /// As C has it; valid as long as the view is where it is.
    pub fn tensor(&self) -> Tensor {
        self.place.tensor::<T>()
    }
}

/// Elements that a kernel writes.
pub struct ViewMut<'a, T: Element, const R: usize> {
    place: Place<R>,
    of: PhantomData<&'a mut [T]>,
}

impl<'a, T: Element, const R: usize> ViewMut<'a, T, R> {
    /// Dense and row-major: the slice has as many elements as the shape.
    pub fn new(data: &'a mut [T], shape: [usize; R]) -> Result<Self, Error> {
        Ok(ViewMut { place: Place::dense(data.as_mut_ptr() as *mut c_void, data.len(), shape)?, of: PhantomData })
    }
    /// Strides count elements.
    pub fn strided(data: &'a mut [T], shape: [usize; R], strides: [usize; R]) -> Result<Self, Error> {
        Ok(ViewMut { place: Place::new(data.as_mut_ptr() as *mut c_void, data.len(), shape, strides)?, of: PhantomData })
    }
    /// As C has it; valid as long as the view is where it is.
    pub fn tensor(&mut self) -> Tensor {
        self.place.tensor::<T>()
    }
}

impl<'a, T: Element> From<&'a [T]> for View<'a, T, 1> {
    fn from(data: &'a [T]) -> Self {
        let place = Place { data: data.as_ptr() as *mut c_void, shape: [data.len() as i64], strides: [1] };
        View { place, of: PhantomData }
    }
}
impl<'a, T: Element> From<&'a Vec<T>> for View<'a, T, 1> {
    fn from(data: &'a Vec<T>) -> Self {
        data.as_slice().into()
    }
}
impl<'a, T: Element, const N: usize> From<&'a [T; N]> for View<'a, T, 1> {
    fn from(data: &'a [T; N]) -> Self {
        data.as_slice().into()
    }
}
impl<'a, T: Element> From<&'a mut [T]> for ViewMut<'a, T, 1> {
    fn from(data: &'a mut [T]) -> Self {
        let place = Place { data: data.as_mut_ptr() as *mut c_void, shape: [data.len() as i64], strides: [1] };
        ViewMut { place, of: PhantomData }
    }
}
impl<'a, T: Element> From<&'a mut Vec<T>> for ViewMut<'a, T, 1> {
    fn from(data: &'a mut Vec<T>) -> Self {
        data.as_mut_slice().into()
    }
}
impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for ViewMut<'a, T, 1> {
    fn from(data: &'a mut [T; N]) -> Self {
        data.as_mut_slice().into()
    }
}
/// One number is a tensor of no dimension.
impl<'a, T: Element> From<&'a T> for View<'a, T, 0> {
    fn from(data: &'a T) -> Self {
        View { place: Place { data: data as *const T as *mut c_void, shape: [], strides: [] }, of: PhantomData }
    }
}
impl<'a, T: Element> From<&'a mut T> for ViewMut<'a, T, 0> {
    fn from(data: &'a mut T) -> Self {
        ViewMut { place: Place { data: data as *mut T as *mut c_void, shape: [], strides: [] }, of: PhantomData }
    }
}
