/* The Python module: checks its arguments, releases the GIL, and calls a kernel.
   Only the stable ABI, so that one build serves every Python from 3.11 on. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <string.h>

#include "lift.h"

static const kernel_set *kernels;

/* ---- choosing an instruction set ---- */

static int runs_here(const kernel_set *set)
{
#ifdef LIFTCLUSTER_X86
    __builtin_cpu_init();
    if (set == &kernels_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (set == &kernels_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return set == &kernels_portable;
}

static const kernel_set *const all_sets[] = {
#ifdef LIFTCLUSTER_X86
    &kernels_avx512,
    &kernels_avx2,
#endif
    &kernels_portable,
};
#define N_SETS (sizeof all_sets / sizeof *all_sets)

static PyObject *instruction_sets(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < N_SETS; i++) {
        if (!runs_here(all_sets[i]))
            continue;
        PyObject *name = PyUnicode_FromString(all_sets[i]->name);
        if (!name || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *use(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    for (size_t i = 0; i < N_SETS; i++)
        if (!strcmp(all_sets[i]->name, name) && runs_here(all_sets[i])) {
            kernels = all_sets[i];
            Py_RETURN_NONE;
        }
    return PyErr_Format(PyExc_ValueError, "this machine has no instruction set '%s'", name);
}

static PyObject *in_use(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_FromString(kernels->name);
}

/* ---- buffers ---- */

#define MOST_BUFFERS 10

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    int count;
} buffer_list;

static void release_all(buffer_list *list)
{
    while (list->count > 0)
        PyBuffer_Release(&list->views[--list->count]);
}

static int has_format(const Py_buffer *view, const char *formats)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '=' || *format == '@')
        format++;
    return *format && !format[1] && strchr(formats, *format);
}

/* A contiguous buffer of at least `count` numbers of one of the formats. */
static void *take_buffer(buffer_list *list, PyObject *object, const char *formats, Py_ssize_t size,
                         int64_t count, int writable, const char *what)
{
    Py_buffer *view = &list->views[list->count];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_ND | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return NULL;
    list->count++;
    if (!has_format(view, formats) || view->itemsize != size) {
        PyErr_Format(PyExc_TypeError, "%s has the wrong type of numbers", what);
        return NULL;
    }
    if (count < 0 || view->len / size < count) {
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers, needs %lld", what, view->len / size,
                     (long long)count);
        return NULL;
    }
    return view->buf;
}

/* A writable array of doubles with `rows` rows of at least `columns` columns. */
static double *take_rows(buffer_list *list, PyObject *object, int64_t rows, int64_t columns,
                         int64_t *ld)
{
    double *start = take_buffer(list, object, "d", 8, 0, 1, "sums");
    if (!start)
        return NULL;
    const Py_buffer *view = &list->views[list->count - 1];
    if (view->ndim != 2 || view->shape[0] != rows || view->shape[1] < columns) {
        PyErr_Format(PyExc_ValueError, "sums must have %lld rows of at least %lld columns",
                     (long long)rows, (long long)columns);
        return NULL;
    }
    *ld = view->shape[1];
    return start;
}

/* The product of two counts, or -1 on overflow. */
static int64_t product(int64_t a, int64_t b)
{
    int64_t c;
    return __builtin_mul_overflow(a, b, &c) ? -1 : c;
}

