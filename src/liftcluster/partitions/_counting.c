/* Codes of labels and counts of codes, each in one pass over the labels.
   Only the stable ABI, so that one build serves every Python from 3.11 on. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ---- */

typedef struct {
    Py_buffer views[4];
    int count;
} buffer_list;

static void release_all(buffer_list *list)
{
    while (list->count > 0)
        PyBuffer_Release(&list->views[--list->count]);
}

enum { BYTES, ALIGNED, WRITABLE };

/* A contiguous buffer of items of `size` bytes: as many as `count`, or at least one, which it sets
   if it is -1. */
static void *take(buffer_list *list, PyObject *object, int access, Py_ssize_t size,
                  Py_ssize_t *count, const char *what)
{
    Py_buffer *view = &list->views[list->count];
    if (PyObject_GetBuffer(object, view, access == WRITABLE ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0)
        return NULL;
    list->count++;
    const Py_ssize_t given = size > 0 && view->len % size == 0 ? view->len / size : 0;
    if (given < 1 || (*count >= 0 && *count != given)
        || (access != BYTES && (uintptr_t)view->buf % (uintptr_t)size)) {
        PyErr_Format(PyExc_ValueError, "%s of %zd bytes do not fit, or are not aligned", what,
                     view->len);
        return NULL;
    }
    *count = given;
    return view->buf;
}

static PyObject *bad_code(void)
{
    PyErr_SetString(PyExc_ValueError, "a code is not below the number of clusters");
    return NULL;
}

/* ---- counting ---- */

/* Points are read in blocks: first the places of their counts, which are checked, then the counts.
   Neighbouring points are often in the same cluster, and adding to one number twice in a row waits
   for the memory. So points take turns with four tables, while these fit into the first-level
   cache. Their numbers are 32 bits wide, and are added up before they can overflow. */
#define BLOCK 1024
#define MOST_CELLS_IN_CACHE 2048
#define MOST_IN_TURNS ((Py_ssize_t)1 << 31)

typedef struct {
    int64_t *totals;
    Py_ssize_t cells;
    uint32_t *turns; /* four tables, or NULL */
    Py_ssize_t in_turns;
} histogram;

static void begin(histogram *h)
{
    h->turns = h->cells <= MOST_CELLS_IN_CACHE ? calloc((size_t)h->cells * 4, sizeof(uint32_t)) : NULL;
    h->in_turns = 0;
}

static void add_turns(histogram *h)
{
    const size_t cells = (size_t)h->cells;
    for (size_t c = 0; c < 4 * cells; c++)
        h->totals[c % cells] += h->turns[c];
    memset(h->turns, 0, 4 * cells * sizeof *h->turns);
    h->in_turns = 0;
}

static void end(histogram *h)
{
    if (h->turns)
        add_turns(h);
    free(h->turns);
}

/* Counts n <= BLOCK places, all of them below the number of cells. */
static void count(histogram *h, const uint32_t *places, Py_ssize_t n)
{
    Py_ssize_t i = 0;
    if (h->turns) {
        uint32_t *a = h->turns, *b = a + h->cells, *c = b + h->cells, *d = c + h->cells;
        for (; i + 4 <= n; i += 4) {
            a[places[i]]++;
            b[places[i + 1]]++;
            c[places[i + 2]]++;
            d[places[i + 3]]++;
        }
        if ((h->in_turns += n) >= MOST_IN_TURNS)
            add_turns(h);
    }
    for (; i < n; i++)
        h->totals[places[i]]++;
}

/* The same for sums of weights. */
typedef struct {
    double *totals;
    Py_ssize_t cells;
    double *tables; /* four, one after another, or only the totals */
    Py_ssize_t stride; /* from table to table; 0 if there are only the totals */
} weight_sums;

static void begin_sums(weight_sums *s)
{
    const int fits = 2 * s->cells <= MOST_CELLS_IN_CACHE;
    s->tables = fits ? calloc((size_t)s->cells * 4, sizeof(double)) : NULL;
    s->stride = s->tables ? s->cells : 0;
    if (!s->tables)
        s->tables = s->totals;
}

static void end_sums(weight_sums *s)
{
    const double *a = s->tables, *b = a + s->stride, *c = b + s->stride, *d = c + s->stride;
    if (!s->stride)
        return;
    for (Py_ssize_t i = 0; i < s->cells; i++)
        s->totals[i] += (a[i] + b[i]) + (c[i] + d[i]);
    free(s->tables);
}

static void add_weights(weight_sums *s, const uint32_t *places, const double *weights, Py_ssize_t n)
{
    double *a = s->tables, *b = a + s->stride, *c = b + s->stride, *d = c + s->stride;
    Py_ssize_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a[places[i]] += weights[i];
        b[places[i + 1]] += weights[i + 1];
        c[places[i + 2]] += weights[i + 2];
        d[places[i + 3]] += weights[i + 3];
    }
    for (; i < n; i++)
        a[places[i]] += weights[i];
}

