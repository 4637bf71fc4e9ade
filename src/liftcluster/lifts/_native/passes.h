/* The passes over the points, in one precision: features summed by cluster, features multiplied
   by vectors, or features written out. Included after point_features.h. */

/* Points whose features are held at a time. Partial sums in the working precision are added to
   double totals after each block, so blocks also bound their rounding. */
#define BLOCK 256
/* Features of a point that are summed together: a tile of clusters x TILE stays in the cache. */
#define TILE (4 * LANES)
/* Columns of W that a block is multiplied by at a time. */
#define SLICE 256
/* Features of a grid that are held at a time, or one row of it where that is longer. */
#define GRID_SLICE 1024

typedef struct {
    const lift_map *map;
    const point_set *points;
    int64_t stride;     /* phases (GRID: features) of one slice */
    int64_t width;      /* the same, padded to a multiple of TILE */
    int64_t n_slices;
    int64_t ld;         /* from one point's row to the next */
    INTEGER *signs;     /* as masks over the sign bit */
    REAL *lengths;      /* STRUCTURED: padded with zeros */
    REAL *W;            /* DENSE, PRODUCTS, DIFFERENCES: likewise, rows of ldw */
    int64_t ldw;
    REAL *U;            /* BLOCK x ldu centred points */
    int64_t ldu;
    REAL *scratch;      /* STRUCTURED: a point; GRID: the products of the other axes */
    REAL *P;            /* BLOCK x ld phases or features */
} R(worker);

/* Phases, or features where they do not come in pairs of cosine and sine. */
static int64_t R(columns)(const lift_map *map)
{
    return map->kind == MAP_GRID ? feature_count(map) : map->n_phases;
}

