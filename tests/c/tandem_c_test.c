/* SPDX-License-Identifier: Apache-2.0 */
/* The C door, from C: the header is C, calls give documents, errors have a kind and a key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tandem_c.h"

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "FAILED: %s\n", what);
}

typedef int (*Call)(const char*, tandem_task*, char**);

static void expect_answer(Call call, const char* request, int code, const char* part) {
  char* answer = NULL;
  const int got = call(request, NULL, &answer);
  expect(got == code, request);
  expect(answer != NULL && strstr(answer, part) != NULL, part);
  if (answer != NULL && strstr(answer, part) == NULL) fprintf(stderr, "  answer: %s\n", answer);
  tandem_free(answer);
}

static int stop_at_once(void* user, const char* event) {
  ++*(int*)user;
  expect(event[0] == '{', "an event is an object");
  return 1;
}

static void write_file(const char* path, const char* text, int times) {
  FILE* file = fopen(path, "w");
  if (file == NULL) exit(2);
  fputs("a,b\n", file);
  for (int i = 0; i < times; ++i) fputs(text, file);
  fclose(file);
}

/* ---- Rows in memory: two columns of codes, a and b, and whose rows they are ---- */

#define ROWS 4

static int schemas_released = 0;
static int arrays_released = 0;
static int streams_released = 0;
static int streams_opened = 0;
static int batches_before_failure = -1;

static const int64_t a_codes[ROWS] = {0, 1, 1, 0};
static const int64_t b_codes[ROWS] = {1, 1, 0, 7}; /* 7 is the nearest: 1 */
static const int64_t people[ROWS] = {5, 5, 6, 6};
static const void* a_buffers[2] = {NULL, a_codes};
static const void* b_buffers[2] = {NULL, b_codes};
static const void* people_buffers[2] = {NULL, people};
static const void* no_buffers[1] = {NULL};

static void release_child_schema(struct ArrowSchema* schema) { schema->release = NULL; }
static void release_child_array(struct ArrowArray* array) { array->release = NULL; }

static void release_schema(struct ArrowSchema* schema) {
  ++schemas_released;
  for (int i = 0; i < 3; ++i) {
    schema->children[i]->release(schema->children[i]);
    free(schema->children[i]);
  }
  free(schema->children);
  schema->release = NULL;
}

