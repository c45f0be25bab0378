#include "../profile/profile.h"
#include "commands.h"
#include "quantiles.h"
#include "setup.h"
#include "system.h"
#include "trial.h"

enum { EMPTY_CALLS = 1000, EMPTY_ROUNDS = 51 };

struct profiler {
	int (*use)(const char *tick_source);
	void (*start)(void);
	void (*stop)(void);
	void (*reset)(void);
	unsigned long (*rows)(const struct katalog_profile_row **rows);
	unsigned long long (*merged_calls)(void);
	void (*call_empty)(unsigned long calls, int wrapped);
};

struct profile {
	struct trial trial;
	struct profiler profiler;
	uint64_t ticks;
	double wrapper_cost_ticks, wrapper_inside_ticks;
};

static int find_profiler(const struct library *library, struct profiler *profiler, struct failure *failure)
{
	if (library_find(library, "katalog_profile_use", &profiler->use, failure) ||
	    library_find(library, "katalog_profile_start", &profiler->start, failure) ||
	    library_find(library, "katalog_profile_stop", &profiler->stop, failure) ||
	    library_find(library, "katalog_profile_reset", &profiler->reset, failure))
		return -1;
	if (library_find(library, "katalog_profile_rows", &profiler->rows, failure) ||
	    library_find(library, "katalog_profile_merged_calls", &profiler->merged_calls, failure))
		return -1;
	return library_find(library, "katalog_profile_call_empty", &profiler->call_empty, failure);
}

/* Fixed-rate clocks, since library and driver must read the same one, and many reads must stay cheap. */
static int open_ticks(const struct arguments *arguments, struct trial *trial, struct failure *failure)
{
	static const char *const sources[] = {"tsc", "cntvct", "clock"};
	int error = -1;

	if (arguments->counter)
		return trial_open(trial, arguments, arguments->counter, NULL, failure);
	for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
		error = trial_open(trial, arguments, sources[i], NULL, failure);
		if (!error || failure->kind != FAILURE_COUNTER)
			break;
	}
	return error;
}

static int open_profile(const struct arguments *arguments, struct profile *profile, struct failure *failure)
{
	const char *tick_source;

	if (open_ticks(arguments, &profile->trial, failure) ||
	    find_profiler(&profile->trial.subject.library, &profile->profiler, failure))
		return -1;
	tick_source = counter_name(profile->trial.used.counter);
	if (profile->profiler.use(tick_source))
		return fail(failure, FAILURE_COUNTER, "the library's wrappers have no clock %s", tick_source);
	return 0;
}

/* What one call of the operation takes, the profile being on only there. */
static int read_call(struct profile *profile, struct failure *failure)
{
	struct trial *trial = &profile->trial;
	struct cost spent = {UINT64_MAX, UINT64_MAX};
	int code, error;

	profile->profiler.start();
	error = time_call(trial->used.counter, trial->operation, &trial->subject, &spent, &code, failure);
	profile->profiler.stop();
	profile->ticks += spent.count;
	return error;
}

/* A step works on the live state: each run has it once. */
static int read_step(struct profile *profile, struct failure *failure)
{
	struct subject *subject = &profile->trial.subject;
	const struct operation *step = profile->trial.operation;
	int error;

	kex_run(subject, kex_first_step(subject), step);
	error = subject->seen.broken.name ? 0 : read_call(profile, failure);
	kex_run(subject, step + 1, kex_end(subject));
	return error;
}

static int read_all(struct profile *profile, struct failure *failure)
{
	struct trial *trial = &profile->trial;
	struct cost shortest = trial->setup_cost;
	int error = trial_warm_up(trial, &shortest, failure);

	for (uint64_t i = 0; i < trial->timing.iterations && !error && !trial->subject.seen.broken.name; i++)
		error = trial->operation->is_step ? read_step(profile, failure) : read_call(profile, failure);
	return error;
}

static int time_empty(struct profile *profile, int wrapped, uint64_t *ticks, struct failure *failure)
{
	const struct counter *counter = profile->trial.used.counter;
	uint64_t begin, end;
	int error = counter_read(counter, &begin);

	profile->profiler.call_empty(EMPTY_CALLS, wrapped);
	if (!error)
		error = counter_read(counter, &end);
	if (!error)
		error = counter_difference(begin, end, ticks);
	return error ? fail_read(error, failure) : 0;
}

