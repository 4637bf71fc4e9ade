/* From a point to its phases, and from phases to cosines and sines, in one precision.
   No include guard: kernels.h includes this once for float and once for double. */

typedef REAL R(vec) __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL R(loose) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));
typedef INTEGER R(bits) __attribute__((vector_size(VECTOR_BYTES)));

INLINE R(vec) R(load)(const REAL *p) { return (R(vec)) * (const R(loose) *)p; }
INLINE void R(store)(REAL *p, R(vec) x) { *(R(loose) *)p = (R(loose))x; }

/* Cosine and sine of t quarter turns.
   t + MAGIC has no room for a fraction, so it rounds t to the nearest whole number, which the low
   bits then hold; the rest is at most half a quarter turn. Good for |t| < MAGIC / 4. */
INLINE void R(cos_sin)(R(vec) t, R(vec) *cosine, R(vec) *sine)
{
#if SINGLE
    const REAL magic = 12582912.0f; /* 1.5 * 2^23 */
    const int sign = 30;
#else
    const REAL magic = 6755399441055744.0; /* 1.5 * 2^52 */
    const int sign = 62;
#endif
    R(vec) shifted = t + magic;
    R(vec) r = t - (shifted - magic);
    R(vec) r2 = r * r;
#if SINGLE /* minimax on |r| <= 1/2: errors 1.2e-9 and 2.8e-8 before rounding */
    R(vec) s = r * (1.570796251296997f + r2 * (-0.6459629535675049f
                    + r2 * (0.07967590540647507f + r2 * -0.004592289216816425f)));
    R(vec) c = 1.0f + r2 * (-1.2336970567703247f
                    + r2 * (0.2535986304283142f + r2 * -0.020408352836966515f));
#else /* Taylor, (pi/2)^k / k!; the first term left out is below 1e-16 */
    R(vec) s = r * (1.5707963267948966 + r2 * (-0.6459640975062463 + r2 * (0.07969262624616705
                    + r2 * (-0.004681754135318688 + r2 * (0.00016044118478735983
                    + r2 * (-3.598843235212085e-06 + r2 * (5.692172921967927e-08
                    + r2 * -6.688035109811468e-10)))))));
    R(vec) c = 1.0 + r2 * (-1.2337005501361697 + r2 * (0.25366950790104803
                    + r2 * (-0.02086348076335296 + r2 * (0.0009192602748394266
                    + r2 * (-2.5202042373060607e-05 + r2 * (4.710874778818172e-07
                    + r2 * (-6.386603083791852e-09 + r2 * 6.565963114979473e-11)))))));
#endif
    R(bits) quarter = (R(bits))shifted;
    R(bits) odd = -(quarter & 1);
    R(bits) swap = ((R(bits))s ^ (R(bits))c) & odd; /* an odd quarter turn swaps the two */
    *sine = (R(vec))((R(bits))s ^ swap ^ ((quarter & 2) << sign));
    *cosine = (R(vec))((R(bits))c ^ swap ^ (((quarter + 1) & 2) << sign));
}

/* exp of x, clipped to 0, to about two units in the last place; zero below the normal numbers.
   x is n log 2 and a rest, at most half of log 2: exp of the rest times two to the n, whose bits
   are the low ones of a sum as in cos_sin. */
INLINE R(vec) R(exponential)(R(vec) x)
{
#if SINGLE
    const REAL magic = 12582912.0f, per_log2 = 1.44269504f, least = -87.0f;
    const REAL log2_high = 0.693359375f, log2_low = -0.00021219444170128554f;
    const int bias = 127, place = 23;
#else
    const REAL magic = 6755399441055744.0, per_log2 = 1.4426950408889634, least = -708.0;
    const REAL log2_high = 0.6931471803691238, log2_low = 1.9082149292705877e-10;
    const int bias = 1023, place = 52;
#endif
    x = (R(vec))((R(bits))x & (R(bits))(x < 0));
    R(vec) shifted = x * per_log2 + magic;
    R(vec) n = shifted - magic;
    R(vec) r = (x - n * log2_high) - n * log2_low;
#if SINGLE /* interpolated at Chebyshev nodes: error 1e-8 before rounding */
    R(vec) q = 0.5f + r * (0.16666576266288757f + r * (0.041666556149721146f
                + r * (0.008363178931176662f + r * 0.0013926184037700295f)));
#else /* the same: error 2e-17 */
    R(vec) q = 0.5000000000000001 + r * (0.16666666666666669 + r * (0.04166666666662413
                + r * (0.008333333333330062 + r * (0.0013888888917213717
                + r * (0.00019841269863053618 + r * (2.4801521295954376e-05
                + r * (2.7557268459997064e-06 + r * (2.7620088445409746e-07
                + r * 2.510038549551032e-08))))))));
#endif
    R(vec) power = (R(vec))(((R(bits))shifted + bias) << place);
    R(vec) value = (1 + (r + r * r * q)) * power;
    return (R(vec))((R(bits))value & (R(bits))(x > least));
}