/* ---- integer labels in a small range ---- */

/* Places label - low, and codes less some shift. Differences are modulo 2^32 or 2^64, so that they
   are below the number of cells just for labels in the range. Labels are read by memcpy, because
   they need not be aligned. Returns whether all labels are in the range. The loops are simple, so
   that compilers can make vectors of them. */
#define ENCODE(name, type, wide, code_type)                                                        \
    static int name(const char *restrict labels, Py_ssize_t n, uint64_t low, uint32_t cells,       \
                    uint32_t shift, uint32_t *restrict places, void *restrict out)                 \
    {                                                                                              \
        code_type *restrict codes = out;                                                           \
        uint32_t outside = 0;                                                                      \
        for (Py_ssize_t i = 0; i < n; i++) {                                                       \
            type label;                                                                            \
            memcpy(&label, labels + i * (Py_ssize_t)sizeof label, sizeof label);                   \
            const wide difference = (wide)label - (wide)low;                                       \
            const uint32_t place = (uint32_t)difference;                                           \
            outside |= (place >= cells) | (uint32_t)((uint64_t)difference >> 32);                  \
            places[i] = place;                                                                     \
            codes[i] = (code_type)(place - shift);                                                 \
        }                                                                                          \
        return !outside;                                                                           \
    }

#define ENCODE_ALL(suffix, code_type)                                                              \
    ENCODE(encode_i1##suffix, int8_t, uint32_t, code_type)                                         \
    ENCODE(encode_u1##suffix, uint8_t, uint32_t, code_type)                                        \
    ENCODE(encode_i2##suffix, int16_t, uint32_t, code_type)                                        \
    ENCODE(encode_u2##suffix, uint16_t, uint32_t, code_type)                                       \
    ENCODE(encode_i4##suffix, int32_t, uint32_t, code_type)                                        \
    ENCODE(encode_u4##suffix, uint32_t, uint32_t, code_type)                                       \
    ENCODE(encode_8##suffix, uint64_t, uint64_t, code_type)

ENCODE_ALL(_1, int8_t)
ENCODE_ALL(_2, int16_t)
ENCODE_ALL(_4, int32_t)

typedef int encoder(const char *, Py_ssize_t, uint64_t, uint32_t, uint32_t, uint32_t *, void *);

#define ENCODERS(suffix)                                                                           \
    {{encode_u1##suffix, encode_i1##suffix}, {encode_u2##suffix, encode_i2##suffix},               \
     {encode_u4##suffix, encode_i4##suffix}, {encode_8##suffix, encode_8##suffix}}

/* By the sizes of codes and labels, and whether labels are signed. */
static encoder *const encoders[3][4][2] = {ENCODERS(_1), ENCODERS(_2), ENCODERS(_4)};

/* 0, 1, 2, 3 for integers of 1, 2, 4, 8 bytes, else -1. */
static int order_of(Py_ssize_t size)
{
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
}

static int is_code_size(Py_ssize_t size) { return size == 1 || size == 2 || size == 4; }

static PyObject *encode(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *labels, *counts, *codes;
    Py_ssize_t size, code_size;
    int is_signed, shift;
    unsigned long long low;
    if (!PyArg_ParseTuple(args, "OnpKiOOn", &labels, &size, &is_signed, &low, &shift, &counts,
                          &codes, &code_size))
        return NULL;
    if (order_of(size) < 0 || !is_code_size(code_size))
        return PyErr_Format(PyExc_ValueError, "labels and codes must be integers");
    buffer_list list = {.count = 0};
    histogram found = {.cells = -1};
    Py_ssize_t n = -1;
    const char *from = take(&list, labels, BYTES, size, &n, "labels");
    char *to = from ? take(&list, codes, WRITABLE, code_size, &n, "codes") : NULL;
    found.totals = to ? take(&list, counts, WRITABLE, 8, &found.cells, "counts") : NULL;
    int fine = found.totals != NULL;
    if (fine && (shift < 0 || shift > found.cells || found.cells > INT32_MAX
                 || found.cells - shift > (int64_t)1 << (8 * code_size - 1))) {
        PyErr_SetString(PyExc_ValueError, "codes are too small for these labels");
        fine = 0;
    }
    if (fine) {
        encoder *const encode_block = encoders[order_of(code_size)][order_of(size)][is_signed];
        const uint32_t cells = (uint32_t)found.cells;
        Py_BEGIN_ALLOW_THREADS
        uint32_t places[BLOCK];
        begin(&found);
        for (Py_ssize_t start = 0; fine && start < n; start += BLOCK) {
            const Py_ssize_t here = n - start < BLOCK ? n - start : BLOCK;
            fine = encode_block(from + start * size, here, low, cells, (uint32_t)shift, places,
                                to + start * code_size);
            if (fine)
                count(&found, places, here);
        }
        end(&found);
        Py_END_ALLOW_THREADS
        if (!fine)
            PyErr_SetString(PyExc_ValueError, "a label is outside the range");
    }
    release_all(&list);
    return fine ? Py_NewRef(Py_None) : NULL;
}

/* ---- labels of any kind, by their bytes ---- */

static uint64_t hash_bytes(const char *item, Py_ssize_t size)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u; /* 2^64 over the golden ratio */
    uint64_t hash = (uint64_t)size, word;
    for (; size >= 8; item += 8, size -= 8) {
        memcpy(&word, item, 8);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 32;
    }
    word = 0;
    for (; size >= 4; item += 4, size -= 4) { /* at most once */
        uint32_t half;
        memcpy(&half, item, 4);
        word = half;
    }
    for (; size > 0; item++, size--)
        word = word << 8 | (unsigned char)*item;
    hash = (hash ^ word) * odd;
    return hash ^ hash >> 32;
}

#define MOST_PROBES 64

/* Numbers the different items in the order of their first points, which it finds. Returns how many
   they are; -1 if there are more than `most`, or if too many collide. `slots` has a power of two of
   zeros, above `most`. */
static Py_ssize_t group_items(const char *items, Py_ssize_t n, Py_ssize_t size, int32_t *codes,
                              int64_t *firsts, Py_ssize_t most, int32_t *slots, uint64_t mask)
{
    int32_t found = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *item = items + i * size;
        uint64_t slot = hash_bytes(item, size) & mask;
        int probes = 0;
        while (slots[slot] && memcmp(items + firsts[slots[slot] - 1] * size, item, (size_t)size)) {
            if (++probes > MOST_PROBES)
                return -1;
            slot = (slot + 1) & mask;
        }
        if (!slots[slot]) {
            if (found == most)
                return -1;
            firsts[found] = i;
            slots[slot] = ++found;
        }
        codes[i] = slots[slot] - 1;
    }
    return found;
}

static PyObject *group(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *labels, *codes, *firsts;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "OnOO", &labels, &size, &codes, &firsts))
        return NULL;
    buffer_list list = {.count = 0};
    Py_ssize_t n = -1, most = -1, found = -1;
    const char *from = take(&list, labels, BYTES, size, &n, "labels");
    int32_t *to = from ? take(&list, codes, WRITABLE, 4, &n, "codes") : NULL;
    int64_t *points = to ? take(&list, firsts, WRITABLE, 8, &most, "first points") : NULL;
    if (!points) {
        release_all(&list);
        return NULL;
    }
    int32_t *slots = NULL;
    if (most < INT32_MAX / 4) {
        uint64_t room = 64;
        while (room < 2 * (uint64_t)most)
            room *= 2;
        slots = calloc(room, sizeof *slots);
        if (slots) {
            Py_BEGIN_ALLOW_THREADS
            found = group_items(from, n, size, to, points, most, slots, room - 1);
            Py_END_ALLOW_THREADS
        }
    }
    free(slots);
    release_all(&list);
    return PyLong_FromSsize_t(found);
}

/* ---- codes ---- */

/* Codes in -1 ... k-1 replaced by the entries of a table of k + 1, the last for the code -1. */
#define TRANSLATE(name, type)                                                                      \
    static Py_ssize_t name(const void *codes, Py_ssize_t n, const void *table, Py_ssize_t k,       \
                           void *out)                                                              \
    {                                                                                              \
        const type *from = codes, *entry = table;                                                  \
        type *to = out;                                                                            \
        for (Py_ssize_t i = 0; i < n; i++) {                                                       \
            if (from[i] < -1 || from[i] >= k)                                                      \
                return i;                                                                          \
            to[i] = entry[from[i] < 0 ? k : from[i]];                                              \
        }                                                                                          \
        return n;                                                                                  \
    }

TRANSLATE(translate_1, int8_t)
TRANSLATE(translate_2, int16_t)
TRANSLATE(translate_4, int32_t)

static PyObject *translate(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *codes, *table, *answer;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "OOOn", &codes, &table, &answer, &size))
        return NULL;
    if (!is_code_size(size))
        return PyErr_Format(PyExc_ValueError, "codes must be integers");
    buffer_list list = {.count = 0};
    Py_ssize_t n = -1, entries = -1, done;
    const void *from = take(&list, codes, ALIGNED, size, &n, "codes");
    const void *entry = from ? take(&list, table, ALIGNED, size, &entries, "table") : NULL;
    void *to = entry ? take(&list, answer, WRITABLE, size, &n, "new codes") : NULL;
    if (!to) {
        release_all(&list);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    done = (size == 1 ? translate_1 : size == 2 ? translate_2 : translate_4)(from, n, entry,
                                                                             entries - 1, to);
    Py_END_ALLOW_THREADS
    release_all(&list);
    return done < n ? bad_code() : Py_NewRef(Py_None);
}

/* Places in a table whose first row and column are those of the code -1. Returns whether all codes
   have one. */
#define PLACES(name, type, other, word)                                                            \
    static int name(const void *restrict first, const void *restrict second, Py_ssize_t n,         \
                    uint32_t rows, uint32_t columns, uint32_t *restrict places)                    \
    {                                                                                              \
        const type *restrict a = first;                                                            \
        const other *restrict b = second;                                                          \
        const word r = (word)rows, c = (word)columns;                                              \
        word outside = 0;                                                                          \
        for (Py_ssize_t i = 0; i < n; i++) {                                                       \
            const word row = (word)((word)a[i] + 1u), column = (word)((word)b[i] + 1u);            \
            outside |= (row >= r) | (column >= c);                                                 \
            places[i] = (word)((uint32_t)row * c + column);                                        \
        }                                                                                          \
        return !outside;                                                                           \
    }

PLACES(places_few, int8_t, int8_t, uint16_t) /* in tables of at most 2^16 cells */
PLACES(places_1_1, int8_t, int8_t, uint32_t)
PLACES(places_1_2, int8_t, int16_t, uint32_t)
PLACES(places_1_4, int8_t, int32_t, uint32_t)
PLACES(places_2_1, int16_t, int8_t, uint32_t)
PLACES(places_2_2, int16_t, int16_t, uint32_t)
PLACES(places_2_4, int16_t, int32_t, uint32_t)
PLACES(places_4_1, int32_t, int8_t, uint32_t)
PLACES(places_4_2, int32_t, int16_t, uint32_t)
PLACES(places_4_4, int32_t, int32_t, uint32_t)

typedef int placer(const void *, const void *, Py_ssize_t, uint32_t, uint32_t, uint32_t *);

/* By the sizes of both codes. */
static placer *const placers[3][3] = {{places_1_1, places_1_2, places_1_4},
                                      {places_2_1, places_2_2, places_2_4},
                                      {places_4_1, places_4_2, places_4_4}};

static PyObject *count_pairs(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *first, *second, *totals, *weights;
    Py_ssize_t size, other;
    long long rows, columns;
    if (!PyArg_ParseTuple(args, "OnOnLLOO", &first, &size, &second, &other, &rows, &columns,
                          &weights, &totals))
        return NULL;
    if (!is_code_size(size) || !is_code_size(other) || rows < 1 || columns < 1 || rows > INT32_MAX
        || columns > INT32_MAX || rows * columns > INT32_MAX)
        return PyErr_Format(PyExc_ValueError, "impossible codes or numbers of clusters");
    const int weighted = weights != Py_None;
    buffer_list list = {.count = 0};
    Py_ssize_t n = -1, cells = (Py_ssize_t)(rows * columns);
    const char *a = take(&list, first, ALIGNED, size, &n, "codes");
    const char *b = a ? take(&list, second, ALIGNED, other, &n, "codes") : NULL;
    const double *w = b && weighted ? take(&list, weights, ALIGNED, 8, &n, "weights") : NULL;
    void *table = b && (w || !weighted) ? take(&list, totals, WRITABLE, 8, &cells, "table") : NULL;
    int fine = table != NULL;
    if (fine) {
        const int few = size == 1 && other == 1 && cells < 1 << 16;
        placer *const place_block = few ? places_few : placers[order_of(size)][order_of(other)];
        histogram found = {.totals = table, .cells = cells};
        weight_sums sums = {.totals = table, .cells = cells};
        Py_BEGIN_ALLOW_THREADS
        uint32_t places[BLOCK];
        if (weighted)
            begin_sums(&sums);
        else
            begin(&found);
        for (Py_ssize_t start = 0; fine && start < n; start += BLOCK) {
            const Py_ssize_t here = n - start < BLOCK ? n - start : BLOCK;
            fine = place_block(a + start * size, b + start * other, here, (uint32_t)rows,
                               (uint32_t)columns, places);
            if (fine && weighted)
                add_weights(&sums, places, w + start, here);
            else if (fine)
                count(&found, places, here);
        }
        if (weighted)
            end_sums(&sums);
        else
            end(&found);
        Py_END_ALLOW_THREADS
        if (!fine)
            bad_code();
    }
    release_all(&list);
    return fine ? Py_NewRef(Py_None) : NULL;
}

/* ---- the module ---- */

static PyMethodDef methods[] = {
    {"encode", encode, METH_VARARGS,
     "encode(labels, size, signed, low, shift, counts, codes, code_size): codes label - low - shift "
     "of labels from low on, and how many there are of each."},
    {"group", group, METH_VARARGS,
     "group(labels, size, codes, firsts): codes of equal bytes by first appearance; how many."},
    {"translate", translate, METH_VARARGS,
     "translate(codes, table, out, size): entries of a table, the last for the code -1."},
    {"count_pairs", count_pairs, METH_VARARGS,
     "count_pairs(a, size, b, size, rows, columns, weights, table): add points with codes i and j, "
     "or their weights if these are not None, to table[i + 1, j + 1]."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_counting", NULL, -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__counting(void) { return PyModule_Create(&module); }