static int take_points(buffer_list *list, PyObject *object, point_set *points, int64_t *n,
                       int64_t *d)
{
    Py_buffer *view = &list->views[list->count];
    if (PyObject_GetBuffer(object, view, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return 0;
    list->count++;
    if (view->ndim != 2) {
        PyErr_SetString(PyExc_ValueError, "points must be two-dimensional");
        return 0;
    }
    if (has_format(view, "f") && view->itemsize == 4)
        points->element = ELEMENT_FLOAT;
    else if (has_format(view, "d") && view->itemsize == 8)
        points->element = ELEMENT_DOUBLE;
    else if (has_format(view, "B") && view->itemsize == 1)
        points->element = ELEMENT_BYTE;
    else {
        PyErr_SetString(PyExc_TypeError, "points must be float32, float64 or uint8");
        return 0;
    }
    if ((view->strides[0] | view->strides[1] | (intptr_t)view->buf) % view->itemsize) {
        PyErr_SetString(PyExc_ValueError, "points must be aligned");
        return 0;
    }
    points->data = view->buf;
    points->row_stride = view->strides[0];
    points->column_stride = view->strides[1];
    *n = view->shape[0];
    *d = view->shape[1];
    return 1;
}

/* ---- the map ---- */

#define MOST_PHASES ((int64_t)1 << 30) /* and vectors, and features of a point: products fit */

static int is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/* (kind, n_phases, padded, centre, weights, signs, lengths, axes, reach) for d coordinates. */
static int take_map(buffer_list *list, PyObject *tuple, int64_t d, int precision, lift_map *map)
{
    int kind;
    long long n_phases, padded;
    PyObject *centre, *weights, *signs, *lengths, *axes;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "the map must be a tuple");
        return 0;
    }
    if (!PyArg_ParseTuple(tuple, "iLLOOOOOd", &kind, &n_phases, &padded, &centre, &weights, &signs,
                          &lengths, &axes, &map->reach))
        return 0;
    const char *format = precision ? "d" : "f";
    Py_ssize_t size = precision ? 8 : 4;
    map->kind = (enum map_kind)kind;
    map->d = d;
    map->n_phases = n_phases;
    map->padded = padded;
    if (d < 1 || d > MOST_PHASES || kind < MAP_DENSE || kind > MAP_VALUES
        || n_phases < (kind == MAP_GRID ? 0 : 1) || n_phases > MOST_PHASES) {
        PyErr_SetString(PyExc_ValueError, "the map does not fit the points");
        return 0;
    }
    if (!(map->centre = take_buffer(list, centre, "d", 8, d, 0, "centre")))
        return 0;
    int landmarks = kind == MAP_PRODUCTS || kind == MAP_DIFFERENCES;
    if (kind == MAP_DENSE || kind == MAP_GRID || landmarks) {
        int64_t count = kind == MAP_GRID ? d : weight_rows(map) * n_phases;
        if (!(map->weights = take_buffer(list, weights, format, size, count, 0, "frequencies")))
            return 0;
    }
    if (landmarks
        && !(map->lengths = take_buffer(list, lengths, format, size, 1, 0, "factor of exponents")))
        return 0;
    if ((kind == MAP_GIVEN || kind == MAP_EXPONENTS || kind == MAP_VALUES) && n_phases != d) {
        PyErr_SetString(PyExc_ValueError, "given phases must be as many as the map has");
        return 0;
    }
    if (kind == MAP_STRUCTURED) {
        if (!is_power_of_two(padded) || padded < d || padded < 64 || padded > MOST_PHASES) {
            PyErr_SetString(PyExc_ValueError,
                            "blocks must have a power of two of at least d and 64 frequencies");
            return 0;
        }
        int64_t blocks = (n_phases + padded - 1) / padded;
        map->signs = take_buffer(list, signs, "B", 1, blocks * 3 * padded, 0, "signs");
        map->lengths =
            map->signs ? take_buffer(list, lengths, format, size, n_phases, 0, "lengths") : NULL;
        if (!map->lengths)
            return 0;
    }
    if (kind == MAP_GRID) {
        if (d > MOST_AXES || !PyTuple_Check(axes) || PyTuple_Size(axes) != d) {
            PyErr_SetString(PyExc_ValueError, "a grid has one to three axes, one for each feature");
            return 0;
        }
        for (int64_t q = 0; q < d; q++) {
            map->axis[q] = PyLong_AsLongLong(PyTuple_GetItem(axes, q));
            if (PyErr_Occurred())
                return 0;
            if (map->axis[q] < 0 || map->axis[q] > MOST_MULTIPLES) {
                PyErr_Format(PyExc_ValueError, "an axis has at most %d multiples", MOST_MULTIPLES);
                return 0;
            }
        }
    }
    return 1;
}

