/* The nearest places of points: candidates by products in single precision, which a matrix product
   has computed, then distances in double precision. Where the products are of projections, which are
   nearer to each other than the points, all places that may be as near as the candidates follow. */

/* More candidates than places that are asked for: single precision may exchange the last ones. */
#define SPARE 6
#define MOST_CANDIDATES (MOST_NEAREST + SPARE)
/* More candidates than that are reduced to the largest ones. */
#define MOST_LISTED 128
/* Values that are compared before any of the answers is read. */
#define COMPARED 256
/* Sets of values, by turns, whose maxima give a bound for the candidates. */
#define SETS 64
#define FLOATS (VECTOR_BYTES / 4)

typedef float float_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t int_vector __attribute__((vector_size(VECTOR_BYTES)));

INLINE float_vector load_floats(const float *p)
{
    float_vector x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* The numbers of a where the mask is set, those of b elsewhere. */
INLINE float_vector choose(int_vector mask, float_vector a, float_vector b)
{
    return (float_vector)(((int_vector)a & mask) | ((int_vector)b & ~mask));
}

/* Keep the `count` largest values with their positions, the largest first. */
static void insert_candidate(float *kept, int32_t *at, int64_t count, float value, int32_t position)
{
    int64_t i = count - 1;
    for (; i > 0 && kept[i - 1] < value; i--) {
        kept[i] = kept[i - 1];
        at[i] = at[i - 1];
    }
    kept[i] = value;
    at[i] = position;
}

/* A value that at least `count` values reach: the least of the `count` largest maxima. */
static float candidate_bound(const float *values, int64_t p, int64_t count)
{
    if (p < 4 * SETS || count > SETS / 2)
        return -INFINITY;
    float_vector maxima[SETS / FLOATS], least;
    int_vector larger[SETS / FLOATS] = {{0}}; /* minus how many maxima exceed each */
    float each[SETS], bound = INFINITY;
    for (int i = 0; i < SETS / FLOATS; i++)
        maxima[i] = load_floats(values + i * FLOATS);
    for (int64_t start = SETS; start + SETS <= p; start += SETS)
        for (int i = 0; i < SETS / FLOATS; i++) {
            float_vector x = load_floats(values + start + i * FLOATS);
            maxima[i] = choose(x > maxima[i], x, maxima[i]);
        }
    memcpy(each, maxima, sizeof each);
    for (int j = 0; j < SETS; j++)
        for (int i = 0; i < SETS / FLOATS; i++)
            larger[i] += each[j] > maxima[i];
    for (int i = 0; i < SETS / FLOATS; i++) {
        float_vector none = (float_vector){0} + INFINITY;
        float_vector counted = choose(larger[i] > (int32_t)-count, maxima[i], none);
        least = i ? choose(counted < least, counted, least) : counted;
    }
    for (int i = 0; i < FLOATS; i++)
        bound = least[i] < bound ? least[i] : bound;
    return bound;
}

/* Whether each of up to COMPARED values is not less than a bound, as bytes; the others are zero. */
INLINE void compare(const float *values, int64_t count, float bound, uint8_t *reaches)
{
    if (count < COMPARED)
        memset(reaches, 0, COMPARED);
    for (int64_t j = 0; j < count; j++)
        reaches[j] = !(values[j] < bound);
}

/* Whether any of eight bytes is not zero. */
INLINE int any_of_eight(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word != 0;
}

/* Positions of all values that are not less than a bound; -1 if they are more than MOST_LISTED. */
static int64_t list_values(const float *values, int64_t p, float bound, int32_t *at)
{
    uint8_t reaches[COMPARED];
    int64_t found = 0;
    for (int64_t start = 0; start < p; start += COMPARED) {
        int64_t count = p - start < COMPARED ? p - start : COMPARED;
        compare(values + start, count, bound, reaches);
        for (int64_t first = 0; first < count; first += 8) {
            if (!any_of_eight(reaches + first))
                continue;
            if (found + 8 > MOST_LISTED)
                return -1;
            for (int64_t j = first; j < first + 8; j++) {
                at[found] = (int32_t)(start + j);
                found += reaches[j];
            }
        }
    }
    return found;
}

/* Positions of at least the `count` largest values; how many. */
static int64_t find_candidates(const float *values, int64_t p, int64_t count, int32_t *at)
{
    const float bound = candidate_bound(values, p, count);
    int64_t found = bound > -INFINITY ? list_values(values, p, bound, at) : -1;
    if (found >= count)
        return found;
    float kept[MOST_CANDIDATES];
    for (int64_t i = 0; i < count; i++) {
        kept[i] = -INFINITY;
        at[i] = (int32_t)i; /* in case that values are not numbers */
    }
    for (int64_t j = 0; j < p; j++)
        if (values[j] > kept[count - 1])
            insert_candidate(kept, at, count, values[j], (int32_t)j);
    return count;
}

#define LANES_OF_SUM 16 /* so that additions need not wait for each other */

/* Differences of floats are exact in double precision, mostly. */
#define SQUARED_DISTANCE(name, type)                                                  \
    static double name(const type *x, const type *y, int64_t d)                       \
    {                                                                                 \
        double part[LANES_OF_SUM] = {0}, total = 0;                                   \
        int64_t q = 0;                                                                \
        for (; q + LANES_OF_SUM <= d; q += LANES_OF_SUM)                              \
            for (int64_t i = 0; i < LANES_OF_SUM; i++) {                              \
                double difference = (double)x[q + i] - (double)y[q + i];              \
                part[i] += difference * difference;                                   \
            }                                                                         \
        for (; q < d; q++) {                                                          \
            double difference = (double)x[q] - (double)y[q];                          \
            part[q % LANES_OF_SUM] += difference * difference;                        \
        }                                                                             \
        for (int64_t i = 0; i < LANES_OF_SUM; i++)                                    \
            total += part[i];                                                         \
        return total;                                                                 \
    }
SQUARED_DISTANCE(squared_distance_f, float)
SQUARED_DISTANCE(squared_distance_d, double)

static double squared_distance(const nearest_call *call, int64_t row, int64_t place)
{
    const int64_t d = call->d;
    if (call->is_double)
        return squared_distance_d((const double *)call->points + row * d,
                                  (const double *)call->places + place * d, d);
    return squared_distance_f((const float *)call->points + row * d,
                              (const float *)call->places + place * d, d);
}

/* Insert a place among the `found` nearest ones, of which `k` at most are kept. */
static void insert_place(double *squares, int32_t *positions, int64_t found, int64_t k,
                         double square, int32_t position)
{
    int64_t j = found < k ? found : k;
    while (j > 0 && (squares[j - 1] > square
                     || (squares[j - 1] == square && positions[j - 1] > position))) {
        j--;
        if (j + 1 < k) {
            squares[j + 1] = squares[j];
            positions[j + 1] = positions[j];
        }
    }
    if (j < k) {
        squares[j] = square;
        positions[j] = position;
    }
}

/* Insert all places whose values do not say that they are farther than the k-th so far. */
static void insert_others(const nearest_call *call, int64_t row)
{
    const int64_t p = call->p, k = call->k;
    const float *values = call->values + row * p;
    double *squares = call->squares + row * k;
    int32_t *positions = call->positions + row * k;
    const double limit = call->limits[row];
    float least = (float)(limit - call->factor * squares[k - 1]);
    uint8_t reaches[COMPARED];
    for (int64_t start = 0; start < p; start += COMPARED) {
        int64_t count = p - start < COMPARED ? p - start : COMPARED;
        compare(values + start, count, least, reaches);
        for (int64_t first = 0; first < count; first += 8)
            for (int64_t j = first; any_of_eight(reaches + first) && j < first + 8; j++)
                if (reaches[j] && !(values[start + j] < least)) {
                    double square = squared_distance(call, row, start + j);
                    insert_place(squares, positions, k, k, square, (int32_t)(start + j));
                    least = (float)(limit - call->factor * squares[k - 1]);
                }
    }
}

static void nearest_places(const nearest_call *call)
{
    const int64_t p = call->p, k = call->k;
    const int64_t wanted = k + SPARE < p ? k + SPARE : p;
    int32_t at[MOST_LISTED];
    double squares[MOST_LISTED];
    for (int64_t row = 0; row < call->n; row++) {
        float *values = call->values + row * p;
        int64_t count = find_candidates(values, p, wanted, at);
        for (int64_t i = 0; i < count; i++)
            squares[i] = squared_distance(call, row, at[i]);
        for (int64_t i = 0; i < count; i++) {
            insert_place(call->squares + row * k, call->positions + row * k, i, k, squares[i], at[i]);
            values[at[i]] = -INFINITY; /* is no other */
        }
        if (call->limits[row] < INFINITY)
            insert_others(call, row);
    }
}
