/*
 * Who may read every file may also open one by its handle, which names it on its file system: mounts and folders are
 * no bounds to that. So this call goes with that right, and with it all calls by the numbers of another architecture.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rights.h"

#if defined __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define NATIVE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define NATIVE AUDIT_ARCH_RISCV64
#else
#define NATIVE 0 /* no architecture: nothing would be allowed */
#endif

/* x86-64 has a second set of calls from here on. */
enum { OTHER_NUMBERS = 0x40000000 };

int forbid_file_handles(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open_by_handle_at, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};

	/* Without this flag older kernels run a filtered program slower, as a defence that is of no use here. */
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}
