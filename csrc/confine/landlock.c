/*
 * Landlock by its system calls: the constants stand here because the kernel headers of a machine may be older
 * than its kernel.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rights.h"

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, PATH_BENEATH = 1 };
enum { VERSION_TRUNCATE = 3, VERSION_NET = 4, VERSION_IOCTL = 5, VERSION_SCOPE = 6, VERSION_REFER = 2 };

#define EXECUTE (UINT64_C(1) << 0)
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define FIRST_VERSION ((UINT64_C(1) << 13) - 1)
#define REFER (UINT64_C(1) << 13)
#define TRUNCATE (UINT64_C(1) << 14)
#define IOCTL_DEVICE (UINT64_C(1) << 15)
#define BIND_AND_CONNECT_TCP UINT64_C(3)
#define ABSTRACT_SOCKETS_AND_SIGNALS UINT64_C(3)

struct ruleset {
	uint64_t files, net, scoped;
};

struct rule {
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));

static struct ruleset handled_by(long version)
{
	struct ruleset all = {FIRST_VERSION, 0, 0};

	if (version >= VERSION_REFER)
		all.files |= REFER;
	if (version >= VERSION_TRUNCATE)
		all.files |= TRUNCATE;
	if (version >= VERSION_NET)
		all.net = BIND_AND_CONNECT_TCP;
	if (version >= VERSION_IOCTL)
		all.files |= IOCTL_DEVICE;
	if (version >= VERSION_SCOPE)
		all.scoped = ABSTRACT_SOCKETS_AND_SIGNALS;
	return all;
}

/* A path that does not exist allows nothing. */
static int allow(int rules, const char *path, uint64_t allowed)
{
	struct rule rule = {allowed, open(path, O_PATH | O_CLOEXEC)};
	struct stat state;
	long failed;

	if (rule.folder < 0)
		return 0;
	if (fstat(rule.folder, &state) == 0 && !S_ISDIR(state.st_mode))
		rule.allowed &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE;
	failed = syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0);
	close(rule.folder);
	return (int)failed;
}

static int allow_paths(int rules, const struct paths *paths, uint64_t allowed)
{
	for (int i = 0; i < paths->count; i++)
		if (allow(rules, paths->items[i], allowed))
			return -1;
	return 0;
}

static int fill(int rules, const struct options *options, uint64_t all)
{
	/* /proc: a driver resets its own high-water mark there; what else there is has other owners. */
	static const struct paths also = {{"/proc", "/dev/null", "/dev/zero", "/dev/full"}, 4};
	uint64_t reading = EXECUTE | READ_FILE | READ_DIR;

	if (allow_paths(rules, &options->read, reading) || allow_paths(rules, &options->write, all))
		return -1;
	return allow_paths(rules, &also, (reading | WRITE_FILE | TRUNCATE) & all);
}

int allow_only(const struct options *options)
{
	long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
	struct ruleset all = handled_by(version);
	int rules;

	if (version < 1)
		return -1;
	rules = (int)syscall(CREATE_RULESET, &all, sizeof all, 0);
	if (rules < 0)
		return -1;
	if (fill(rules, options, all.files) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(RESTRICT_SELF, rules, 0);
}
