#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 40 };

void json_begin(struct json *json, char *text, size_t capacity_bytes)
{
	*json = (struct json){.text = text, .capacity_bytes = capacity_bytes};
}

static void put(struct json *json, const char *bytes, size_t count)
{
	if (json->faulty || count >= json->capacity_bytes - json->used_bytes) {
		json->faulty = true;
		return;
	}
	memcpy(json->text + json->used_bytes, bytes, count);
	json->used_bytes += count;
	json->text[json->used_bytes] = '\0';
}

static void put_text(struct json *json, const char *text)
{
	put(json, text, strlen(text));
}

static bool continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Bytes of the UTF-8 character at text, 0 if it is none (overlong forms, surrogates, beyond U+10FFFF). */
static size_t utf8_bytes(const unsigned char *text)
{
	unsigned char first = text[0], second = text[0] ? text[1] : 0;

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4 || !continues(second))
		return 0;
	if (first < 0xe0)
		return 2;
	if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || !continues(text[2]))
		return 0;
	if (first < 0xf0)
		return 3;
	if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) || !continues(text[3]))
		return 0;
	return 4;
}

static size_t put_character(struct json *json, const char *text)
{
	unsigned char first = (unsigned char)text[0];
	size_t count = utf8_bytes((const unsigned char *)text);
	char escape[8];

	if (first == '"' || first == '\\') {
		snprintf(escape, sizeof escape, "\\%c", first);
		put_text(json, escape);
	} else if (first < 0x20 || first == 0x7f) {
		snprintf(escape, sizeof escape, "\\u%04x", (unsigned int)first);
		put_text(json, escape);
	} else if (count == 0) {
		put_text(json, "\\ufffd");
		return 1;
	} else {
		put(json, text, count);
	}
	return count;
}

static void put_string(struct json *json, const char *value)
{
	put_text(json, "\"");
	while (*value)
		value += put_character(json, value);
	put_text(json, "\"");
}

/* What stands before every value: the comma and the key. */
static void put_key(struct json *json, const char *key)
{
	if (json->begun[json->level])
		put_text(json, ",");
	json->begun[json->level] = true;
	if (key) {
		put_string(json, key);
		put_text(json, ":");
	}
}

static void open_level(struct json *json, const char *key, const char *bracket)
{
	put_key(json, key);
	put_text(json, bracket);
	if (json->level == JSON_LEVELS)
		json->faulty = true;
	else
		json->begun[++json->level] = false;
}

static void close_level(struct json *json, const char *bracket)
{
	put_text(json, bracket);
	if (json->level == 0)
		json->faulty = true;
	else
		json->level--;
}

void json_open_object(struct json *json, const char *key)
{
	open_level(json, key, "{");
}

void json_close_object(struct json *json)
{
	close_level(json, "}");
}

void json_open_array(struct json *json, const char *key)
{
	open_level(json, key, "[");
}

void json_close_array(struct json *json)
{
	close_level(json, "]");
}

void json_string(struct json *json, const char *key, const char *value)
{
	put_key(json, key);
	put_string(json, value);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
	char number[NUMBER_BYTES];

	snprintf(number, sizeof number, "%" PRIu64, value);
	put_key(json, key);
	put_text(json, number);
}

void json_bool(struct json *json, const char *key, bool value)
{
	put_key(json, key);
	put_text(json, value ? "true" : "false");
}

void json_number(struct json *json, const char *key, double value)
{
	char number[NUMBER_BYTES];

	if (!isfinite(value)) {
		json->faulty = true;
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(number, sizeof number, "%.*g", digits, value);
		if (strtod(number, NULL) == value)
			break;
	}
	put_key(json, key);
	put_text(json, number);
}

void json_seconds(struct json *json, const char *key, uint64_t ns)
{
	char number[NUMBER_BYTES];

	snprintf(number, sizeof number, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
	put_key(json, key);
	put_text(json, number);
}

bool json_complete(const struct json *json)
{
	return !json->faulty && json->level == 0 && json->begun[0];
}