static void release_array(struct ArrowArray* array) {
  ++arrays_released;
  for (int i = 0; i < 3; ++i) {
    array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  free(array->children);
  array->release = NULL;
}

static void make_schema(struct ArrowSchema* out, const char* last) {
  const char* names[3] = {"a", "b", last};
  memset(out, 0, sizeof *out);
  out->format = "+s";
  out->name = "";
  out->n_children = 3;
  out->children = malloc(3 * sizeof *out->children);
  for (int i = 0; i < 3; ++i) {
    struct ArrowSchema* child = calloc(1, sizeof *child);
    child->format = "l";
    child->name = names[i];
    child->release = release_child_schema;
    out->children[i] = child;
  }
  out->release = release_schema;
}

static void make_array(struct ArrowArray* out) {
  const void** buffers[3] = {a_buffers, b_buffers, people_buffers};
  memset(out, 0, sizeof *out);
  out->length = ROWS;
  out->n_buffers = 1;
  out->buffers = no_buffers;
  out->n_children = 3;
  out->children = malloc(3 * sizeof *out->children);
  for (int i = 0; i < 3; ++i) {
    struct ArrowArray* child = calloc(1, sizeof *child);
    child->length = ROWS;
    child->n_buffers = 2;
    child->buffers = buffers[i];
    child->release = release_child_array;
    out->children[i] = child;
  }
  out->release = release_array;
}

static int next_schema(struct ArrowArrayStream* stream, struct ArrowSchema* out) {
  (void)stream;
  make_schema(out, "who");
  return 0;
}

static int next_array(struct ArrowArrayStream* stream, struct ArrowArray* out) {
  int* left = stream->private_data;
  memset(out, 0, sizeof *out);
  if (batches_before_failure >= 0 && 50 - *left == batches_before_failure) return 5;
  if (*left > 0) {
    --*left;
    make_array(out);
  }
  return 0;
}

static const char* last_error(struct ArrowArrayStream* stream) {
  (void)stream;
  return "the secret of row 4711";
}

static void release_stream(struct ArrowArrayStream* stream) {
  ++streams_released;
  free(stream->private_data);
  stream->release = NULL;
}

static int open_stream(void* user, struct ArrowArrayStream* stream) {
  ++streams_opened;
  if (user != NULL) return 1;
  memset(stream, 0, sizeof *stream);
  stream->get_schema = next_schema;
  stream->get_next = next_array;
  stream->get_last_error = last_error;
  stream->release = release_stream;
  stream->private_data = malloc(sizeof(int));
  *(int*)stream->private_data = 50;
  return 0;
}

#define SCHEMA "{\\\"a\\\": 2, \\\"b\\\": 2}"

static void encode_and_count(void) {
  char* answer = NULL;
  tandem_encoder* encoder = NULL;
  expect(tandem_encoder_new("{\"schema\": \"" SCHEMA "\", \"kind\": \"json\", \"person\": \"who\"}",
                            &encoder, &answer) == TANDEM_OK,
         "an encoder");
  expect(answer != NULL && strstr(answer, "\"bytes_per_row\":2") != NULL, "its layout");
  tandem_free(answer);

  struct ArrowSchema schema;
  struct ArrowArray array;
  make_schema(&schema, "who");
  make_array(&array);
  char* block = NULL;
  uint64_t bytes = 0;
  expect(tandem_encode(encoder, &array, &schema, &block, &bytes, &answer) == TANDEM_OK, "a block");
  tandem_free(answer);
  expect(bytes == 24 + 8 + 8 + 2 * 8 * ROWS, "its size");
  expect(block != NULL && memcmp(block, "TDB1\2\0\0\0\4\0\0\0\0\0\0\0\1\1\1\0\0\0\0\0", 24) == 0,
         "its head");
  expect(memcmp(block + 24, "\0\1\1\0\0\0\0\0\1\1\0\1\0\0\0\0", 16) == 0, "its codes");
  expect(memcmp(block + 40, block + 48, 8) == 0 && memcmp(block + 40, block + 56, 8) != 0,
         "its people");
  expect(schemas_released == 1 && arrays_released == 1, "released once");
  expect(schema.release == NULL && array.release == NULL, "taken over");

  /* Again, with structures that are released already, and with a column that is missing. */
  char* none = NULL;
  uint64_t no_bytes = 9;
  expect(tandem_encode(encoder, &array, &schema, &none, &no_bytes, &answer) == TANDEM_FAILED,
         "released already");
  expect(none == NULL && no_bytes == 0, "no block");
  tandem_free(answer);
  make_schema(&schema, "somebody");
  make_array(&array);
  expect(tandem_encode(encoder, &array, &schema, &none, &no_bytes, &answer) == TANDEM_FAILED,
         "a missing column");
  expect(strstr(answer, "'who'") != NULL && strstr(answer, "\"key\":\"person\"") != NULL,
         "is named");
  tandem_free(answer);
  expect(schemas_released == 2 && arrays_released == 2, "released once, also on failure");
  make_schema(&schema, "who");
  make_array(&array);
  expect(tandem_encode(NULL, &array, &schema, &none, &no_bytes, NULL) == TANDEM_FAILED, "nothing");
  expect(schemas_released == 3 && arrays_released == 3, "released once, whatever happens");
  tandem_encoder_free(encoder);
  tandem_encoder_free(NULL);

  const char* blocks[2] = {block, block};
  const uint64_t sizes[2] = {bytes, bytes};
  char* shares = NULL;
  uint64_t share_bytes = 0;
  expect(tandem_bound_persons("{\"rows_per_person\": 1}", blocks, sizes, 2, &shares, &share_bytes,
                              &answer) == TANDEM_OK,
         "shares");
  tandem_free(answer);
  expect(share_bytes == 24 + 8 + 8 && shares[8] == 2, "one row of two people");

  tandem_counter* counter = NULL;
  expect(tandem_counter_new("{\"sizes\": [2, 2], \"cliques\": [[0, 1], []]}", &counter, &answer) ==
             TANDEM_OK,
         "a counter");
  expect(strstr(answer, "\"cells\":5") != NULL, "its cells");
  tandem_free(answer);
  for (int i = 0; i < 3; ++i) {
    expect(tandem_counter_add(counter, block, bytes, &answer) == TANDEM_OK, "added");
    tandem_free(answer);
  }
  expect(tandem_counter_add(counter, block, bytes - 1, &answer) == TANDEM_FAILED, "cut short");
  tandem_free(answer);
  int64_t counts[5] = {0};
  expect(tandem_counter_read(counter, counts, 5, &answer) == TANDEM_OK, "counts");
  tandem_free(answer);
  const int64_t expected[5] = {0, 6, 3, 3, 12};
  expect(memcmp(counts, expected, sizeof counts) == 0, "of each cell");
  expect(tandem_counter_read(counter, counts, 4, &answer) == TANDEM_FAILED, "of another size");
  tandem_free(answer);
  tandem_counter_free(counter);
  tandem_counter_free(NULL);
  expect(tandem_counter_new("{\"sizes\": [2], \"cliques\": [[1]]}", &counter, &answer) ==
             TANDEM_FAILED,
         "a column that is not there");
  tandem_free(answer);
  tandem_free(block);
  tandem_free(shares);
}

static int count_there(void* user, const char* request, int64_t* counts, uint64_t cells) {
  ++*(int*)user;
  tandem_counter* counter = NULL;
  char* answer = NULL;
  char text[400];
  const char* cliques = strstr(request, "\"cliques\"");
  const char* end = cliques == NULL ? NULL : strstr(cliques, "]]");
  if (end == NULL) return 1;
  snprintf(text, sizeof text, "{\"sizes\": [2, 2], %.*s]]}", (int)(end - cliques), cliques);
  expect(tandem_counter_new(text, &counter, &answer) == TANDEM_OK, text);
  tandem_free(answer);
  tandem_encoder* encoder = NULL;
  expect(tandem_encoder_new("{\"schema\": \"" SCHEMA "\", \"kind\": \"json\"}", &encoder,
                            &answer) == TANDEM_OK,
         "an encoder");
  tandem_free(answer);
  for (int i = 0; i < 50; ++i) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    char* block = NULL;
    uint64_t bytes = 0;
    make_schema(&schema, "who");
    make_array(&array);
    expect(tandem_encode(encoder, &array, &schema, &block, &bytes, &answer) == TANDEM_OK,
           "a block");
    tandem_free(answer);
    expect(tandem_counter_add(counter, block, bytes, &answer) == TANDEM_OK, "added");
    tandem_free(answer);
    tandem_free(block);
  }
  expect(tandem_counter_read(counter, counts, cells, &answer) == TANDEM_OK, "counts");
  tandem_free(answer);
  tandem_counter_free(counter);
  tandem_encoder_free(encoder);
  return 0;
}

