/* Each reading of the wall clock is an hour earlier than the last, starting HOURS_BACK hours ago. Other clocks run normally. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_long looks;

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, time);
    if (!failed && clock == CLOCK_REALTIME) {
        const char *hours = getenv("HOURS_BACK");
        time->tv_sec -= 3600 * ((hours ? atol(hours) : 0) + atomic_fetch_add(&looks, 1));
    }
    return failed;
}
