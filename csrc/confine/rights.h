/* Gives up rights of this process, for good. Each returns 0, or -1 with errno set. */
#ifndef KATALOG_CONFINE_RIGHTS_H
#define KATALOG_CONFINE_RIGHTS_H

#include "options.h"

int set_limits(const struct options *options);

/* Best effort: a kernel may forbid it. */
void leave_network_and_ipc(void);

/* Becomes another user. */
int drop_to(const struct options *options);

/* Takes back what `keep_reading` gives too much. After PR_SET_NO_NEW_PRIVS. */
int forbid_file_handles(void);

/* ENOSYS or EOPNOTSUPP where the kernel has no Landlock. */
int allow_only(const struct options *options);

#endif