static int count_nothing(void* user, const char* request, int64_t* counts, uint64_t cells) {
  (void)user;
  (void)request;
  (void)counts;
  (void)cells;
  return 1;
}

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char* out = calloc(1, 1 << 20);
  if (fread(out, 1, (1 << 20) - 1, file) == 0) out[0] = '\0';
  fclose(file);
  return out;
}

static void expect_same_file(const char* path, const char* other) {
  char* one = read_file(path);
  char* two = read_file(other);
  expect(one != NULL && two != NULL && strcmp(one, two) == 0, other);
  free(one);
  free(two);
}

#define SETTINGS(out)                                                                         \
  "\"settings\": {\"private\": \"the frame\", \"schema\": \"c_schema.json\", \"out\": \"" out \
  "\", \"epsilon\": 1, \"mechanism\": \"independent\", \"seed\": 1}, \"force\": true"

/* The same rows from a file, a stream held, a stream in passes, and counted elsewhere. */
static void release_given_rows(void) {
  write_file("c_given.csv", "0,1\n1,1\n1,0\n0,7\n", 50);
  expect_answer(
      tandem_synthesize,
      "{\"settings\": {\"private\": \"c_given.csv\", \"schema\": \"c_schema.json\", "
      "\"out\": \"c_file\", \"epsilon\": 1, \"mechanism\": \"independent\", \"seed\": 1}, "
      "\"force\": true}",
      TANDEM_OK, "\"guarantee\"");
  char* answer = NULL;
  int code = tandem_synthesize_stream("{" SETTINGS("c_held") "}", NULL, open_stream, NULL, &answer);
  expect(code == TANDEM_OK, "a stream, held");
  expect(strstr(answer, "\"records\":\"quoted\"") != NULL, "a row is a row");
  tandem_free(answer);
  expect(streams_opened == 1 && streams_released == 1, "opened and released once");
  code = tandem_synthesize_stream("{" SETTINGS("c_passes") ", \"stream\": {\"how\": \"passes\"}}",
                                  NULL, open_stream, NULL, &answer);
  expect(code == TANDEM_OK, "a stream, in passes");
  tandem_free(answer);
  expect(streams_opened >= 2 && streams_opened == streams_released, "each opened, each released");
  int asked = 0;
  code = tandem_synthesize_counted("{" SETTINGS("c_counted") ", \"counted\": {\"rows\": 200}}",
                                   NULL, count_there, &asked, &answer);
  expect(code == TANDEM_OK, "counted elsewhere");
  tandem_free(answer);
  expect(asked > 0, "was asked");
  static const char* const folders[3] = {"c_held", "c_passes", "c_counted"};
  for (int i = 0; i < 3; ++i) {
    char path[100];
    snprintf(path, sizeof path, "%s/synthetic.csv", folders[i]);
    expect_same_file("c_file/synthetic.csv", path);
    snprintf(path, sizeof path, "%s/measurements.json", folders[i]);
    expect_same_file("c_file/measurements.json", path);
  }

  code =
      tandem_synthesize_counted("{" SETTINGS("c_failed") "}", NULL, count_nothing, NULL, &answer);
  expect(code == TANDEM_FAILED && strstr(answer, "could not be counted") != NULL, "not counted");
  expect(strstr(answer, "\"kind\":\"source\"") != NULL, "a fault of the source");
  tandem_free(answer);
  code = tandem_synthesize_stream("{" SETTINGS("c_failed") "}", NULL, open_stream, &asked, &answer);
  expect(code == TANDEM_FAILED && strstr(answer, "\"kind\":\"source\"") != NULL, "not opened");
  tandem_free(answer);
  batches_before_failure = 3;
  code = tandem_synthesize_stream("{" SETTINGS("c_failed") "}", NULL, open_stream, NULL, &answer);
  expect(code == TANDEM_FAILED && strstr(answer, "to their end") != NULL, "broken off");
  expect(strstr(answer, "4711") == NULL, "and nothing of what the stream says");
  tandem_free(answer);
  batches_before_failure = -1;
  expect(streams_opened - 1 == streams_released, "each opened, each released, also on failure");
  code = tandem_synthesize_stream("{\"settings\": {\"private\": \"x\", \"records\": \"lines\"}}",
                                  NULL, open_stream, NULL, &answer);
  expect(code == TANDEM_FAILED && strstr(answer, "\"key\":\"records\"") != NULL, "rows are rows");
  tandem_free(answer);
}

