// A type of the application with the name of one of ours: the compiler asks which.
// error: reference to 'u8' is ambiguous
#include <ashlar/ashlar.h>
using namespace ashlar;

typedef unsigned char u8;
#ifdef FIXED
::u8 x;
#else
u8 x;
#endif
