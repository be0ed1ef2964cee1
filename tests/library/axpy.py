import ctypes
import sys


class Tensor(ctypes.Structure):  # ashlar_tensor, which is DLPack's DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("type_code", ctypes.c_uint8), ("type_bits", ctypes.c_uint8),
                ("type_lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def tensor(values):  # around what has Python's buffer protocol, NumPy's arrays too; it is borrowed, not copied
    m = memoryview(values)
    code = 6 if m.format == "?" else 0 if m.format in "bhilq" else 1 if m.format in "BHILQ" else 2
    dims = ctypes.c_int64 * m.ndim
    data = ctypes.addressof(ctypes.c_char.from_buffer(m))
    return Tensor(data, 1, 0, m.ndim, code, 8 * m.itemsize, 1, dims(*m.shape), dims(*(s // m.itemsize for s in m.strides)))


def call(kernel, *arguments):
    if kernel(*arguments) != 0:
        text = ctypes.create_string_buffer(200)
        library.ashlar_error_text(ctypes.c_void_p(library.ashlar_last_error()), text, 200)
        raise ValueError(text.value.decode())


library = ctypes.CDLL(sys.argv[1])  # libaxpy.so
library.ashlar_last_error.restype = ctypes.c_void_p


def floats(*shape):
    count = shape[0] * (shape[1] if len(shape) == 2 else 1)
    room = memoryview(bytearray(4 * count + 64))
    begin = -ctypes.addressof(ctypes.c_char.from_buffer(room)) % 64  # bias asks for a multiple of 64 bytes
    return room[begin:begin + 4 * count].cast("f", shape)


x, z, y, bias = floats(2, 3), floats(2, 3), floats(2, 3), floats(3)
for j in range(3):
    bias[j], x[1, j], z[1, j] = 10, j, 1
call(library.axpy, ctypes.c_float(2), *(ctypes.byref(tensor(t)) for t in (x, bias, z, y)))
print(y.tolist())
try:
    call(library.axpy, ctypes.c_float(2), *(ctypes.byref(tensor(t)) for t in (x, bias, z, floats(2, 4))))
except ValueError as wrong:
    print(wrong)