/* Rows of a release's model, as an executor makes them. */
static void make_rows(void) {
  FILE* file = fopen("c_file/model.bin", "rb");
  if (file == NULL) {
    expect(0, "the release has a model");
    return;
  }
  char* model = malloc(1 << 20);
  const uint64_t bytes = fread(model, 1, 1 << 20, file);
  fclose(file);
  const char* request = "{\"schema\": \"" SCHEMA "\", \"kind\": \"json\", \"rows\": 3, \"seed\": 5}";
  char* rows = NULL;
  char* again = NULL;
  char* answer = NULL;
  uint64_t size = 0;
  uint64_t size_again = 0;
  expect(tandem_make_rows(request, model, bytes, &rows, &size, &answer) == TANDEM_OK, "rows");
  tandem_free(answer);
  expect(size == 4 + 3 * 4 && memcmp(rows, "a,b\n", 4) == 0, "with a header");
  expect(tandem_make_rows(request, model, bytes, &again, &size_again, &answer) == TANDEM_OK, "again");
  tandem_free(answer);
  expect(size == size_again && memcmp(rows, again, size) == 0, "the same of one seed");
  tandem_free(rows);
  tandem_free(again);
  expect(tandem_make_rows(request, model, bytes - 1, &rows, &size, &answer) == TANDEM_FAILED, "cut");
  expect(rows == NULL && strstr(answer, "\"kind\":\"usage\"") != NULL, "is said");
  tandem_free(answer);
  free(model);
}