static int64_t R(round_up)(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

static void *R(cache_lines)(int64_t count)
{
    return allocate_lines((size_t)R(round_up)(count * (int64_t)sizeof(REAL) + 64, 64));
}

static void R(dismiss)(R(worker) *w)
{
    free_lines(w->signs);
    free_lines(w->lengths);
    free_lines(w->W);
    free_lines(w->U);
    free_lines(w->scratch);
    free_lines(w->P);
}

/* Memory for one pass, and the map in the layout of the inner loops. */
static int R(engage)(R(worker) *w, const lift_map *map, const point_set *points)
{
    memset(w, 0, sizeof *w);
    w->map = map;
    w->points = points;
    int64_t padded = map->kind == MAP_STRUCTURED ? map->padded : weight_rows(map), inner = 0;
    w->ldu = R(round_up)(padded, LANES);
    switch (map->kind) {
    case MAP_STRUCTURED:
        w->stride = map->padded;
        break;
    case MAP_GRID: /* some rows of the grid, so that a block of points stays in the cache */
        inner = inner_size(map);
        w->stride = (inner < GRID_SLICE ? GRID_SLICE / inner : 1) * inner;
        break;
    default:
        w->stride = R(round_up)(map->n_phases < SLICE ? map->n_phases : SLICE, TILE);
    }
    int64_t columns = R(columns)(map);
    if (map->kind == MAP_GRID && w->stride > columns)
        w->stride = columns;
    w->width = R(round_up)(w->stride, TILE);
    w->n_slices = (columns + w->stride - 1) / w->stride;
    w->ld = w->width + LANES; /* not a power of two, to avoid cache conflicts between rows */
    w->U = R(cache_lines)(BLOCK * w->ldu);
    w->P = R(cache_lines)(BLOCK * w->ld);
    w->scratch = R(cache_lines)(w->ldu > inner + LANES ? w->ldu : inner + LANES);
    if (!w->U || !w->P || !w->scratch)
        return 0;
    if (map->kind == MAP_STRUCTURED) {
        int64_t count = w->n_slices * 3 * w->width; /* stride and width are equal here */
        w->signs = R(cache_lines)(count);
        w->lengths = R(cache_lines)(w->n_slices * w->width);
        if (!w->signs || !w->lengths)
            return 0;
        for (int64_t j = 0; j < count; j++)
            w->signs[j] = map->signs[j] ? (INTEGER)((uint64_t)1 << (8 * sizeof(REAL) - 1)) : 0;
        memcpy(w->lengths, map->lengths, (size_t)map->n_phases * sizeof(REAL));
    } else if (map->weights && map->kind != MAP_GRID) {
        w->ldw = w->n_slices * w->width;
        w->W = R(cache_lines)(weight_rows(map) * w->ldw);
        if (!w->W)
            return 0;
        for (int64_t q = 0; q < weight_rows(map); q++)
            memcpy(w->W + q * w->ldw, (const REAL *)map->weights + q * map->n_phases,
                   (size_t)map->n_phases * sizeof(REAL));
    }
    return 1;
}

/* Centre the points of a block, in the order given; the first that cannot be lifted is returned. */
static int64_t R(take)(R(worker) *w, const int64_t *rows, int64_t count)
{
    double limit = w->map->reach * w->map->reach;
    for (int64_t i = 0; i < count; i++) {
        double square = R(centred)(w->points, rows[i], w->map->d, w->map->centre,
                                   w->U + i * w->ldu);
        if (!(square <= limit)) /* also for NaN */
            return rows[i];
        if (w->map->kind == MAP_PRODUCTS) {
            w->U[i * w->ldu + w->map->d] = (REAL)(-square / 2);
            w->U[i * w->ldu + w->map->d + 1] = 1;
        }
    }
    return LIFT_DONE;
}

/* Fill P with one slice of phases, or of features that are not trigonometric, of the points taken. */
INLINE void R(fill)(R(worker) *w, int64_t slice, int64_t count)
{
    const lift_map *map = w->map;
    int64_t first = slice * w->stride;
    switch (map->kind) {
    case MAP_STRUCTURED:
        for (int64_t i = 0; i < count; i++)
            R(structured_phases)(w->U + i * w->ldu, w->signs + 3 * first, w->lengths + first,
                                 w->width, w->scratch, w->P + i * w->ld);
        break;
    case MAP_DENSE:
        for (int64_t i = 0; i < count; i += 4) /* U has room for BLOCK points, a multiple of four */
            R(dense_phases)(w->U + i * w->ldu, w->ldu, (int)(count - i < 4 ? count - i : 4), map->d,
                            w->W + first, w->ldw, w->width, w->P + i * w->ld, w->ld);
        break;
    case MAP_PRODUCTS:
        for (int64_t i = 0; i < count; i += 4) {
            int here = (int)(count - i < 4 ? count - i : 4);
            R(dense_phases)(w->U + i * w->ldu, w->ldu, here, map->d + 2, w->W + first, w->ldw,
                            w->width, w->P + i * w->ld, w->ld);
            R(exponentials)(w->P + i * w->ld, w->ld, here, w->width, *(const REAL *)map->lengths);
        }
        break;
    case MAP_DIFFERENCES:
        for (int64_t i = 0; i < count; i += 4) {
            int here = (int)(count - i < 4 ? count - i : 4);
            R(square_distances)(w->U + i * w->ldu, w->ldu, here, map->d, w->W + first, w->ldw,
                                w->width, w->P + i * w->ld, w->ld);
            R(exponentials)(w->P + i * w->ld, w->ld, here, w->width, *(const REAL *)map->lengths);
        }
        break;
    case MAP_GIVEN:
    case MAP_EXPONENTS:
    case MAP_VALUES:
        for (int64_t i = 0; i < count; i++) {
            int64_t here = map->n_phases - first < w->width ? map->n_phases - first : w->width;
            memcpy(w->P + i * w->ld, w->U + i * w->ldu + first, (size_t)here * sizeof(REAL));
            if (map->kind == MAP_EXPONENTS)
                R(exponentials)(w->P + i * w->ld, w->ld, 1, w->width, 1);
        }
        break;
    case MAP_GRID: {
        int64_t rows = 2 * map->axis[0] + 1, inner = inner_size(map);
        int64_t from = first / inner, to = (first + w->stride) / inner;
        for (int64_t i = 0; i < count; i++)
            R(grid_features)(w->U + i * w->ldu, map, from, to < rows ? to : rows, w->scratch,
                             w->P + i * w->ld);
    }
    }
}

/* ---- sums ---- */

/* The members of each cluster in a block of points. Clusters that occur are renumbered, so that
   the work per block does not depend on the total number of clusters. */
typedef struct {
    int64_t rows[BLOCK]; /* points that are in some cluster */
    int64_t count;
    int64_t *global;     /* clusters that occur */
    int64_t *local;      /* the inverse; -1 for clusters that do not occur */
    int64_t n_local;
    struct R(entry) {
        int32_t point, cluster; /* position in rows, local number */
        REAL share;
    } *entries, *sorted;  /* in order of points; by cluster, points in order */
    int64_t n_entries, capacity;
    int64_t *first;       /* first sorted entry of each local cluster, and the end */
} R(roll);

static int R(room_for)(R(roll) *roll, int64_t entries)
{
    if (entries <= roll->capacity)
        return 1;
    int64_t capacity = 2 * entries + BLOCK;
    size_t bytes = (size_t)capacity * sizeof *roll->entries;
    struct R(entry) *entries_there = realloc(roll->entries, bytes);
    if (entries_there)
        roll->entries = entries_there;
    struct R(entry) *sorted_there = realloc(roll->sorted, bytes);
    if (sorted_there)
        roll->sorted = sorted_there;
    if (!entries_there || !sorted_there)
        return 0;
    roll->capacity = capacity;
    return 1;
}

INLINE void R(enter)(R(roll) *roll, int64_t cluster, double share)
{
    if (roll->local[cluster] < 0) {
        roll->local[cluster] = roll->n_local;
        roll->global[roll->n_local++] = cluster;
    }
    roll->entries[roll->n_entries++] = (struct R(entry)){
        (int32_t)roll->count, (int32_t)roll->local[cluster], (REAL)share};
}

/* Add the entries of one row in one partition. */
INLINE int64_t R(enter_row)(R(roll) *roll, const membership *part, int64_t row)
{
    double weight = part->weights ? part->weights[row] : 1.0;
    if (part->codes) {
        int32_t code = part->codes[row];
        if (code >= part->k)
            return LIFT_BAD_LABEL;
        if (code < 0)
            return LIFT_DONE;
        if (!R(room_for)(roll, roll->n_entries + 1))
            return LIFT_NO_MEMORY;
        R(enter)(roll, part->offset + code, weight);
        return LIFT_DONE;
    }
    int64_t from = part->indptr[row], to = part->indptr[row + 1];
    if (!R(room_for)(roll, roll->n_entries + (to - from)))
        return LIFT_NO_MEMORY;
    for (int64_t e = from; e < to; e++) {
        int32_t column = part->indices[e];
        if (column < 0 || column >= part->k)
            return LIFT_BAD_LABEL;
        R(enter)(roll, part->offset + column, weight * part->shares[e]);
    }
    return LIFT_DONE;
}

static void R(sort_entries)(R(roll) *roll)
{
    int64_t *first = roll->first;
    memset(first, 0, (size_t)(roll->n_local + 2) * sizeof *first);
    for (int64_t e = 0; e < roll->n_entries; e++)
        first[roll->entries[e].cluster + 2]++;
    for (int64_t c = 0; c < roll->n_local; c++)
        first[c + 2] += first[c + 1];
    for (int64_t e = 0; e < roll->n_entries; e++) /* afterwards first[c + 1] is the end of c */
        roll->sorted[first[roll->entries[e].cluster + 1]++] = roll->entries[e];
}

/* Collect the members of rows [start, stop): LIFT_DONE, LIFT_NO_MEMORY or LIFT_BAD_LABEL. */
static int64_t R(call_roll)(R(roll) *roll, const membership_list *members, int64_t start,
                            int64_t stop)
{
    for (int64_t c = 0; c < roll->n_local; c++)
        roll->local[roll->global[c]] = -1;
    roll->n_local = roll->n_entries = roll->count = 0;
    for (int64_t row = start; row < stop; row++) {
        int64_t before = roll->n_entries;
        for (int64_t p = 0; p < members->m; p++) {
            int64_t status = R(enter_row)(roll, members->parts + p, row);
            if (status != LIFT_DONE)
                return status;
        }
        if (roll->n_entries > before) /* a point of no cluster costs nothing */
            roll->rows[roll->count++] = row;
    }
    R(sort_entries)(roll);
    return LIFT_DONE;
}

/* Four vectors of features: cosines, then sines, of 2 * LANES phases. */
INLINE void R(tile_of)(const REAL *p, R(vec) f[4])
{
    R(cos_sin)(R(load)(p), &f[0], &f[2]);
    R(cos_sin)(R(load)(p + LANES), &f[1], &f[3]);
}

INLINE void R(add_row)(double *total, const REAL *part, int64_t count)
{
    for (int64_t z = 0; z < count; z++)
        total[z] += (double)part[z];
}

/* Add one cluster's tile to its totals; only `left` of its phases are real. */
INLINE void R(flush)(const R(vec) tile[4], double *total, int64_t n_phases, int64_t left)
{
    REAL values[TILE];
    for (int q = 0; q < 4; q++)
        R(store)(values + q * LANES, tile[q]);
    if (left >= 2 * LANES) { /* compilers unroll a constant count */
        R(add_row)(total, values, 2 * LANES);
        R(add_row)(total + n_phases, values + 2 * LANES, 2 * LANES);
    } else {
        R(add_row)(total, values, left);
        R(add_row)(total + n_phases, values + 2 * LANES, left);
    }
}

/* Load the totals of a tile early: where clusters are many, they are not in the cache. */
INLINE void R(prefetch)(const double *total, int64_t n_phases, int64_t left)
{
    for (int64_t z = 0; z < 2 * LANES && z < left; z += 8) { /* doubles of a cache line */
        __builtin_prefetch(total + z, 1);
        __builtin_prefetch(total + n_phases + z, 1);
    }
}

/* Add the features of the points in P to the totals of the clusters on the roll, a tile of columns
   at a time: a cluster's sum then stays in registers while its points are gone through. Where
   points are in several clusters their tiles are computed once, into F. */
INLINE void R(add_up)(const R(worker) *w, const R(roll) *roll, int64_t first, REAL *F, double *sums,
                      int64_t ld)
{
    int64_t n_phases = w->map->n_phases;
    int64_t here = n_phases - first < w->stride ? n_phases - first : w->stride;
    int several = roll->n_entries > roll->count;
    for (int64_t j = 0; j < here; j += 2 * LANES) {
        R(vec) f[4];
        for (int64_t i = 0; several && i < roll->count; i++) {
            R(tile_of)(w->P + i * w->ld + j, f);
            for (int q = 0; q < 4; q++)
                R(store)(F + i * TILE + q * LANES, f[q]);
        }
        for (int64_t c = 0; c < roll->n_local; c++) {
            R(vec) total[4] = {{0}};
            const struct R(entry) *end = roll->sorted + roll->first[c + 1];
            if (c + 1 < roll->n_local)
                R(prefetch)(sums + roll->global[c + 1] * ld + first + j, n_phases, here - j);
            for (const struct R(entry) *e = roll->sorted + roll->first[c]; e < end; e++) {
                if (several)
                    for (int q = 0; q < 4; q++)
                        f[q] = R(load)(F + e->point * TILE + q * LANES);
                else
                    R(tile_of)(w->P + e->point * w->ld + j, f);
                for (int q = 0; q < 4; q++)
                    total[q] += e->share * f[q];
            }
            R(flush)(total, sums + roll->global[c] * ld + first + j, n_phases, here - j);
        }
    }
}

/* The same for features that are not trigonometric, which P holds. */
static void R(add_up_values)(const R(worker) *w, const R(roll) *roll, int64_t first, double *sums,
                             int64_t ld)
{
    int64_t n = w->map->n_phases, here = n - first < w->stride ? n - first : w->stride;
    for (int64_t j = 0; j < here; j += TILE)
        for (int64_t c = 0; c < roll->n_local; c++) {
            R(vec) total[4] = {{0}};
            const struct R(entry) *end = roll->sorted + roll->first[c + 1];
            for (const struct R(entry) *e = roll->sorted + roll->first[c]; e < end; e++)
                for (int q = 0; q < 4; q++)
                    total[q] += e->share * R(load)(w->P + e->point * w->ld + j + q * LANES);
            REAL values[TILE];
            for (int q = 0; q < 4; q++)
                R(store)(values + q * LANES, total[q]);
            R(add_row)(sums + roll->global[c] * ld + first + j, values,
                       here - j < TILE ? here - j : TILE);
        }
}

/* The same for a grid, whose features are products of a factor of the first axis and one of the
   others: these are multiplied when they are added, so that only the factors are stored. */
INLINE void R(add_up_columns)(const R(roll) *roll, int64_t c, const REAL *tables, int64_t ldt,
                              int64_t a, int64_t from, int count, REAL values[TILE])
{
    R(vec) total[4] = {{0}};
    const struct R(entry) *end = roll->sorted + roll->first[c + 1];
    for (const struct R(entry) *e = roll->sorted + roll->first[c]; e < end; e++) {
        const REAL *table = tables + e->point * ldt;
        REAL factor = e->share * table[a];
        for (int q = 0; q < count; q++)
            total[q] += factor * R(load)(table + from + q * LANES);
    }
    for (int q = 0; q < count; q++)
        R(store)(values + q * LANES, total[q]);
}

static void R(add_up_grid)(const R(worker) *w, const R(roll) *roll, REAL *tables, int64_t ldt,
                           double *sums, int64_t ld)
{
    const lift_map *map = w->map;
    int64_t rows = 2 * map->axis[0] + 1, inner = inner_size(map);
    int64_t start = R(round_up)(rows + LANES, LANES); /* of the inner products in a table */
    for (int64_t i = 0; i < roll->count; i++) {
        const REAL *u = w->U + i * w->ldu;
        R(multiples)(u[0] * ((const REAL *)map->weights)[0], map->axis[0], tables + i * ldt);
        R(inner_products)(u, map, tables + i * ldt + start);
    }
    for (int64_t b = 0; b < inner; b += TILE) {
        int64_t left = inner - b < TILE ? inner - b : TILE;
        int vectors = (int)((left + LANES - 1) / LANES);
        for (int64_t c = 0; c < roll->n_local; c++)
            for (int64_t a = 0; a < rows; a++) {
                REAL values[TILE];
                switch (vectors) { /* a constant number of them stays in registers */
                case 1: R(add_up_columns)(roll, c, tables, ldt, a, start + b, 1, values); break;
                case 2: R(add_up_columns)(roll, c, tables, ldt, a, start + b, 2, values); break;
                case 3: R(add_up_columns)(roll, c, tables, ldt, a, start + b, 3, values); break;
                default: R(add_up_columns)(roll, c, tables, ldt, a, start + b, 4, values);
                }
                R(add_row)(sums + roll->global[c] * ld + a * inner + b, values, left);
            }
    }
}

static int64_t R(sum_blocks)(R(worker) *w, R(roll) *roll, const membership_list *members,
                             int64_t start, int64_t stop, REAL *F, int64_t ldf, double *sums,
                             int64_t ld)
{
    for (int64_t row = start; row < stop; row += BLOCK) {
        int64_t end = row + BLOCK < stop ? row + BLOCK : stop;
        int64_t status = R(call_roll)(roll, members, row, end);
        if (status == LIFT_DONE)
            status = R(take)(w, roll->rows, roll->count);
        if (status != LIFT_DONE)
            return status;
        if (w->map->kind == MAP_GRID) {
            R(add_up_grid)(w, roll, F, ldf, sums, ld);
            continue;
        }
        for (int64_t slice = 0; roll->count && slice < w->n_slices; slice++) {
            R(fill)(w, slice, roll->count);
            if (is_trigonometric(w->map))
                R(add_up)(w, roll, slice * w->stride, F, sums, ld);
            else
                R(add_up_values)(w, roll, slice * w->stride, sums, ld);
        }
    }
    return LIFT_DONE;
}

static int R(open_roll)(R(roll) *roll, int64_t n_clusters)
{
    memset(roll, 0, sizeof *roll);
    size_t bytes = (size_t)(n_clusters + 2) * sizeof(int64_t);
    roll->global = malloc(bytes);
    roll->local = malloc(bytes);
    roll->first = malloc(bytes);
    if (!roll->global || !roll->local || !roll->first)
        return 0;
    for (int64_t c = 0; c < n_clusters; c++)
        roll->local[c] = -1;
    return 1;
}

static void R(close_roll)(R(roll) *roll)
{
    free(roll->first);
    free(roll->global);
    free(roll->local);
    free(roll->entries);
    free(roll->sorted);
}

static int64_t R(sums)(const lift_map *map, const point_set *points, int64_t start, int64_t stop,
                       const membership_list *members, int64_t n_clusters, double *sums, int64_t ld)
{
    R(worker) w;
    R(roll) roll;
    int64_t ldf = TILE; /* of a point's tile; for a grid, of its table */
    if (map->kind == MAP_GRID)
        ldf = R(round_up)(2 * map->axis[0] + 1 + LANES, LANES)
            + R(round_up)(inner_size(map) + LANES + TILE, LANES);
    REAL *F = R(cache_lines)(BLOCK * ldf);
    int64_t status = LIFT_NO_MEMORY;
    int ready = R(engage)(&w, map, points);
    if (R(open_roll)(&roll, n_clusters) && ready && F)
        status = R(sum_blocks)(&w, &roll, members, start, stop, F, ldf, sums, ld);
    R(dismiss)(&w);
    R(close_roll)(&roll);
    free_lines(F);
    return status;
}

/* ---- scores and features ---- */

/* Cosines over the phases of P, sines into Q. */
INLINE void R(to_features)(const R(worker) *w, int64_t count, REAL *Q)
{
    for (int64_t i = 0; i < count; i++) {
        REAL *p = w->P + i * w->ld, *q = Q + i * w->ld;
        for (int64_t j = 0; j < w->width; j += LANES) {
            R(vec) c, s;
            R(cos_sin)(R(load)(p + j), &c, &s);
            R(store)(p + j, c);
            R(store)(q + j, s);
        }
    }
}

INLINE double R(total_of)(R(vec) x)
{
    double total = 0;
    for (int i = 0; i < LANES; i++)
        total += (double)x[i];
    return total;
}

/* scores += F Vt for up to four points and up to two vectors, over one slice. */
INLINE void R(dots)(const REAL *F, int64_t ld, int n_points, const REAL *V, int64_t ldv,
                    int n_vectors, int64_t width, double *scores, int64_t k)
{
    R(vec) sums[4][2] = {{{0}}};
    const REAL *v1 = V + (n_vectors > 1 ? ldv : 0);
    for (int64_t j = 0; j < width; j += LANES) {
        R(vec) a = R(load)(V + j), b = R(load)(v1 + j);
        for (int i = 0; i < 4; i++) { /* rows beyond the last point are unused */
            R(vec) f = R(load)(F + i * ld + j);
            sums[i][0] += f * a;
            sums[i][1] += f * b;
        }
    }
    for (int i = 0; i < n_points; i++)
        for (int c = 0; c < n_vectors; c++)
            scores[i * k + c] += R(total_of)(sums[i][c]);
}

INLINE void R(multiply)(const REAL *F, int64_t ld, int64_t count, const REAL *V, int64_t ldv,
                        int64_t k, int64_t width, double *scores)
{
    for (int64_t c = 0; c < k; c += 2)
        for (int64_t i = 0; i < count; i += 4)
            R(dots)(F + i * ld, ld, (int)(count - i < 4 ? count - i : 4), V + c * ldv, ldv,
                    (int)(k - c < 2 ? k - c : 2), width, scores + i * k + c, k);
}

/* Vectors with their columns padded slice by slice as those of P; then the same for sines. */
static void R(pack)(const R(worker) *w, const REAL *vectors, int64_t k, REAL *packed, int64_t ldv)
{
    int64_t columns = R(columns)(w->map), n_features = feature_count(w->map);
    for (int64_t c = 0; c < k; c++)
        for (int64_t slice = 0; slice < w->n_slices; slice++) {
            int64_t first = slice * w->stride;
            int64_t here = columns - first < w->stride ? columns - first : w->stride;
            const REAL *from = vectors + c * n_features + first;
            REAL *to = packed + c * ldv + slice * w->width;
            memcpy(to, from, (size_t)here * sizeof(REAL));
            if (is_trigonometric(w->map))
                memcpy(to + ldv / 2, from + columns, (size_t)here * sizeof(REAL));
        }
}

static int64_t R(score_blocks)(R(worker) *w, int64_t start, int64_t stop, const REAL *packed,
                               int64_t ldv, int64_t k, REAL *Q, double *scores)
{
    int64_t rows[BLOCK];
    for (int64_t row = start; row < stop; row += BLOCK) {
        int64_t count = row + BLOCK < stop ? BLOCK : stop - row;
        for (int64_t i = 0; i < count; i++)
            rows[i] = row + i;
        int64_t status = R(take)(w, rows, count);
        if (status != LIFT_DONE)
            return status;
        double *out = scores + (row - start) * k;
        memset(out, 0, (size_t)(count * k) * sizeof *out);
        for (int64_t slice = 0; slice < w->n_slices; slice++) {
            const REAL *V = packed + slice * w->width;
            R(fill)(w, slice, count);
            if (is_trigonometric(w->map)) {
                R(to_features)(w, count, Q);
                R(multiply)(Q, w->ld, count, V + ldv / 2, ldv, k, w->width, out);
            }
            R(multiply)(w->P, w->ld, count, V, ldv, k, w->width, out);
        }
    }
    return LIFT_DONE;
}

static int64_t R(scores)(const lift_map *map, const point_set *points, int64_t start, int64_t stop,
                         const void *vectors, int64_t k, double *scores)
{
    R(worker) w;
    int64_t status = LIFT_NO_MEMORY;
    REAL *packed = NULL, *Q = NULL;
    if (R(engage)(&w, map, points)) {
        int64_t ldv = w.n_slices * w.width * (is_trigonometric(map) ? 2 : 1);
        packed = R(cache_lines)(k * ldv);
        Q = R(cache_lines)(BLOCK * w.ld);
        if (packed && Q) {
            R(pack)(&w, vectors, k, packed, ldv);
            status = R(score_blocks)(&w, start, stop, packed, ldv, k, Q, scores);
        }
    }
    free_lines(packed);
    free_lines(Q);
    R(dismiss)(&w);
    return status;
}

/* The column of the largest score of each row, the first of equal ones. */
static void R(largest)(const double *scores, int64_t count, int64_t k, int32_t *codes)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t best = 0;
        for (int64_t c = 1; c < k; c++)
            if (scores[i * k + c] > scores[i * k + best])
                best = c;
        codes[i] = (int32_t)best;
    }
}

