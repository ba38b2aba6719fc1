/* Reads and writes transfer half of the requested bytes, and every fifth call is interrupted. POSIX allows both. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>

static _Thread_local unsigned calls;

#define SHORT(name, buffer, offset_parameter, offset)                                    \
    ssize_t name(int fd, buffer bytes, size_t count offset_parameter) {                  \
        static ssize_t (*real)(int, buffer, size_t offset_parameter);                    \
        if (!real) real = (ssize_t (*)(int, buffer, size_t offset_parameter))dlsym(RTLD_NEXT, #name); \
        if (++calls % 5 == 0) {                                                          \
            errno = EINTR;                                                               \
            return -1;                                                                   \
        }                                                                                \
        return real(fd, bytes, count - count / 2 offset);                                \
    }
#define NONE
#define COMMA ,
#define AT_PARAMETER , off_t at
#define AT , at

SHORT(read, void *, NONE, NONE)
SHORT(write, const void *, NONE, NONE)
SHORT(pread64, void *, AT_PARAMETER, AT)
SHORT(pwrite64, const void *, AT_PARAMETER, AT)