/* ---- calls ---- */

static PyObject *outcome(int64_t status)
{
    if (status == LIFT_NO_MEMORY)
        return PyErr_NoMemory();
    if (status == LIFT_BAD_LABEL) {
        PyErr_SetString(PyExc_ValueError, "a label is not below the number of clusters");
        return NULL;
    }
    return PyLong_FromLongLong(status); /* -1, or the first row that cannot be lifted */
}

static int check_rows(long long start, long long stop, int64_t n)
{
    if (start < 0 || stop < start || stop > n) {
        PyErr_SetString(PyExc_ValueError, "rows lie outside the points");
        return 0;
    }
    return 1;
}

typedef struct {
    membership *parts;
    buffer_list *buffers; /* one list for each part */
    int64_t m, n_clusters;
} member_table;

static void release_members(member_table *table)
{
    for (int64_t p = 0; table->buffers && p < table->m; p++)
        release_all(&table->buffers[p]);
    PyMem_Free(table->buffers);
    PyMem_Free(table->parts);
}

/* (k, weights or None, codes) or (k, weights or None, indptr, indices, shares) */
static int take_part(PyObject *tuple, buffer_list *list, membership *part, int64_t n)
{
    long long k;
    PyObject *weights, *a, *indices = NULL, *shares = NULL;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "each partition must be a tuple");
        return 0;
    }
    if (!PyArg_ParseTuple(tuple, "LOO|OO", &k, &weights, &a, &indices, &shares))
        return 0;
    part->k = k;
    if (k < 0 || k > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a partition has an impossible number of clusters");
        return 0;
    }
    if (weights != Py_None
        && !(part->weights = take_buffer(list, weights, "d", 8, n, 0, "weights")))
        return 0;
    if (!indices)
        return (part->codes = take_buffer(list, a, "il", 4, n, 0, "codes")) != NULL;
    if (!shares) {
        PyErr_SetString(PyExc_TypeError, "memberships need indices and shares");
        return 0;
    }
    if (!(part->indptr = take_buffer(list, a, "lq", 8, n + 1, 0, "indptr")))
        return 0;
    int64_t count = part->indptr[n];
    for (int64_t i = 0; i < n; i++)
        if (part->indptr[i] < 0 || part->indptr[i] > part->indptr[i + 1]) {
            PyErr_SetString(PyExc_ValueError, "indptr must not fall");
            return 0;
        }
    return (part->indices = take_buffer(list, indices, "il", 4, count, 0, "indices"))
        && (part->shares = take_buffer(list, shares, "d", 8, count, 0, "shares"));
}

static int take_members(PyObject *tuple, member_table *table, int64_t n)
{
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "partitions must be a tuple");
        return 0;
    }
    Py_ssize_t m = PyTuple_Size(tuple);
    table->parts = PyMem_Calloc((size_t)m + 1, sizeof *table->parts);
    table->buffers = PyMem_Calloc((size_t)m + 1, sizeof *table->buffers);
    if (!table->parts || !table->buffers) {
        PyErr_NoMemory();
        return 0;
    }
    table->m = m;
    for (Py_ssize_t p = 0; p < m; p++) {
        table->parts[p].offset = table->n_clusters;
        if (!take_part(PyTuple_GetItem(tuple, p), &table->buffers[p], &table->parts[p], n))
            return 0;
        table->n_clusters += table->parts[p].k;
    }
    return 1;
}

