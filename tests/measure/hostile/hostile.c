/* Does one bad thing, named by its first word. Bounded: no mode makes more than 300 processes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FORKS = 300 };

static int bomb(const char *unused)
{
	int *made = mmap(NULL, 2 * sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t first = getpid();

	(void)unused;
	while (__atomic_fetch_add(&made[0], 1, __ATOMIC_SEQ_CST) < FORKS)
		if (fork() > 0)
			__atomic_fetch_add(&made[1], 1, __ATOMIC_SEQ_CST);
	if (getpid() != first)
		pause();
	printf("%d\n", made[1]);
	return 0;
}

static int allocate(const char *unused)
{
	void *block = mmap(NULL, 100L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)unused;
	return block == MAP_FAILED && !malloc(100L << 30) ? 3 : 0;
}

static int print(const char *unused)
{
	static char block[65536];

	(void)unused;
	while (write(1, block, sizeof block) > 0 && write(2, block, sizeof block) > 0)
		continue;
	return 4;
}

static int loop(const char *unused)
{
	(void)unused;
	signal(SIGXCPU, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	for (;;)
		__asm__ volatile("");
}

static int write_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT, 0600) < 0 ? 5 : 0;
}

static int connect_to(const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
	int end = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return end < 0 || connect(end, (struct sockaddr *)&address, sizeof address) ? 6 : 0;
}

static int stop(const char *unused)
{
	(void)unused;
	kill(getpid(), SIGSTOP);
	return 0;
}

static int stay(const char *unused)
{
	(void)unused;
	signal(SIGHUP, SIG_IGN);
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	return 0;
}

/* Holds a pipe open: whoever reads it sees when this process is there, and when it is gone. */
static int hold(const char *path)
{
	int pipe = open(path, O_WRONLY);

	(void)!write(pipe, "x", 1);
	for (;;)
		pause();
}

static int kill_parent(const char *unused)
{
	(void)unused;
	stay(NULL);
	kill(getppid(), SIGKILL);
	return 0;
}

/* Opens a file by the handle that somebody else took of it: no path, so no view is asked. */
static int open_handle(const char *hex)
{
	struct file_handle *handle = malloc(sizeof *handle + MAX_HANDLE_SZ);
	unsigned char *bytes = (unsigned char *)handle;
	int mount = open(".", O_RDONLY | O_DIRECTORY), byte;

	for (; sscanf(hex, "%2x", (unsigned *)&byte) == 1; hex += 2)
		*bytes++ = (unsigned char)byte;
	return open_by_handle_at(mount, handle, O_RDONLY) < 0 ? 7 : 0;
}

/* What the driver needs, and no harm: pins itself, counts its own time, resets its own high-water mark. */
static int measure(const char *cpu)
{
	struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_TASK_CLOCK,
	                                .exclude_kernel = 1, .exclude_hv = 1};
	int reset = open("/proc/self/clear_refs", O_WRONLY), counter;
	long long count = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)atoi(cpu), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		return 8;
	counter = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
	if (counter < 0 || read(counter, &count, sizeof count) != sizeof count || count <= 0)
		return 9;
	return write(reset, "5", 1) == 1 ? 0 : 10;
}

static const struct mode {
	const char *name;
	int (*run)(const char *word);
} modes[] = {
	{"bomb", bomb}, {"allocate", allocate}, {"print", print}, {"loop", loop}, {"write", write_file},
	{"connect", connect_to}, {"stop", stop}, {"stay", stay}, {"kill-parent", kill_parent}, {"handle", open_handle}, {"hold", hold}, {"measure", measure},
};

int main(int argc, char *argv[])
{
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(modes[i].name, argv[1]) == 0)
			return modes[i].run(argc > 2 ? argv[2] : "");
	return 125;
}
