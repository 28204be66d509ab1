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

#ifdef __cplusplus
extern "C" {
#endif

#define TANDEM_C_VERSION 1 /* grows whenever something here changes its meaning */
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

#ifdef __cplusplus
}
#endif

#endif