/* Scores of a block, whose features stay in P for the sums of the groups. */
static int64_t R(assign_blocks)(R(worker) *w, R(roll) *roll, int64_t start, int64_t stop,
                                const assign_call *call, const REAL *packed, int64_t ldv)
{
    int64_t rows[BLOCK], k = call->k;
    int32_t codes[BLOCK];
    REAL *P = w->P;
    for (int64_t row = start; row < stop; row += BLOCK) {
        int64_t count = row + BLOCK < stop ? BLOCK : stop - row;
        for (int64_t i = 0; i < count; i++)
            rows[i] = row + i;
        int64_t status = R(take)(w, rows, count);
        double *out = call->scores + (row - start) * k;
        memset(out, 0, (size_t)(count * k) * sizeof *out);
        for (int64_t slice = 0; slice < w->n_slices && status == LIFT_DONE; slice++) {
            w->P = P + slice * w->width;
            R(fill)(w, slice, count);
            R(multiply)(w->P, w->ld, count, packed + slice * w->width, ldv, k, w->width, out);
        }
        if (status == LIFT_DONE) {
            for (int64_t i = 0; i < count * k; i++)
                out[i] *= call->units[i % k];
            R(largest)(out, count, k, codes);
            membership groups = {.codes = codes, .k = k,
                                 .weights = call->weights ? call->weights + row : NULL};
            membership_list members = {&groups, 1};
            status = R(call_roll)(roll, &members, 0, count);
        }
        for (int64_t slice = 0; slice < w->n_slices && status == LIFT_DONE; slice++) {
            w->P = P + slice * w->width;
            R(add_up_values)(w, roll, slice * w->stride, call->sums, call->ld);
        }
        w->P = P;
        if (status != LIFT_DONE)
            return status;
    }
    return LIFT_DONE;
}

