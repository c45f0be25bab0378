/*
 * Runs one program within limits and leaves nothing of it: every process that descends from it, wherever it moved
 * itself, is killed when the program ends, when the parent closes its end of the control socket, and when the
 * parent dies. What it says there, one line each: `started`, then `exit N` or `signal N`; `error TEXT` where the
 * program did not come to run. It can be the first process of a PID name space: there its own end is that of all.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "rights.h"

enum { LINE_BYTES = 256, FAILED = 125 };

__attribute__((format(printf, 2, 3))) static void say(int control, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list words;
	int length;

	va_start(words, format);
	length = vsnprintf(line, sizeof line, format, words);
	va_end(words);
	(void)!send(control, line, (size_t)(length < LINE_BYTES ? length : LINE_BYTES - 1), MSG_NOSIGNAL);
}

/* When memory runs out, the kernel is to take it from here, and not from who measures. */
static void volunteer_for_oom(void)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (file >= 0 && write(file, "1000", 4) != 4)
		fprintf(stderr, "confine: cannot offer itself to the memory killer\n");
	close(file);
}

static int give_up_rights(const struct options *options)
{
	if (set_limits(options))
		return -1;
	if (options->isolate)
		leave_network_and_ipc();
	if (options->uid >= 0 && drop_to(options))
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (options->keep_reading && forbid_file_handles())
		return -1;
	return options->landlock ? allow_only(options) : 0;
}

_Noreturn static void become_program(const struct options *options)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (give_up_rights(options)) {
		say(options->control, "error cannot confine: %s\n", strerror(errno));
		_exit(FAILED);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	say(options->control, "started\n");
	execvp(options->program[0], options->program);
	say(options->control, "error cannot run %.150s: %s\n", options->program[0], strerror(errno));
	_exit(FAILED);
}

/* Kills all children there are now. Returns how many; -1 where the kernel does not list them. */
static int kill_children(void)
{
	char path[64];
	FILE *list;
	int pid, count = 0;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	list = fopen(path, "re");
	if (!list)
		return -1;
	for (; fscanf(list, "%d", &pid) == 1; count++)
		kill(pid, SIGKILL);
	fclose(list);
	return count;
}

/* A killed child leaves its own children to this process, so that in the end there are none. */
static void sweep(pid_t program)
{
	int count;

	if (getpid() == 1)
		return;
	while ((count = kill_children()) > 0)
		while (waitpid(-1, NULL, 0) < 0 && errno == EINTR)
			continue;
	if (count < 0)
		kill(-program, SIGKILL);
}

/*
 * Who outlives SIGXCPU is killed by the kernel some seconds later, with the signal that an outsider might send; what
 * ended it is the limit.
 */
static int cause(int status, const struct rusage *used, long long cpu_s)
{
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

	return killed && cpu_s >= 0 && used->ru_utime.tv_sec + used->ru_stime.tv_sec >= cpu_s ? SIGXCPU : status;
}

/* Returns whether the program has ended, its status then, and reaps what else has. */
static bool has_ended(pid_t program, int signals, long long cpu_s, int *status)
{
	struct signalfd_siginfo ignored;
	struct rusage used;
	bool ended = false;
	int other;
	pid_t pid;

	(void)!read(signals, &ignored, sizeof ignored);
	while ((pid = wait4(-1, &other, WNOHANG, &used)) > 0)
		if (pid == program) {
			*status = cause(other, &used, cpu_s);
			ended = true;
		}
	return ended;
}

/* Waits for the end of the program, and returns false when the parent does not wish to. */
static bool wait_for(pid_t program, const struct options *options, int signals, int *status)
{
	struct pollfd events[] = {{signals, POLLIN, 0}, {options->control, POLLIN, 0}};

	for (;;) {
		if (poll(events, 2, -1) < 0)
			continue;
		if (events[0].revents && has_ended(program, signals, options->limits[LIMIT_CPU], status))
			return true;
		if (events[1].revents)
			return false;
	}
}

static void report(int control, int status)
{
	if (WIFSIGNALED(status))
		say(control, "signal %d\n", WTERMSIG(status));
	else
		say(control, "exit %d\n", WEXITSTATUS(status));
}

static int start(const struct options *options, pid_t *program)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	volunteer_for_oom();
	/* Not to be traced, nor its descriptors taken, by a program of the same user. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	*program = fork();
	if (*program == 0)
		become_program(options);
	return *program < 0 ? -1 : signalfd(-1, &child, SFD_CLOEXEC);
}

int main(int argc, char *argv[])
{
	struct options options;
	int signals, status;
	pid_t program;
	bool ended;

	if (parse_options(argc, argv, &options))
		return FAILED;
	fcntl(options.control, F_SETFD, FD_CLOEXEC);
	signals = start(&options, &program);
	if (signals < 0) {
		say(options.control, "error cannot start a process: %s\n", strerror(errno));
		return FAILED;
	}
	ended = wait_for(program, &options, signals, &status);
	sweep(program);
	if (ended)
		report(options.control, status);
	return 0;
}
