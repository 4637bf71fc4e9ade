/* Average linkage by nearest-neighbour chains, with rows of similarities made when they are needed.
   Only the stable ABI, so that one build serves every Python from 3.11 on. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- similarities of single points ---- */

/* Either a (t, t) matrix, or (m, t) labels and the (m + 1, m + 1) similarities of points by the
   number of partitions that label both, and of those that agree. Zero is a missing label. */
typedef struct {
    const double *matrix;
    const uint16_t *labels;
    const double *by_counts;
    Py_ssize_t t, m;
    int is_complete; /* no label is missing */
} similarities;

#define BLOCK 1024

/* Similarities of point x to n points, whose numbers ascend. The inner loops are simple, so that
   compilers can make vectors of them. `labels` are those of the n points, in rows of `stride`. */
static void first_row(const similarities *given, Py_ssize_t x, const Py_ssize_t *numbers,
                      Py_ssize_t n, const uint16_t *labels, Py_ssize_t stride, double *row)
{
    if (given->matrix) {
        const double *from = given->matrix + x * given->t;
        for (Py_ssize_t j = 0; j < n; j++)
            row[j] = from[numbers[j]];
        return;
    }
    uint16_t same[BLOCK], both[BLOCK];
    for (Py_ssize_t start = 0; start < n; start += BLOCK) {
        const Py_ssize_t here = n - start < BLOCK ? n - start : BLOCK;
        memset(same, 0, sizeof same);
        for (Py_ssize_t j = 0; j < BLOCK; j++)
            both[j] = given->is_complete ? (uint16_t)given->m : 0;
        for (Py_ssize_t i = 0; i < given->m; i++) {
            const uint16_t label = given->labels[i * given->t + x];
            const uint16_t *restrict column = labels + i * stride + start;
            if (!label)
                continue;
            for (Py_ssize_t j = 0; j < here; j++)
                same[j] += column[j] == label;
            for (Py_ssize_t j = 0; !given->is_complete && j < here; j++)
                both[j] += column[j] != 0;
        }
        for (Py_ssize_t j = 0; j < here; j++)
            row[start + j] = given->by_counts[both[j] * (given->m + 1) + same[j]];
    }
}

/* ---- clusters ---- */

/* Clusters are numbered consecutively, and again when many of them have been merged into others.
   A cluster has a row of similarities from the first time that its nearest neighbour is wanted.
   Entries for clusters that were merged since then are old: those have the new ones in their own
   rows. So nothing is written into columns, which would take most of the time. */
typedef struct {
    Py_ssize_t n;         /* clusters, and those that were merged into others since numbering */
    Py_ssize_t *numbers;  /* a point of each cluster; for a single point its number */
    double *weights;
    double *penalties;    /* -inf for those that were merged into others */
    double **rows;        /* or NULL */
    Py_ssize_t *born;     /* the number of merges after which it became a cluster */
    Py_ssize_t *current;  /* the number of merges that its row knows */
    Py_ssize_t *merged;   /* the clusters of several points, in the order of their births */
    Py_ssize_t n_merged;
    Py_ssize_t *chain, length;
    uint16_t *labels;     /* (m, stride), of the points in numbers */
    Py_ssize_t stride;
} clusters;

static void release(clusters *c)
{
    for (Py_ssize_t a = 0; c->rows && a < c->n; a++)
        free(c->rows[a]);
    free(c->numbers);
    free(c->weights);
    free(c->penalties);
    free(c->rows);
    free(c->born);
    free(c->current);
    free(c->merged);
    free(c->chain);
    free(c->labels);
}

/* Single points; returns whether there is memory for them. */
static int begin(clusters *c, const similarities *given, const double *weights)
{
    const size_t t = (size_t)given->t, labels = given->labels ? (size_t)given->m * t : 0;
    *c = (clusters){.n = given->t, .stride = given->t};
    c->numbers = malloc(t * sizeof *c->numbers);
    c->weights = malloc(t * sizeof *c->weights);
    c->penalties = calloc(t, sizeof *c->penalties);
    c->rows = calloc(t, sizeof *c->rows);
    c->born = calloc(t, sizeof *c->born);
    c->current = calloc(t, sizeof *c->current);
    c->merged = malloc(t * sizeof *c->merged);
    c->chain = malloc(t * sizeof *c->chain);
    c->labels = malloc((labels + 1) * sizeof *c->labels);
    if (!(c->numbers && c->weights && c->penalties && c->rows && c->born && c->current && c->merged
          && c->chain && c->labels))
        return 0;
    for (Py_ssize_t a = 0; a < given->t; a++)
        c->numbers[a] = a;
    memcpy(c->weights, weights, t * sizeof *weights);
    if (labels)
        memcpy(c->labels, given->labels, labels * sizeof *c->labels);
    return 1;
}

