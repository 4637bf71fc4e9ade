/* Vectors of 16 bytes: SSE2, NEON, or whatever the compiler makes of them. */
#define VECTOR_BYTES 16
#define NAME(stem) stem##_portable
#define SET_NAME "portable"
#include "kernels.h"
