/* SPDX-License-Identifier: MIT */
/* json.c - for ./redzone bench programs: cJSON reads and prints a document of 1,000 objects, 20 times. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS 1000
#define ROUNDS	20

static char document[OBJECTS * 120];

int main(void)
{
	size_t at = 0, total = 0;

	at += (size_t)sprintf(document, "[");
	for (int i = 0; i < OBJECTS; i++)
		at += (size_t)sprintf(document + at,
				      "%s{\"id\":%d,\"name\":\"object number "
				      "%d\",\"on\":%s,\"values\":[%d,%d,%d]}",
				      i ? "," : "", i, i * 7, i % 3 ? "true" : "false", i, i * i,
				      i % 100);
	sprintf(document + at, "]");
	for (int i = 0; i < ROUNDS; i++) {
		cJSON *tree = cJSON_Parse(document);
		char *printed = cJSON_PrintUnformatted(tree);

		if (!printed || strcmp(printed, document) != 0)
			return 1;
		total += strlen(printed);
		free(printed);
		cJSON_Delete(tree);
	}
	printf("result %zu\n", total);
	return 0;
}
