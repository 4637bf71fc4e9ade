/* Vectors of 32 bytes with fused multiply-add; called only where the processor has them. */
#include "lift.h"
#ifdef LIFTCLUSTER_X86
#define VECTOR_BYTES 32
#define NAME(stem) stem##_avx2
#define SET_NAME "avx2"
#define TARGET "avx2,fma"
#include "kernels.h"
#endif