/* Numbers the clusters again, without those that were merged into others. */
static void renumber(clusters *c, const similarities *given, Py_ssize_t *kept, Py_ssize_t *place)
{
    Py_ssize_t n = 0;
    for (Py_ssize_t a = 0; a < c->n; a++)
        if (c->penalties[a] == 0) {
            place[a] = n;
            kept[n++] = a;
        }
    for (Py_ssize_t b = 0; b < n; b++) { /* kept[b] >= b */
        const Py_ssize_t a = kept[b];
        c->numbers[b] = c->numbers[a];
        c->weights[b] = c->weights[a];
        c->penalties[b] = 0;
        c->rows[b] = c->rows[a];
        c->born[b] = c->born[a];
        c->current[b] = c->current[a];
        for (Py_ssize_t j = 0; c->rows[b] && j < n; j++)
            c->rows[b][j] = c->rows[b][kept[j]];
    }
    for (Py_ssize_t i = 0; given->labels && i < given->m; i++)
        for (Py_ssize_t b = 0; b < n; b++)
            c->labels[i * c->stride + b] = c->labels[i * c->stride + kept[b]];
    for (Py_ssize_t i = 0; i < c->n_merged; i++)
        c->merged[i] = place[c->merged[i]];
    for (Py_ssize_t i = 0; i < c->length; i++)
        c->chain[i] = place[c->chain[i]];
    c->n = n;
}

/* The row of a cluster after so many merges, or NULL without memory. */
static double *row_of(clusters *c, const similarities *given, Py_ssize_t a, Py_ssize_t merges)
{
    double *row = c->rows[a];
    if (!row) {
        row = c->rows[a] = malloc((size_t)c->n * sizeof *row);
        if (!row)
            return NULL;
        first_row(given, c->numbers[a], c->numbers, c->n, c->labels, c->stride, row);
        row[a] = -INFINITY;
    }
    for (Py_ssize_t i = c->n_merged; i-- > 0 && c->born[c->merged[i]] > c->current[a];)
        row[c->merged[i]] = c->rows[c->merged[i]][a];
    c->current[a] = merges;
    return row;
}

#define LANES 32 /* many enough that compilers make vectors of them */

/* The largest similarity of n <= BLOCK clusters. */
static double largest(const double *restrict row, const double *restrict penalties, Py_ssize_t n)
{
    double most[LANES], best = -INFINITY;
    Py_ssize_t j = 0;
    for (int l = 0; l < LANES; l++)
        most[l] = -INFINITY;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++) {
            const double value = row[j + l] + penalties[j + l];
            most[l] = value > most[l] ? value : most[l];
        }
    for (int l = 0; l < LANES; l++)
        best = most[l] > best ? most[l] : best;
    for (; j < n; j++) {
        const double value = row[j] + penalties[j];
        best = value > best ? value : best;
    }
    return best;
}

/* The first cluster of the largest similarity. */
static Py_ssize_t nearest(const double *row, const double *penalties, Py_ssize_t n)
{
    double best = -INFINITY;
    Py_ssize_t j = 0;
    for (Py_ssize_t start = 0; start < n; start += BLOCK) {
        const Py_ssize_t here = n - start < BLOCK ? n - start : BLOCK;
        const double value = largest(row + start, penalties + start, here);
        if (value > best) {
            best = value;
            j = start;
        }
    }
    while (j < n - 1 && row[j] + penalties[j] != best)
        j++;
    return j;
}

/* Means of integers, rounded to integers: below 2^51 adding this rounds as rint does. */
#define ROUNDING 0x1.8p52

static void average(const double *restrict from, double a, double *restrict to, double b,
                    Py_ssize_t n)
{
    const double sum = a + b;
    for (Py_ssize_t j = 0; j < n; j++)
        to[j] = ((a * from[j] + b * to[j]) / sum + ROUNDING) - ROUNDING;
}

static void forget(clusters *c, Py_ssize_t a)
{
    Py_ssize_t kept = 0;
    for (Py_ssize_t i = 0; i < c->n_merged; i++)
        if (c->merged[i] != a)
            c->merged[kept++] = c->merged[i];
    c->n_merged = kept;
}

/* Cluster a becomes a part of b. Both rows know all merges so far. */
static void merge(clusters *c, Py_ssize_t a, Py_ssize_t b, Py_ssize_t merges)
{
    average(c->rows[a], c->weights[a], c->rows[b], c->weights[b], c->n);
    c->rows[b][b] = -INFINITY;
    free(c->rows[a]);
    c->rows[a] = NULL;
    c->weights[b] += c->weights[a];
    c->penalties[a] = -INFINITY;
    forget(c, a);
    forget(c, b);
    c->merged[c->n_merged++] = b;
    c->born[b] = c->current[b] = merges;
}

