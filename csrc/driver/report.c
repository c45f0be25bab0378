#include "report.h"

#include <stdio.h>
#include <string.h>

#include "quantiles.h"
#include "system.h"

static void write_quantiles(const struct trial *trial, struct json *json)
{
	const struct timing *timing = &trial->timing;
	struct quantiles q;

	quantiles_of(timing->readings, timing->readings_count, trial->used.overhead.count, timing->batch_calls, &q);
	json_open_object(json, "quantiles");
	json_count(json, "samples", timing->readings_count);
	json_count(json, "batch_calls", timing->batch_calls);
	json_number(json, "min", q.min);
	json_number(json, "p01", q.p01);
	json_number(json, "p05", q.p05);
	json_number(json, "p25", q.p25);
	json_number(json, "p50", q.p50);
	json_number(json, "p75", q.p75);
	json_number(json, "p95", q.p95);
	json_number(json, "p99", q.p99);
	json_number(json, "max", q.max);
	json_close_object(json);
}

static void write_trial(const struct trial *trial, struct json *json)
{
	const struct timing *timing = &trial->timing;
	const char *unit = counter_unit(trial->used.counter);

	json_open_object(json, "trial");
	json_count(json, "measurements", timing->iterations);
	json_seconds(json, "seconds", timing->wall_ns);
	if (strcmp(unit, "ns") != 0) /* else it would be the seconds again */
		json_count(json, unit, timing->count);
	if (timing->is_perf) {
		json_count(json, "time_enabled_ns", timing->enabled_ns);
		json_count(json, "time_running_ns", timing->running_ns);
	}
	if (timing->runs_wall_ns)
		json_seconds(json, "runs_seconds", timing->runs_wall_ns);
	write_quantiles(trial, json);
	json_close_object(json);
}

static void write_memory(const struct memory *memory, struct json *json)
{
	json_count(json, "baseline_rss_bytes", memory->baseline_rss_bytes);
	if (memory->peak_rss_reset)
		json_count(json, "peak_rss_bytes", memory->peak_rss_bytes);
	json_bool(json, "peak_rss_reset", memory->peak_rss_reset);
}

static void write_return_codes(const struct tally *tally, struct json *json)
{
	char code[16];

	json_open_object(json, "return_codes");
	for (unsigned int i = 0; i < tally->distinct; i++) {
		snprintf(code, sizeof code, "%d", tally->codes[i]);
		json_count(json, code, tally->times[i]);
	}
	if (tally->other)
		json_count(json, "other", tally->other);
	json_close_object(json);
}

static void write_observations(const struct observations *seen, struct json *json)
{
	json_count(json, "sign_failures_retried", seen->sign_failures_retried);
	json_count(json, "message_tweaks", seen->message_tweaks);
	json_count(json, "setup_verify_failed", seen->setup_verify_failed);
	json_count(json, "signature_length_excess", seen->signature_length_excess);
	json_count(json, "verify_rejections", seen->verify_rejections);
	write_return_codes(&seen->return_codes, json);
}

static void write_sizes(const struct trial *trial, struct json *json)
{
	json_open_object(json, "sizes");
	trial->family->write_sizes(&trial->subject, json);
	trial->family->write_returned(&trial->subject, json);
	json_close_object(json);
}

static void write_usage(const struct usage *usage, struct json *json)
{
	json_count(json, "minor_page_faults", usage->minor_page_faults);
	json_count(json, "major_page_faults", usage->major_page_faults);
	json_count(json, "voluntary_context_switches", usage->voluntary_context_switches);
	json_count(json, "involuntary_context_switches", usage->involuntary_context_switches);
}

void write_report(struct trial *trial, struct json *json)
{
	json_string(json, "family", trial->family->name);
	json_string(json, "operation", trial->operation->name);
	json_string(json, "instance", trial->subject.library.instance);
	write_counter(&trial->used, json);
	json_bool(json, "emulated", is_emulated());
	json_count(json, "warmups", trial->warmups);
	write_trial(trial, json);
	write_memory(&trial->memory, json);
	write_observations(&trial->subject.seen, json);
	write_sizes(trial, json);
	if (trial->family->write_more)
		trial->family->write_more(&trial->subject, json);
	write_usage(&trial->timing.usage, json);
}