/* exp(factor * p) in place of up to four rows of `width` numbers. */
INLINE void R(exponentials)(REAL *P, int64_t ldp, int count, int64_t width, REAL factor)
{
    for (int i = 0; i < count; i++)
        for (int64_t j = 0; j < width; j += LANES) {
            REAL *p = P + i * ldp + j;
            R(store)(p, R(exponential)(R(load)(p) * factor));
        }
}

/* The Walsh-Hadamard transform within one vector: x[i] +- x[i ^ h] for h = 1, 2, 4, ... */
INLINE R(vec) R(hadamard_in_vector)(R(vec) x)
{
#if LANES == 16
    const R(vec) s1 = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
    const R(vec) s2 = {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1};
    const R(vec) s4 = {1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1};
    const R(vec) s8 = {1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1};
    x = x * s1 + __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    x = x * s2 + __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    x = x * s4 + __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    x = x * s8 + __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
#elif LANES == 8
    const R(vec) s1 = {1, -1, 1, -1, 1, -1, 1, -1};
    const R(vec) s2 = {1, 1, -1, -1, 1, 1, -1, -1};
    const R(vec) s4 = {1, 1, 1, 1, -1, -1, -1, -1};
    x = x * s1 + __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
    x = x * s2 + __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
    x = x * s4 + __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
#elif LANES == 4
    const R(vec) s1 = {1, -1, 1, -1};
    const R(vec) s2 = {1, 1, -1, -1};
    x = x * s1 + __builtin_shufflevector(x, x, 1, 0, 3, 2);
    x = x * s2 + __builtin_shufflevector(x, x, 2, 3, 0, 1);
#else
    const R(vec) s1 = {1, -1};
    x = x * s1 + __builtin_shufflevector(x, x, 1, 0);
#endif
    return x;
}

/* Four vectors at distance `step`, two levels of butterflies. */
INLINE void R(butterfly4)(REAL *p, int64_t step)
{
    R(vec) a = R(load)(p), b = R(load)(p + step), c = R(load)(p + 2 * step), d = R(load)(p + 3 * step);
    R(vec) ab = a + b, a_b = a - b, cd = c + d, c_d = c - d;
    R(store)(p, ab + cd);
    R(store)(p + step, a_b + c_d);
    R(store)(p + 2 * step, ab - cd);
    R(store)(p + 3 * step, a_b - c_d);
}

/* out = H D x: signs (as a mask over the sign bit), then the transform. size >= 4 * LANES. */
INLINE void R(signed_hadamard)(const REAL *x, const INTEGER *signs, REAL *out, int64_t size)
{
    for (int64_t i = 0; i < size; i += 4 * LANES) {
        R(vec) v[4];
        for (int q = 0; q < 4; q++) {
            R(bits) flip = *(const R(bits) *)(signs + i + q * LANES);
            v[q] = R(hadamard_in_vector)((R(vec))((R(bits))R(load)(x + i + q * LANES) ^ flip));
        }
        R(vec) ab = v[0] + v[1], a_b = v[0] - v[1], cd = v[2] + v[3], c_d = v[2] - v[3];
        R(store)(out + i, ab + cd);
        R(store)(out + i + LANES, a_b + c_d);
        R(store)(out + i + 2 * LANES, ab - cd);
        R(store)(out + i + 3 * LANES, a_b - c_d);
    }
    int64_t h = 4 * LANES;
    for (; 4 * h <= size; h *= 4)
        for (int64_t b = 0; b < size; b += 4 * h)
            for (int64_t i = b; i < b + h; i += LANES)
                R(butterfly4)(out + i, h);
    if (h < size) /* one level left */
        for (int64_t i = 0; i < h; i += LANES) {
            R(vec) a = R(load)(out + i), b = R(load)(out + h + i);
            R(store)(out + i, a + b);
            R(store)(out + h + i, a - b);
        }
}

/* u = x - centre, subtracted in double for all types of x, so that calls for points of different
   types agree. Returns |u|^2. */
INLINE double R(centred)(const point_set *points, int64_t row, int64_t d, const double *centre,
                         REAL *u)
{
    const char *x = points->data + row * points->row_stride;
    const int64_t step = points->column_stride;
    REAL square = 0;
#define CENTRE_ROW(type)                                                                           \
    if (step == (int64_t)sizeof(type)) {                                                           \
        const type *row_start = (const type *)x;                                                   \
        for (int64_t j = 0; j < d; j++)                                                            \
            u[j] = (REAL)((double)row_start[j] - centre[j]);                                       \
    } else {                                                                                       \
        for (int64_t j = 0; j < d; j++)                                                            \
            u[j] = (REAL)((double)*(const type *)(x + j * step) - centre[j]);                      \
    }
    if (points->element == ELEMENT_FLOAT) {
        CENTRE_ROW(float)
    } else if (points->element == ELEMENT_DOUBLE) {
        CENTRE_ROW(double)
    } else {
        CENTRE_ROW(uint8_t)
    }
#undef CENTRE_ROW
    R(vec) squares = {0};
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        R(vec) v = R(load)(u + j);
        squares += v * v;
    }
    for (int i = 0; i < LANES; i++)
        square += squares[i];
    for (; j < d; j++)
        square += u[j] * u[j];
    return (double)square;
}