static PyObject *sums(PyObject *self, PyObject *args)
{
    (void)self;
    int precision;
    long long start, stop;
    PyObject *map_tuple, *X, *member_tuple, *out;
    if (!PyArg_ParseTuple(args, "pOOLLOO", &precision, &map_tuple, &X, &start, &stop,
                          &member_tuple, &out))
        return NULL;
    buffer_list list = {.count = 0};
    member_table table = {0};
    lift_map map = {0};
    point_set points;
    int64_t n, d, ld, status = LIFT_DONE;
    double *totals;
    int fine = take_points(&list, X, &points, &n, &d) && check_rows(start, stop, n)
        && take_map(&list, map_tuple, d, precision, &map) && take_members(member_tuple, &table, n)
        && (totals = take_rows(&list, out, table.n_clusters, feature_count(&map), &ld));
    if (fine) {
        membership_list members = {table.parts, table.m};
        Py_BEGIN_ALLOW_THREADS
        status = kernels->sums[precision](&map, &points, start, stop, &members, table.n_clusters,
                                          totals, ld);
        Py_END_ALLOW_THREADS
    }
    release_members(&table);
    release_all(&list);
    return fine ? outcome(status) : NULL;
}

static PyObject *scores(PyObject *self, PyObject *args)
{
    (void)self;
    int precision;
    long long start, stop, k;
    PyObject *map_tuple, *X, *vectors, *out;
    if (!PyArg_ParseTuple(args, "pOOLLOLO", &precision, &map_tuple, &X, &start, &stop, &vectors, &k,
                          &out))
        return NULL;
    buffer_list list = {.count = 0};
    lift_map map = {0};
    point_set points;
    int64_t n, d, status = LIFT_DONE;
    const void *V;
    double *answer;
    int fine = take_points(&list, X, &points, &n, &d) && check_rows(start, stop, n)
        && take_map(&list, map_tuple, d, precision, &map)
        && (V = take_buffer(&list, vectors, precision ? "d" : "f", precision ? 8 : 4,
                            k < 0 || k > MOST_PHASES ? -1 : k * feature_count(&map), 0, "vectors"))
        && (answer = take_buffer(&list, out, "d", 8, product(stop - start, k), 1, "scores"));
    if (fine) {
        Py_BEGIN_ALLOW_THREADS
        status = kernels->scores[precision](&map, &points, start, stop, V, k, answer);
        Py_END_ALLOW_THREADS
    }
    release_all(&list);
    return fine ? outcome(status) : NULL;
}

static PyObject *assign(PyObject *self, PyObject *args)
{
    (void)self;
    int precision;
    long long start, stop, k;
    PyObject *map_tuple, *X, *vectors, *units, *weights, *scores, *sums;
    if (!PyArg_ParseTuple(args, "pOOLLOLOOOO", &precision, &map_tuple, &X, &start, &stop, &vectors,
                          &k, &units, &weights, &scores, &sums))
        return NULL;
    if (k < 1 || k > INT32_MAX)
        return PyErr_Format(PyExc_ValueError, "an impossible number of vectors");
    buffer_list list = {.count = 0};
    lift_map map = {0};
    point_set points;
    assign_call call = {.k = k};
    int64_t n, d, status = LIFT_DONE;
    int fine = take_points(&list, X, &points, &n, &d) && check_rows(start, stop, n)
        && take_map(&list, map_tuple, d, precision, &map);
    if (fine && map.kind <= MAP_GRID) {
        PyErr_SetString(PyExc_ValueError, "this map cannot assign points");
        fine = 0;
    }
    fine = fine
        && (call.vectors = take_buffer(&list, vectors, precision ? "d" : "f", precision ? 8 : 4,
                                       product(k, feature_count(&map)), 0, "vectors"))
        && (call.units = take_buffer(&list, units, "d", 8, k, 0, "units"))
        && (weights == Py_None
            || (call.weights = take_buffer(&list, weights, "d", 8, n, 0, "weights")))
        && (call.scores = take_buffer(&list, scores, "d", 8, product(stop - start, k), 1, "scores"))
        && (call.sums = take_rows(&list, sums, k, feature_count(&map), &call.ld));
    if (fine) {
        Py_BEGIN_ALLOW_THREADS
        status = kernels->assign[precision](&map, &points, start, stop, &call);
        Py_END_ALLOW_THREADS
    }
    release_all(&list);
    return fine ? outcome(status) : NULL;
}

