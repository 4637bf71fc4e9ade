/* All kernels for one instruction set, in single and in double precision.
   The including file defines the width of vectors (VECTOR_BYTES) and the names (NAME). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <malloc.h>
#endif

#include "lift.h"

#ifdef TARGET
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define TARGET_PUSH(isa) PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#else
#define TARGET_PUSH(isa) PRAGMA(GCC target(isa))
#endif
TARGET_PUSH(TARGET)
#endif

#define INLINE static inline __attribute__((always_inline))

/* Zero-filled memory aligned to a cache line, to be freed by free_lines. */
static void *allocate_lines(size_t bytes)
{
#ifdef _WIN32 /* the C library there has no posix_memalign */
    void *p = _aligned_malloc(bytes, 64);
#else
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes))
        p = NULL;
#endif
    return p ? memset(p, 0, bytes) : NULL;
}

static void free_lines(void *p)
{
#ifdef _WIN32
    _aligned_free(p);
#else
    free(p);
#endif
}

#define REAL float
#define INTEGER int32_t
#define LANES (VECTOR_BYTES / 4)
#define SINGLE 1
#define R(stem) stem##_f
#include "point_features.h"
#include "passes.h"
#undef REAL
#undef INTEGER
#undef LANES
#undef SINGLE
#undef R

#define REAL double
#define INTEGER int64_t
#define LANES (VECTOR_BYTES / 8)
#define SINGLE 0
#define R(stem) stem##_d
#include "point_features.h"
#include "passes.h"

#include "nearest.h"

const kernel_set NAME(kernels) = {SET_NAME, {sums_f, sums_d}, {scores_f, scores_d},
                                  {features_f, features_d}, {assign_f, assign_d}, nearest_places};

#if defined(TARGET) && defined(__clang__)
_Pragma("clang attribute pop")
#endif
