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

  if (failures == 0) puts("all as expected");
  return failures == 0 ? 0 : 1;
}