static int time_wrapper(struct profile *profile, uint64_t *cost, uint64_t *inside, struct failure *failure)
{
	const struct katalog_profile_row *rows;
	uint64_t bare, wrapped;

	profile->profiler.reset();
	profile->profiler.start();
	if (time_empty(profile, 0, &bare, failure) || time_empty(profile, 1, &wrapped, failure))
		return -1;
	profile->profiler.stop();
	*cost = wrapped > bare ? wrapped - bare : 0;
	*inside = profile->profiler.rows(&rows) ? rows[0].ticks : 0;
	return 0;
}

/*
 * Measured on an empty function, before anything is counted: all of it, and the part that looks like the function's.
 * Medians of several rounds, since an interruption would spoil one.
 */
static int measure_wrapper(struct profile *profile, struct failure *failure)
{
	uint64_t costs[EMPTY_ROUNDS], insides[EMPTY_ROUNDS];
	struct quantiles q;

	for (unsigned int i = 0; i < EMPTY_ROUNDS; i++)
		if (time_wrapper(profile, &costs[i], &insides[i], failure))
			return -1;
	quantiles_of(costs, EMPTY_ROUNDS, 0, EMPTY_CALLS, &q);
	profile->wrapper_cost_ticks = q.p50;
	quantiles_of(insides, EMPTY_ROUNDS, 0, EMPTY_CALLS, &q);
	profile->wrapper_inside_ticks = q.p50;
	profile->profiler.reset();
	return 0;
}

static void write_bits(struct json *json, const char *key, unsigned long long bits)
{
	if (bits != KATALOG_PROFILE_UNKNOWN)
		json_count(json, key, bits);
}

static void write_calls(const struct profile *profile, struct json *json)
{
	const struct katalog_profile_row *rows;
	unsigned long count = profile->profiler.rows(&rows);

	json_open_array(json, "calls");
	for (unsigned long i = 0; i < count; i++) {
		json_open_object(json, NULL);
		json_string(json, "fn", rows[i].fn);
		write_bits(json, "in_bits", rows[i].in_bits);
		write_bits(json, "out_bits", rows[i].out_bits);
		json_count(json, "calls", rows[i].calls);
		json_count(json, "ticks", rows[i].ticks);
		json_close_object(json);
	}
	json_close_array(json);
	json_count(json, "merged_calls", profile->profiler.merged_calls());
}

static void write_profile(const struct profile *profile, struct json *json)
{
	const struct trial *trial = &profile->trial;
	const struct counter *counter = trial->used.counter;

	json_string(json, "family", trial->family->name);
	json_string(json, "operation", trial->operation->name);
	json_string(json, "instance", trial->subject.library.instance);
	json_string(json, "tick_source", counter_name(counter));
	json_count(json, "tick_hz", counter_hz(counter) ? counter_hz(counter) : 1000000000u);
	json_bool(json, "emulated", is_emulated());
	json_count(json, "warmups", trial->warmups);
	json_count(json, "operations", trial->timing.iterations);
	json_count(json, "ticks", profile->ticks);
	json_number(json, "wrapper_cost_ticks", profile->wrapper_cost_ticks);
	json_number(json, "wrapper_inside_ticks", profile->wrapper_inside_ticks);
	write_calls(profile, json);
}

static int run(const struct arguments *arguments, struct json *json, struct failure *failure)
{
	static struct profile profile; /* zeroed, and off the stack that the candidate uses */
	struct trial *trial = &profile.trial;

	if (open_profile(arguments, &profile, failure) || measure_wrapper(&profile, failure) ||
	    trial_checked(trial, set_up(trial, failure), failure) ||
	    trial_checked(trial, read_all(&profile, failure), failure))
		return -1;
	if (profile.ticks == 0)
		return fail(failure, FAILURE_COUNT, "the operation took 0 ticks of %s", counter_name(trial->used.counter));
	write_profile(&profile, json);
	return 0;
}

static const char *const required[] = {"--library", "--family", "--operation", "--iterations", "--warmups", "--cpu",
                                       "--result-fd", NULL};

const struct command command_profile = {"profile", run, required};
