/* The nearest places of points: candidates by products in single precision, which a matrix product
   has computed, then distances in double precision. Where the products are of projections, which are
   nearer to each other than the points, all places that may be as near as the candidates follow. */

/* More candidates than places that are asked for: single precision may exchange the last ones. */
#define SPARE 6
#define MOST_CANDIDATES (MOST_NEAREST + SPARE)
/* Values that are compared with the least candidate at once. */
#define CHUNK 16
/* Sets of values, by turns, whose maxima give a bound for the candidates. */
#define SETS 64

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
    float maxima[SETS], kept[MOST_CANDIDATES];
    int32_t unused[MOST_CANDIDATES];
    memcpy(maxima, values, sizeof maxima);
    for (int64_t start = SETS; start + SETS <= p; start += SETS)
        for (int64_t i = 0; i < SETS; i++)
            maxima[i] = values[start + i] > maxima[i] ? values[start + i] : maxima[i];
    for (int64_t i = 0; i < count; i++)
        kept[i] = -INFINITY;
    for (int64_t i = 0; i < SETS; i++)
        if (maxima[i] > kept[count - 1])
            insert_candidate(kept, unused, count, maxima[i], 0);
    return kept[count - 1];
}

static void find_candidates(const float *values, int64_t p, int64_t count, int32_t *at)
{
    const float bound = candidate_bound(values, p, count);
    float kept[MOST_CANDIDATES];
    for (int64_t i = 0; i < count; i++) {
        kept[i] = -INFINITY;
        at[i] = (int32_t)i; /* in case that values are not numbers */
    }
    for (int64_t start = 0; start < p; start += CHUNK) {
        int64_t stop = start + CHUNK < p ? start + CHUNK : p;
        int32_t any = 0;
        for (int64_t j = start; j < stop; j++)
            any |= values[j] >= bound;
        for (int64_t j = start; any && j < stop; j++)
            if (values[j] >= bound && values[j] > kept[count - 1])
                insert_candidate(kept, at, count, values[j], (int32_t)j);
    }
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
    for (int64_t start = 0; start < p; start += CHUNK) {
        int64_t stop = start + CHUNK < p ? start + CHUNK : p;
        int32_t any = 0;
        for (int64_t j = start; j < stop; j++)
            any |= !(values[j] < least); /* also if values are not numbers */
        for (int64_t j = start; any && j < stop; j++)
            if (!(values[j] < least)) {
                double square = squared_distance(call, row, j);
                insert_place(squares, positions, k, k, square, (int32_t)j);
                least = (float)(limit - call->factor * squares[k - 1]);
            }
    }
}

static void nearest_places(const nearest_call *call)
{
    const int64_t p = call->p, k = call->k;
    const int64_t count = k + SPARE < p ? k + SPARE : p;
    int32_t at[MOST_CANDIDATES];
    for (int64_t row = 0; row < call->n; row++) {
        float *values = call->values + row * p;
        find_candidates(values, p, count, at);
        for (int64_t i = 0; i < count; i++) {
            double square = squared_distance(call, row, at[i]);
            insert_place(call->squares + row * k, call->positions + row * k, i, k, square, at[i]);
            values[at[i]] = -INFINITY; /* is no other */
        }
        if (call->limits[row] < INFINITY)
            insert_others(call, row);
    }
}