static int64_t R(assign)(const lift_map *map, const point_set *points, int64_t start, int64_t stop,
                         const assign_call *call)
{
    R(worker) w;
    R(roll) roll;
    int64_t status = LIFT_NO_MEMORY;
    REAL *packed = NULL;
    int ready = R(engage)(&w, map, points);
    if (R(open_roll)(&roll, call->k) && ready) {
        int64_t ldv = w.n_slices * w.width;
        w.ld = ldv + LANES; /* P holds all slices of a block */
        free_lines(w.P);
        w.P = R(cache_lines)(BLOCK * w.ld);
        packed = R(cache_lines)(call->k * ldv);
        if (w.P && packed) {
            R(pack)(&w, call->vectors, call->k, packed, ldv);
            status = R(assign_blocks)(&w, &roll, start, stop, call, packed, ldv);
        }
    }
    free_lines(packed);
    R(dismiss)(&w);
    R(close_roll)(&roll);
    return status;
}

static int64_t R(features)(const lift_map *map, const point_set *points, int64_t start,
                           int64_t stop, void *features)
{
    R(worker) w;
    int64_t status = LIFT_NO_MEMORY, rows[BLOCK], n_features = feature_count(map);
    REAL *Q = NULL;
    if (R(engage)(&w, map, points) && (Q = R(cache_lines)(BLOCK * w.ld)))
        status = LIFT_DONE;
    for (int64_t row = start; row < stop && status == LIFT_DONE; row += BLOCK) {
        int64_t count = row + BLOCK < stop ? BLOCK : stop - row;
        for (int64_t i = 0; i < count; i++)
            rows[i] = row + i;
        status = R(take)(&w, rows, count);
        for (int64_t slice = 0; slice < w.n_slices && status == LIFT_DONE; slice++) {
            int64_t first = slice * w.stride, columns = R(columns)(map);
            int64_t here = columns - first < w.stride ? columns - first : w.stride;
            R(fill)(&w, slice, count);
            if (is_trigonometric(map))
                R(to_features)(&w, count, Q);
            for (int64_t i = 0; i < count; i++) {
                REAL *out = (REAL *)features + (row - start + i) * n_features + first;
                memcpy(out, w.P + i * w.ld, (size_t)here * sizeof(REAL));
                if (is_trigonometric(map))
                    memcpy(out + columns, Q + i * w.ld, (size_t)here * sizeof(REAL));
            }
        }
    }
    free_lines(Q);
    R(dismiss)(&w);
    return status;
}

#undef BLOCK
#undef TILE
#undef SLICE
#undef GRID_SLICE