/* Phases of a point by the three rounds of signs and transforms of one block. */
INLINE void R(structured_phases)(const REAL *u, const INTEGER *signs, const REAL *lengths,
                                 int64_t size, REAL *scratch, REAL *phases)
{
    R(signed_hadamard)(u, signs, phases, size);
    R(signed_hadamard)(phases, signs + size, scratch, size);
    R(signed_hadamard)(scratch, signs + 2 * size, phases, size);
    for (int64_t j = 0; j < size; j += LANES)
        R(store)(phases + j, R(load)(phases + j) * R(load)(lengths + j));
}

/* Phases of up to four points by a slice of W, `width` columns (a multiple of 2 * LANES). */
INLINE void R(dense_phases)(const REAL *U, int64_t ldu, int count, int64_t d, const REAL *W,
                            int64_t ldw, int64_t width, REAL *P, int64_t ldp)
{
    for (int64_t j = 0; j < width; j += 2 * LANES) {
        R(vec) sums[4][2] = {{{0}}};
        for (int64_t q = 0; q < d; q++) {
            R(vec) w0 = R(load)(W + q * ldw + j), w1 = R(load)(W + q * ldw + j + LANES);
            for (int i = 0; i < 4; i++) {
                REAL x = U[i * ldu + q];
                sums[i][0] += x * w0;
                sums[i][1] += x * w1;
            }
        }
        for (int i = 0; i < count; i++) {
            R(store)(P + i * ldp + j, sums[i][0]);
            R(store)(P + i * ldp + j + LANES, sums[i][1]);
        }
    }
}

/* Squared distances of up to four points to a slice of landmarks, the columns of W. */
INLINE void R(square_distances)(const REAL *U, int64_t ldu, int count, int64_t d, const REAL *W,
                                int64_t ldw, int64_t width, REAL *P, int64_t ldp)
{
    for (int64_t j = 0; j < width; j += 2 * LANES) {
        R(vec) sums[4][2] = {{{0}}};
        for (int64_t q = 0; q < d; q++) {
            R(vec) w0 = R(load)(W + q * ldw + j), w1 = R(load)(W + q * ldw + j + LANES);
            for (int i = 0; i < 4; i++) {
                R(vec) a = U[i * ldu + q] - w0, b = U[i * ldu + q] - w1;
                sums[i][0] += a * a;
                sums[i][1] += b * b;
            }
        }
        for (int i = 0; i < count; i++) {
            R(store)(P + i * ldp + j, sums[i][0]);
            R(store)(P + i * ldp + j + LANES, sums[i][1]);
        }
    }
}

/* 1, cos(theta), ..., cos(N theta), sin(theta), ..., sin(N theta), and LANES more to overwrite. */
INLINE void R(multiples)(REAL theta, int64_t N, REAL *out)
{
    R(vec) count;
    for (int i = 0; i < LANES; i++)
        count[i] = (REAL)(i + 1);
    out[0] = 1;
    for (int64_t j = 0; j < N; j += LANES) {
        R(vec) c, s;
        R(cos_sin)((count + (REAL)j) * theta, &c, &s);
        R(store)(out + 1 + j, c);
    }
    for (int64_t j = 0; j < N; j += LANES) { /* after all cosines: the last ones overshoot */
        R(vec) c, s;
        R(cos_sin)((count + (REAL)j) * theta, &c, &s);
        R(store)(out + 1 + N + j, s);
    }
}

/* All products of one entry per axis but the first, the last axis running fastest; LANES more to
   overwrite. In one dimension that is a one. */
INLINE void R(inner_products)(const REAL *u, const lift_map *map, REAL *inner)
{
    const REAL *steps = map->weights;
    REAL axis[2 * MOST_MULTIPLES + 1 + LANES];
    int64_t filled = 1;
    inner[0] = 1;
    for (int64_t q = map->d - 1; q > 0; q--) {
        int64_t width = 2 * map->axis[q] + 1;
        if (filled == 1) {
            R(multiples)(u[q] * steps[q], map->axis[q], inner);
            filled = width;
            continue;
        }
        R(multiples)(u[q] * steps[q], map->axis[q], axis);
        /* Row 0 has the factor 1, all others are multiples of it. Each row overshoots into the
           next, which is written after it. */
        for (int64_t a = 1; a < width; a++)
            for (int64_t b = 0; b < filled; b += LANES)
                R(store)(inner + a * filled + b, axis[a] * R(load)(inner + b));
        filled *= width;
    }
}

/* Entries [from, to) of the first axis times all products of the others; LANES more to overwrite. */
INLINE void R(grid_features)(const REAL *u, const lift_map *map, int64_t from, int64_t to,
                             REAL *inner, REAL *out)
{
    REAL axis[2 * MOST_MULTIPLES + 1 + LANES];
    int64_t size = inner_size(map);
    R(inner_products)(u, map, inner);
    R(multiples)(u[0] * ((const REAL *)map->weights)[0], map->axis[0], axis);
    for (int64_t a = from; a < to; a++)
        for (int64_t b = 0; b < size; b += LANES)
            R(store)(out + (a - from) * size + b, axis[a] * R(load)(inner + b));
}
