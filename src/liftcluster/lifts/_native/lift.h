/* The arguments of the kernels: a map from points to features, the points, and the clusters that
   the points belong to. All pointers are borrowed; nothing here is freed. */
#ifndef LIFTCLUSTER_LIFT_H
#define LIFTCLUSTER_LIFT_H

#include <stdint.h>

/* How features come from a point x; u = x - centre throughout.
   DENSE       cos and sin of u W, W given as d rows of n_phases
   STRUCTURED  cos and sin of lengths * H D3 H D2 H D1 u, blocks of `padded` frequencies
   GIVEN       cos and sin of x itself: phases computed by a matrix product
   GRID        products over the axes of 1, cos(j theta), sin(j theta), theta = u * steps
   PRODUCTS    exp(f * (u W - |u|^2/2 - |w|^2/2)) for landmarks w, the columns of W: Gaussian
               similarities; W is followed by a row of ones and a row of -|w|^2/2
   DIFFERENCES exp(f * |u - w|^2), accurate for near points wherever they are
   EXPONENTS   exp(x) of x itself: exponents computed by a matrix product
   VALUES      x itself
   Phases are in quarter turns, so that range reduction is exact. Exponents are clipped to 0. */
enum map_kind {
    MAP_DENSE, MAP_STRUCTURED, MAP_GIVEN, MAP_GRID,
    MAP_PRODUCTS, MAP_DIFFERENCES, MAP_EXPONENTS, MAP_VALUES
};

enum element { ELEMENT_FLOAT, ELEMENT_DOUBLE, ELEMENT_BYTE };

#define MOST_AXES 3
#define MOST_MULTIPLES 512 /* of a grid's step on one axis */

typedef struct {
    enum map_kind kind;
    int64_t d;               /* coordinates of a point */
    int64_t n_phases;        /* frequencies, with two features each, or landmarks; not for GRID */
    int64_t padded;          /* STRUCTURED: size of a block, a power of two >= d */
    const double *centre;    /* d */
    const void *weights;     /* DENSE, DIFFERENCES: d x n_phases, PRODUCTS: two rows more,
                                GRID: d steps; of the working precision */
    const uint8_t *signs;    /* STRUCTURED: blocks x 3 x padded, 1 for minus */
    const void *lengths;     /* STRUCTURED: n_phases, PRODUCTS, DIFFERENCES: f; likewise */
    int64_t axis[MOST_AXES]; /* GRID: how many multiples of the step on each axis */
    double reach;            /* largest distance of a point from the centre */
} lift_map;

typedef struct {
    enum element element;
    const char *data; /* the first coordinate of the first point */
    int64_t row_stride, column_stride; /* in bytes */
} point_set;

/* One partition: hard codes (negative: no cluster), or rows of a sparse matrix. */
typedef struct {
    const int32_t *codes;   /* n, or NULL */
    const int64_t *indptr;  /* n + 1, or NULL */
    const int32_t *indices;
    const double *shares;
    const double *weights;  /* n, or NULL for one each */
    int64_t offset;         /* number of its first cluster among all */
    int64_t k;
} membership;

typedef struct {
    const membership *parts;
    int64_t m;
} membership_list;

/* Status of a call. */
enum { LIFT_DONE = -1, LIFT_NO_MEMORY = -2, LIFT_BAD_LABEL = -3 };

/* Each returns LIFT_DONE, another of the above, or the number of the first point that is not
   finite or out of reach. Rows are [start, stop). The rows of `sums` are `ld` apart, which should
   not be a power of two, to avoid cache conflicts between clusters. */
typedef int64_t sums_kernel(const lift_map *, const point_set *, int64_t start, int64_t stop,
                            const membership_list *, int64_t n_clusters, double *sums, int64_t ld);
typedef int64_t scores_kernel(const lift_map *, const point_set *, int64_t start, int64_t stop,
                              const void *vectors, int64_t k, double *scores);
typedef int64_t features_kernel(const lift_map *, const point_set *, int64_t start, int64_t stop,
                                void *features);

/* Scores of features that are not trigonometric, times `units`, and weighted sums (all weights one
   for NULL) of the points by their largest score, added to k rows that are `ld` apart. */
typedef struct {
    const void *vectors;   /* k x features, of the working precision */
    int64_t k;
    const double *units;   /* k */
    const double *weights; /* one for each row of the points, or NULL */
    double *scores;        /* (stop - start) x k */
    double *sums;
    int64_t ld;
} assign_call;

typedef int64_t assign_kernel(const lift_map *, const point_set *, int64_t start, int64_t stop,
                              const assign_call *);

/* The k nearest of p places to each of n points, nearest first; k is at most MOST_NEAREST and p. */
#define MOST_NEAREST 64

typedef struct {
    float *values;       /* n x p: x·y - y·y/2, larger for nearer places; overwritten */
    const float *limits; /* n: values below limit - factor ‖x - y‖² are of places beyond y */
    double factor;
    const void *points;  /* n x d */
    const void *places;  /* p x d */
    int is_double;       /* whether these are double, or else float */
    int64_t n, p, d, k;
    int32_t *positions;  /* n x k */
    double *squares;     /* n x k squared distances */
} nearest_call;

typedef void nearest_kernel(const nearest_call *);

typedef struct {
    const char *name;
    sums_kernel *sums[2]; /* float, double */
    scores_kernel *scores[2];
    features_kernel *features[2];
    assign_kernel *assign[2];
    nearest_kernel *nearest;
} kernel_set;

extern const kernel_set kernels_portable;
/* On Windows GCC aligns the stack to 16 bytes only, so spilling larger vectors would crash. */
#if defined(__x86_64__) && (!defined(_WIN32) || defined(__clang__))
#define LIFTCLUSTER_X86 1
extern const kernel_set kernels_avx2, kernels_avx512;
#endif

/* Whether features are cosines and sines. */
static inline int is_trigonometric(const lift_map *map) { return map->kind < MAP_GRID; }

static inline int64_t feature_count(const lift_map *map)
{
    if (map->kind != MAP_GRID)
        return is_trigonometric(map) ? 2 * map->n_phases : map->n_phases;
    int64_t count = 1;
    for (int64_t q = 0; q < map->d; q++)
        count *= 2 * map->axis[q] + 1;
    return count;
}

/* Rows of W. */
static inline int64_t weight_rows(const lift_map *map)
{
    return map->kind == MAP_PRODUCTS ? map->d + 2 : map->d;
}

/* GRID: products over all axes but the first. */
static inline int64_t inner_size(const lift_map *map)
{
    return feature_count(map) / (2 * map->axis[0] + 1);
}

#endif
