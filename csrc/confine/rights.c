#include "rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, CPU_GRACE_S = 5 };

static int set_limit(int resource, long long soft, long long hard)
{
	struct rlimit limit = {(rlim_t)soft, (rlim_t)hard};

	return setrlimit((__rlimit_resource_t)resource, &limit);
}

/* A program may have less than is asked for already, and must not be given more. */
static int lower_limit(int resource, long long wanted, long long grace)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)resource, &now))
		return -1;
	if (now.rlim_max != RLIM_INFINITY && now.rlim_max < (rlim_t)(wanted + grace))
		return 0;
	return set_limit(resource, wanted, wanted + grace);
}

int set_limits(const struct options *options)
{
	static const int resources[LIMITS] = {RLIMIT_AS, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE};

	for (int i = 0; i < LIMITS; i++)
		if (options->limits[i] >= 0 &&
		    lower_limit(resources[i], options->limits[i], i == LIMIT_CPU ? CPU_GRACE_S : 0))
			return -1;
	return set_limit(RLIMIT_CORE, 0, 0);
}

void leave_network_and_ipc(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWIPC))
		(void)!unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC);
}

/* A container may know no such user; it always knows nobody. */
static int become(long long uid)
{
	if (setgroups(0, NULL))
		return -1;
	if (setresgid((gid_t)uid, (gid_t)uid, (gid_t)uid) == 0)
		return setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid);
	if (errno != EINVAL || uid == NOBODY)
		return -1;
	return become(NOBODY);
}

/* The sandbox decides which files there are; of those, all can be read, whatever their mode. */
static int keep_reading(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	uint32_t bit = UINT32_C(1) << CAP_DAC_READ_SEARCH;
	struct __user_cap_data_struct data[2] = {{bit, bit, bit}, {0, 0, 0}};

	if (syscall(SYS_capset, &header, data))
		return -1;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0);
}

int drop_to(const struct options *options)
{
	/* Without this bit access() would judge as if the right were not there, and compilers believe it. */
	if (options->keep_reading && prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0))
		return -1;
	if (become(options->uid))
		return -1;
	return options->keep_reading ? keep_reading() : 0;
}