/* All merges, not in order; returns whether there was memory for them. */
static int link_all(clusters *c, const similarities *given, int64_t *pairs, double *heights,
                    Py_ssize_t *scratch)
{
    for (Py_ssize_t step = 0; step < given->t - 1; step++) {
        if (4 * (given->t - step) <= 3 * c->n)
            renumber(c, given, scratch, scratch + given->t);
        if (!c->length) {
            Py_ssize_t first = 0;
            while (c->penalties[first] != 0)
                first++;
            c->chain[c->length++] = first;
        }
        for (;;) {
            const Py_ssize_t a = c->chain[c->length - 1];
            const double *row = row_of(c, given, a, step);
            if (!row)
                return 0;
            const Py_ssize_t b = nearest(row, c->penalties, c->n);
            /* Ties go to the previous cluster, otherwise the chain may not end. */
            if (c->length > 1 && row[c->chain[c->length - 2]] >= row[b])
                break;
            /* A cycle, where rounding made similarities asymmetric: start again after this merge. */
            if (c->length == c->n) {
                c->chain[0] = c->chain[c->length - 2];
                c->chain[1] = a;
                c->length = 2;
                break;
            }
            c->chain[c->length++] = b;
        }
        const Py_ssize_t a = c->chain[--c->length], b = c->chain[--c->length];
        pairs[2 * step] = c->numbers[a];
        pairs[2 * step + 1] = c->numbers[b];
        heights[step] = c->rows[a][b];
        row_of(c, given, b, step); /* it may not have been looked at since the last merge */
        merge(c, a, b, step + 1);
    }
    return 1;
}

/* ---- the module ---- */

typedef struct {
    Py_buffer views[5];
    int count;
} buffer_list;

static void release_all(buffer_list *list)
{
    while (list->count > 0)
        PyBuffer_Release(&list->views[--list->count]);
}

/* A contiguous buffer of `count` aligned items of `size` bytes. */
static void *take(buffer_list *list, PyObject *object, int writable, Py_ssize_t count,
                  Py_ssize_t size, const char *what)
{
    Py_buffer *view = &list->views[list->count];
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0)
        return NULL;
    list->count++;
    if (view->len % size || view->len / size != count || (uintptr_t)view->buf % (uintptr_t)size) {
        PyErr_Format(PyExc_ValueError, "%s of %zd bytes do not fit, or are not aligned", what,
                     view->len);
        return NULL;
    }
    return view->buf;
}

static PyObject *link_buffers(similarities *given, buffer_list *list, PyObject *weights,
                              PyObject *pairs, PyObject *heights)
{
    const Py_ssize_t t = given->t;
    const double *w = take(list, weights, 0, t, 8, "weights");
    int64_t *to = w ? take(list, pairs, 1, 2 * (t - 1), 8, "pairs") : NULL;
    double *height = to ? take(list, heights, 1, t - 1, 8, "heights") : NULL;
    if (!height)
        return NULL;
    int fine;
    Py_BEGIN_ALLOW_THREADS
    clusters all;
    Py_ssize_t *scratch = malloc((size_t)t * 2 * sizeof *scratch);
    fine = begin(&all, given, w) && scratch && link_all(&all, given, to, height, scratch);
    free(scratch);
    release(&all);
    Py_END_ALLOW_THREADS
    return fine ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

#define MOST_POINTS 0x1000000 /* so that no size in bytes overflows */

static PyObject *link_matrix(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *matrix, *weights, *pairs, *heights, *answer = NULL;
    similarities given = {0};
    if (!PyArg_ParseTuple(args, "nOOOO", &given.t, &matrix, &weights, &pairs, &heights))
        return NULL;
    if (given.t < 2 || given.t > MOST_POINTS)
        return PyErr_Format(PyExc_ValueError, "%zd points", given.t);
    buffer_list list = {.count = 0};
    given.matrix = take(&list, matrix, 0, given.t * given.t, 8, "similarities");
    if (given.matrix)
        answer = link_buffers(&given, &list, weights, pairs, heights);
    release_all(&list);
    return answer;
}

static PyObject *link_labels(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *labels, *by_counts, *weights, *pairs, *heights, *answer = NULL;
    similarities given = {0};
    if (!PyArg_ParseTuple(args, "nnOOOOO", &given.t, &given.m, &labels, &by_counts, &weights, &pairs,
                          &heights))
        return NULL;
    if (given.t < 2 || given.t > MOST_POINTS || given.m < 1 || given.m > UINT16_MAX)
        return PyErr_Format(PyExc_ValueError, "%zd labels of %zd points", given.m, given.t);
    buffer_list list = {.count = 0};
    given.labels = take(&list, labels, 0, given.m * given.t, 2, "labels");
    if (given.labels)
        given.by_counts =
            take(&list, by_counts, 0, (given.m + 1) * (given.m + 1), 8, "similarities");
    given.is_complete = 1;
    for (Py_ssize_t j = 0; given.labels && j < given.m * given.t; j++)
        given.is_complete &= given.labels[j] != 0;
    if (given.by_counts)
        answer = link_buffers(&given, &list, weights, pairs, heights);
    release_all(&list);
    return answer;
}

static PyMethodDef methods[] = {
    {"link_matrix", link_matrix, METH_VARARGS,
     "link_matrix(t, similarities, weights, pairs, heights): merges and their similarities."},
    {"link_labels", link_labels, METH_VARARGS,
     "link_labels(t, m, labels, similarities, weights, pairs, heights): the same, with "
     "similarities by the numbers of partitions that label both points and that agree."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_linkage", NULL, -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__linkage(void) { return PyModule_Create(&module); }