static PyObject *features(PyObject *self, PyObject *args)
{
    (void)self;
    int precision;
    long long start, stop;
    PyObject *map_tuple, *X, *out;
    if (!PyArg_ParseTuple(args, "pOOLLO", &precision, &map_tuple, &X, &start, &stop, &out))
        return NULL;
    buffer_list list = {.count = 0};
    lift_map map = {0};
    point_set points;
    int64_t n, d, status = LIFT_DONE;
    void *answer;
    int fine = take_points(&list, X, &points, &n, &d) && check_rows(start, stop, n)
        && take_map(&list, map_tuple, d, precision, &map)
        && (answer = take_buffer(&list, out, precision ? "d" : "f", precision ? 8 : 4,
                                 product(stop - start, feature_count(&map)), 1, "features"));
    if (fine) {
        Py_BEGIN_ALLOW_THREADS
        status = kernels->features[precision](&map, &points, start, stop, answer);
        Py_END_ALLOW_THREADS
    }
    release_all(&list);
    return fine ? outcome(status) : NULL;
}

static PyObject *nearest(PyObject *self, PyObject *args)
{
    (void)self;
    long long n, p, d, k;
    double factor;
    int is_double;
    PyObject *values, *limits, *points, *places, *positions, *squares;
    if (!PyArg_ParseTuple(args, "pLLLLOOdOOOO", &is_double, &n, &p, &d, &k, &values, &limits,
                          &factor, &points, &places, &positions, &squares))
        return NULL;
    if (n < 0 || d < 0 || p < 1 || p > INT32_MAX || k < 1 || k > MOST_NEAREST || k > p)
        return PyErr_Format(PyExc_ValueError, "impossible numbers of points, places or neighbours");
    buffer_list list = {.count = 0};
    const char *format = is_double ? "d" : "f";
    const int size = is_double ? 8 : 4;
    nearest_call call = {.n = n, .p = p, .d = d, .k = k, .factor = factor, .is_double = is_double};
    int fine = (call.values = take_buffer(&list, values, "f", 4, product(n, p), 1, "values"))
        && (call.limits = take_buffer(&list, limits, "f", 4, n, 0, "limits"))
        && (call.points = take_buffer(&list, points, format, size, product(n, d), 0, "points"))
        && (call.places = take_buffer(&list, places, format, size, product(p, d), 0, "places"))
        && (call.positions = take_buffer(&list, positions, "il", 4, product(n, k), 1, "positions"))
        && (call.squares = take_buffer(&list, squares, "d", 8, product(n, k), 1, "squares"));
    if (fine) {
        Py_BEGIN_ALLOW_THREADS
        kernels->nearest(&call);
        Py_END_ALLOW_THREADS
    }
    release_all(&list);
    if (!fine)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"instruction_sets", instruction_sets, METH_NOARGS, "Those that run here, fastest first."},
    {"use", use, METH_VARARGS, "use(name): compute with this instruction set from now on."},
    {"in_use", in_use, METH_NOARGS, "The instruction set in use."},
    {"sums", sums, METH_VARARGS,
     "sums(double, map, X, start, stop, members, out): add the features of rows to out."},
    {"scores", scores, METH_VARARGS,
     "scores(double, map, X, start, stop, vectors, k, out): inner products of features of rows."},
    {"features", features, METH_VARARGS,
     "features(double, map, X, start, stop, out): the features of rows."},
    {"assign", assign, METH_VARARGS,
     "assign(double, map, X, start, stop, vectors, k, units, weights, scores, sums): scores of "
     "rows, and sums by their largest score."},
    {"nearest", nearest, METH_VARARGS,
     "nearest(double, n, p, d, k, values, limits, factor, points, places, positions, squares): the k "
     "nearest places."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernels", NULL, -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void)
{
    for (size_t i = N_SETS; i-- > 0;)
        if (runs_here(all_sets[i]))
            kernels = all_sets[i];
    return PyModule_Create(&module);
}
