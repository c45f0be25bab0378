/*
 * Writes one JSON document into memory given by the caller; nothing reaches a file before it is complete.
 *
 * Begin with json_begin, then one value. Inside an object every call names a key, inside an array and at
 * the top the key is NULL. json_complete says whether a whole document fits and nothing is left open.
 *
 * Limits: no pretty printing, no numbers beyond 64 bits, eight levels; text that is no UTF-8 gets
 * replacement characters. The caller keeps keys apart.
 */
#ifndef KATALOG_JSON_H
#define KATALOG_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_LEVELS = 8 };

struct json {
	char *text;
	size_t capacity_bytes, used_bytes;
	unsigned int level;
	bool begun[JSON_LEVELS + 1]; /* whether the level holds a value already */
	bool faulty;
};

void json_begin(struct json *json, char *text, size_t capacity_bytes);
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);
void json_string(struct json *json, const char *key, const char *value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
/* Shortest form that reads back as the same number; not finite is a fault. */
void json_number(struct json *json, const char *key, double value);
/* Nanoseconds, written as seconds with nine decimals. */
void json_seconds(struct json *json, const char *key, uint64_t ns);
bool json_complete(const struct json *json);

#endif
