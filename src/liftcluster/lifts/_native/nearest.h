/* The nearest places of points: candidates by products in single precision, which a matrix product
   has computed, then distances in double precision. */

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

static double squared_distance(const double *x, const double *y, int64_t d)
{
    double part[4] = {0, 0, 0, 0}; /* so that additions need not wait for each other */
    int64_t q = 0;
    for (; q + 4 <= d; q += 4)
        for (int64_t i = 0; i < 4; i++)
            part[i] += (x[q + i] - y[q + i]) * (x[q + i] - y[q + i]);
    for (; q < d; q++)
        part[0] += (x[q] - y[q]) * (x[q] - y[q]);
    return (part[0] + part[1]) + (part[2] + part[3]);
}

static void nearest_places(const nearest_call *call)
{
    const int64_t p = call->p, d = call->d, k = call->k;
    const int64_t count = k + SPARE < p ? k + SPARE : p;
    int32_t at[MOST_CANDIDATES];
    for (int64_t row = 0; row < call->n; row++) {
        find_candidates(call->values + row * p, p, count, at);
        double *squares = call->squares + row * k;
        int32_t *positions = call->positions + row * k;
        for (int64_t i = 0; i < count; i++) {
            double square = squared_distance(call->points + row * d, call->places + at[i] * d, d);
            int64_t j = i < k ? i : k;
            while (j > 0 && (squares[j - 1] > square
                             || (squares[j - 1] == square && positions[j - 1] > at[i]))) {
                j--;
                if (j + 1 < k) {
                    squares[j + 1] = squares[j];
                    positions[j + 1] = positions[j];
                }
            }
            if (j < k) {
                squares[j] = square;
                positions[j] = at[i];
            }
        }
    }
}
