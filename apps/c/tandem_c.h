/* SPDX-License-Identifier: Apache-2.0 */
/* tandem for other languages: JSON documents in, JSON documents out.
 *
 * Every call takes a request (a JSON object, UTF-8), a task or NULL, and a place for the answer. It
 * returns TANDEM_OK and an answer, or TANDEM_FAILED and
 *   {"error": {"kind": "...", "key": "...", "message": "...", "marked": "..."}}
 * with kind one of usage, schema, budget, source, cancelled, internal. `key` is the setting that is
 * wrong ("epsilon", "param.rounds"), or empty. `message` has keys as they are; in `marked` each
 * stands between U+000E and U+000F, for a caller that spells settings in its own way.
 * The answer is always set, and is freed with tandem_free. No exception crosses this border. */
#ifndef TANDEM_C_H
#define TANDEM_C_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TANDEM_C_VERSION 2 /* grows whenever something here changes its meaning */
#define TANDEM_OK 0
#define TANDEM_FAILED 1

#if defined(__GNUC__)
#define TANDEM_C_API __attribute__((visibility("default")))
#else
#define TANDEM_C_API
#endif

TANDEM_C_API int tandem_c_version(void);       /* TANDEM_C_VERSION of the library */
TANDEM_C_API const char* tandem_version(void); /* "1.2.3"; not to be freed */
TANDEM_C_API void tandem_free(char* answer);   /* of any call; NULL is fine */

/* A piece of work that can be watched and stopped. The callback hears {"stage": ..., "step": ...,
 * "share": ...} or {"note": "..."}, on the thread that made the call; a result other than 0 stops
 * the work. tandem_task_cancel may be called from any thread. A task serves one call. */
typedef struct tandem_task tandem_task;
typedef int (*tandem_progress)(void* user, const char* event);
TANDEM_C_API tandem_task* tandem_task_new(tandem_progress progress, void* user);
TANDEM_C_API void tandem_task_cancel(tandem_task* task);
TANDEM_C_API void tandem_task_free(tandem_task* task);

/* {"settings": {"private": path, "public": [path], "epsilon": 1, ...}, "threads": 0, "force":
 * false, "resume": false}; the settings are those of a configuration file (docs/formats.md). Gives
 * {"out": folder, "release": the content of release.json, "budget": sentence}. */
TANDEM_C_API int tandem_synthesize(const char* request, tandem_task* task, char** answer);
/* The same {"settings", "threads"}: what it would do, its cost, time and memory, as 'tandem synth
 * --plan --json' has them under "plan", and as "text". Spends nothing and reads no private data:
 * "private" need not exist, and is only a name. */
TANDEM_C_API int tandem_plan(const char* request, tandem_task* task, char** answer);
/* {"settings", "threads", "force"}: gives {}, or the error with which such a run would end before
 * it looks at a row: wrong settings, a settings.out that is taken, a ledger that does not take it.
 */
TANDEM_C_API int tandem_foresee(const char* request, tandem_task* task, char** answer);
/* {"settings", "target-error": share, "threads"}. Gives {"epsilon"}: the least for which a
 * mechanism that can plan its error expects this one, of as many rows as the settings' "rows". */
TANDEM_C_API int tandem_epsilon_for_error(const char* request, tandem_task* task, char** answer);
/* {"release": folder, "columns": [name], "from-model": false, "memory-limit", "threads"}. Free.
 * Gives {"columns", "labels": [[value]], "estimate": [rows], "stddev": [s or null], "margin95"},
 * cells in row-major order of the schema's columns; stddev is null where only a model says it. */
TANDEM_C_API int tandem_marginal(const char* request, tandem_task* task, char** answer);
/* The same with "workload": a name or a path. Gives {"query": [name], "estimate", "stddev",
 * "margin95"}, each a list. */
TANDEM_C_API int tandem_answers(const char* request, tandem_task* task, char** answer);
/* {"schema": path, "measurements": path, "out": folder, "total", "max-model-mb", "memory-limit",
 * "threads"}: a model of measurements in the format of measurements.json, from wherever they are.
 * Gives {"total", "bytes", "warnings"}; the folder serves tandem_marginal and
 * tandem_answers, its model.bin tandem_make_rows. */
TANDEM_C_API int tandem_estimate(const char* request, tandem_task* task, char** answer);
/* {"release", "out", "where", "rows", "max-model-mb", "seed", "public", "memory-limit", "force",
 * "threads"}. Gives {"out", "release"}. */
TANDEM_C_API int tandem_refit(const char* request, tandem_task* task, char** answer);
/* {"real", "synthetic", "schema", "workload", "group-by": [column], "encoding", "delimiter",
 * "decimal", "records", "threads"}. INTERNAL: it reads private data. */
TANDEM_C_API int tandem_evaluate(const char* request, tandem_task* task, char** answer);
/* {"private": [path], "public": [path], "schema", "person", "rows-per-person", "encoding",
 * "delimiter", "decimal", "records", "threads"}. INTERNAL. Gives {"wrong", "text", "check"}. */
TANDEM_C_API int tandem_check(const char* request, tandem_task* task, char** answer);
/* {"public": [path], "codebook", "ranges", "threads"}. Gives {"toml", "doubts"}. */
TANDEM_C_API int tandem_draft_schema(const char* request, tandem_task* task, char** answer);
/* {"schema": path}. Gives {"schema": the file's own content as JSON}, once it is found to be right.
 */
