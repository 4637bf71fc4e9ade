/* Vectors of 64 bytes; called only where the processor has them. */
#include "lift.h"
#ifdef LIFTCLUSTER_X86
#define VECTOR_BYTES 64
#define NAME(stem) stem##_avx512
#define SET_NAME "avx512"
#define TARGET "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"
#include "kernels.h"
#endif
