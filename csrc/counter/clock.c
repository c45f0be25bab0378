#include "backend.h"
#include "wall.h"

static int clock_read(const struct counter *counter, uint64_t *count)
{
	(void)counter;
	*count = wall_ns();
	return 0;
}

const struct counter_backend counter_clock = {.name = "clock", .unit = "ns", .read = clock_read};