int main(void) {
  expect(tandem_c_version() == TANDEM_C_VERSION, "the header's version is the library's");
  expect(strchr(tandem_version(), '.') != NULL, "a version");
  tandem_free(NULL);

  expect_answer(tandem_schema, "{\"schema\": \"nowhere.toml\"}", TANDEM_FAILED, "nowhere.toml");
  expect_answer(tandem_mechanisms, "{}", TANDEM_OK, "independent");
  expect_answer(tandem_mechanisms, "{\"x\": 1}", TANDEM_FAILED, "\"kind\":\"usage\"");
  expect_answer(tandem_mechanisms, "{", TANDEM_FAILED, "\"kind\":\"usage\"");
  expect_answer(tandem_mechanisms, NULL, TANDEM_FAILED, "\"kind\":\"usage\"");
  expect(tandem_mechanisms("{}", NULL, NULL) == TANDEM_FAILED, "no place for an answer");

  write_file("c_private.csv", "0,1\n1,0\n1,1\n", 100);
  FILE* schema = fopen("c_schema.json", "w");
  if (schema == NULL) return 2;
  fputs("{\"a\": 2, \"b\": 2}", schema);
  fclose(schema);
  expect_answer(tandem_synthesize,
                "{\"settings\": {\"private\": \"c_private.csv\", \"schema\": \"c_schema.json\", "
                "\"out\": \"c_release\"}}",
                TANDEM_FAILED, "\"key\":\"epsilon\"");
  const char* run =
      "{\"settings\": {\"private\": \"c_private.csv\", \"schema\": \"c_schema.json\", "
      "\"out\": \"c_release\", \"epsilon\": 1, \"mechanism\": \"independent\", \"seed\": 1}, "
      "\"force\": true}";
  expect_answer(tandem_synthesize, run, TANDEM_OK, "\"guarantee\"");
  expect_answer(tandem_refit,
                "{\"release\": \"c_release\", \"out\": \"c_refit\", \"rows\": 5, \"force\": true}",
                TANDEM_OK, "\"release\"");

  int heard = 0;
  char* answer = NULL;
  tandem_task* task = tandem_task_new(stop_at_once, &heard);
  expect(tandem_synthesize(run, task, &answer) == TANDEM_FAILED, "a callback stops the work");
  expect(heard > 0, "the callback was called");
  expect(answer != NULL && strstr(answer, "\"kind\":\"cancelled\"") != NULL, "cancelled");
  tandem_free(answer);
  tandem_task_free(task);

  encode_and_count();
  release_given_rows();
  make_rows();

  if (failures == 0) puts("all as expected");
  return failures == 0 ? 0 : 1;
}