TANDEM_C_API int tandem_schema(const char* request, tandem_task* task, char** answer);
/* {}. What can run. */
TANDEM_C_API int tandem_mechanisms(const char* request, tandem_task* task, char** answer);
/* {"ledger", "dataset", "epsilon", "delta", "neighbors", "rows-per-person"}. Gives what show does.
 */
TANDEM_C_API int tandem_ledger_create(const char* request, tandem_task* task, char** answer);
/* {"ledger"}. docs/ledger.md has the fields. */
TANDEM_C_API int tandem_ledger_show(const char* request, tandem_task* task, char** answer);
/* {"ledger", "anchors": [hash]}. */
TANDEM_C_API int tandem_ledger_verify(const char* request, tandem_task* task, char** answer);

/* ---- Rows in memory, and rows that lie elsewhere ----
 *
 * Arrow's C data interface, as its specification declares it. A structure that is handed over is
 * consumed: it is released exactly once, also when the call fails, and must not be used again. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/* A run over rows of this process. The request is that of tandem_synthesize, with a display name as
 * settings.private, and may have
 *   {"stream": {"rows": N, "how": "memory" | "hold" | "passes", "again": true}}:
 * as many rows as there are, where that is known; whether their codes are held, or counted batch by
 * batch in as many passes as it takes ("memory", the default, holds what fits); and whether the
 * rows can be read again: where not, they are held or, beyond the memory limit, refused. A row of a
 * batch is a row: `records` is "quoted". `open` is called for each pass, on the calling thread,
 * fills a stream from the first row on and returns 0; the stream is released when the pass is over.
 * Rows must be the same in each pass. What a stream says of an error is not told. */
typedef int (*tandem_open_stream)(void* user, struct ArrowArrayStream* stream);
TANDEM_C_API int tandem_synthesize_stream(const char* request, tandem_task* task,
                                          tandem_open_stream open, void* user, char** answer);

/* A run over rows that are counted where they lie. The request is that of tandem_synthesize, with a
 * display name as settings.private, and may have {"counted": {"rows": N, "most-rows": M}}: at most
 * M rows are then made here where settings.rows states none. `count` gets
 * {"cliques": [[0, 1, 2], ...], "cells": N}, fills the counts of each clique, one after the other
 * in row-major order (the last column fastest), and returns 0; anything else means that the rows
 * could not be counted: the ledger keeps the reservation, and a run with "resume" goes on. It is
 * called on the calling thread. Columns are numbered as tandem_encoder_new lists them. With
 * settings.person, the rows have been through tandem_bound_persons. */
typedef int (*tandem_count)(void* user, const char* request, int64_t* counts, uint64_t cells);
TANDEM_C_API int tandem_synthesize_counted(const char* request, tandem_task* task,
                                           tandem_count count, void* user, char** answer);

/* From batches to blocks of codes. {"schema": the text of a schema file, "kind": "toml" | "json",
 * "person": column or ""}. Gives {"names": [column], "sizes": [codes of each], "bytes": [1 | 2 |
 * 4], "bytes_per_row": N}. Not to be shared between threads. */
typedef struct tandem_encoder tandem_encoder;
TANDEM_C_API int tandem_encoder_new(const char* request, tandem_encoder** encoder, char** answer);
/* One batch, a struct array; both structures are consumed. A cell is never an error. The block,
 * freed with tandem_free, is private: "TDB1", uint32 columns, uint64 rows, uint8 width of each
 * column, uint8 1 with persons or 0, zeros to 8 bytes; then each column's codes, each column with
 * zeros to 8 bytes; with a person column, uint64 high of each row's person, then uint64 low of
 * each; both 0: the row names nobody. Little endian. */
TANDEM_C_API int tandem_encode(tandem_encoder* encoder, struct ArrowArray* batch,
                               struct ArrowSchema* schema, char** block, uint64_t* bytes,
                               char** answer);
TANDEM_C_API void tandem_encoder_free(tandem_encoder* encoder);

/* At most rows_per_person rows of each person among these blocks, which hold all rows of each of
 * their people, as a block without persons. The choice depends on neither the order of rows nor on
 * how they are divided into blocks. {"rows_per_person": m} */
TANDEM_C_API int tandem_bound_persons(const char* request, const char* const* blocks,
                                      const uint64_t* bytes, uint64_t count, char** block,
                                      uint64_t* out_bytes, char** answer);

/* Counts marginals of blocks. {"sizes": [codes of each column], "cliques": [[0, 1, 2], ...],
 * "threads": 1}, the columns of a clique in order. Gives {"cells": N}. Not to be shared between
 * threads. What it reads are true counts. */
typedef struct tandem_counter tandem_counter;
TANDEM_C_API int tandem_counter_new(const char* request, tandem_counter** counter, char** answer);
TANDEM_C_API int tandem_counter_add(tandem_counter* counter, const char* block, uint64_t bytes,
                                    char** answer);
TANDEM_C_API int tandem_counter_read(tandem_counter* counter, int64_t* counts, uint64_t cells,
                                     char** answer);
TANDEM_C_API void tandem_counter_free(tandem_counter* counter);

/* Rows of a release's model (model.bin of its folder, as bytes), wherever they are wanted: the text
 * of a CSV file in UTF-8 with a header, freed with tandem_free. {"schema": text, "kind": "toml" |
 * "json", "rows": N, "seed": S or none, "memory-limit": "2GB", "threads": 1}; give each part of
 * many its own seed. They keep the schema's rules, are not fitted to the workload, and lie evenly
 * in ranges. */
TANDEM_C_API int tandem_make_rows(const char* request, const char* model, uint64_t model_bytes,
                                  char** rows, uint64_t* bytes, char** answer);

#ifdef __cplusplus
}
#endif

#endif
