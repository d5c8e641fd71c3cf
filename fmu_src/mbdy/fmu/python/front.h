/* What the doors of an FMU in front of pythonfmu's library (front_fmi2.c) and pythonfmu3's (front_fmi3.c) share.

   The library behind lies beside this one and is loaded from a copy that is gone at once: it never leaves a process,
   and would crash it when the client unpacks the FMU into the same folder again. All FMUs of ours in a process share
   it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Under versions that every glibc has: those that a linker takes here may be too new for the host. */
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dladdr,dladdr@GLIBC_2.2.5");

#define EXPORT __attribute__((visibility("default")))
#define BEHIND "pythonfmu-export.so"
#ifndef BEHIND_HASH
#error BEHIND_HASH is to be a text that names the contents of the library behind
#endif

typedef void *Component;
typedef const char *String;
typedef int Status; /* FMI's: 3 is error, 4 is fatal */
typedef unsigned int Reference;

static void *library;

extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static int copied(const char *from, const char *to) {
    char block[65536];
    ssize_t n = -1;
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (in >= 0 && out >= 0)
        while ((n = read(in, block, sizeof block)) > 0)
            if (write(out, block, (size_t)n) != n) break;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return n == 0;
}

/* pythonfmu 0.7 and pythonfmu3 0.3 let go of their interpreter's state twice as a process ends, the second time of
   freed memory. Done before, which a function registered last is, both find nothing. */
static void *in_order(void *opened) {
    void (*let_go)(void *) = NULL;
    if (opened) *(void **)&let_go = dlsym(opened, "finalizePythonInterpreter");
    if (let_go) __cxa_atexit(let_go, NULL, NULL);
    return opened;
}

/* The library at `path`, loaded from a copy under a name of this process, by which a later call finds it again;
   loaded from `path` itself where there is no temporary folder or nothing may be run from it. */
static void *loaded_once(const char *path) {
    char folder[PATH_MAX - 64], copy[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    if (!temporary || *temporary != '/' || strlen(temporary) > sizeof folder / 2) temporary = "/tmp";
    snprintf(folder, sizeof folder, "%s/mbdy-%ld-" BEHIND_HASH, temporary, (long)getpid());
    snprintf(copy, sizeof copy, "%s/" BEHIND, folder);
    void *found = dlopen(copy, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (found) return found;
    if (mkdir(folder, 0700) == 0) {
        if (copied(path, copy)) found = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
        unlink(copy);
        rmdir(folder);
    }
    return in_order(found ? found : dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

/* As soon as this library is loaded: a path that the host gave relative to its folder is still right then. */
__attribute__((constructor)) static void open_library(void) {
    Dl_info here;
    char path[PATH_MAX];
    if (!dladdr((void *)&library, &here) || !here.dli_fname) return;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash - here.dli_fname) + 1 : 0;
    snprintf(path, sizeof path, "%.*s" BEHIND, folder, here.dli_fname);
    library = loaded_once(path);
}

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The path that a file URI means, in memory to be freed: file:///a, file:/a, file://localhost/a. What is no URI is
   a path already. */
static char *path_of(String uri) {
    char *path = malloc(strlen(uri) + 1), *to = path;
    if (!path) return NULL;
    if (strncmp(uri, "file:", 5) != 0) return strcpy(path, uri);
    uri += 5;
    if (strncmp(uri, "//", 2) == 0) {
        String slash = strchr(uri + 2, '/');
        uri = slash ? slash : uri + strlen(uri);
    }
    while (*uri) {
        if (*uri == '%' && digit(uri[1]) >= 0 && digit(uri[2]) >= 0) {
            *to++ = (char)(16 * digit(uri[1]) + digit(uri[2]));
            uri += 3;
        } else {
            *to++ = *uri++;
        }
    }
    *to = '\0';
    return path;
}

/* The resource folder of an instance that is being made, to be closed. */
typedef struct {
    char *path;
    int folder;       /* negative where it does not open */
    char spare[64];
    String readable;  /* the name under which pythonfmu reads it: its own, or the descriptor's where pythonfmu would
                         decode it a second time; NULL where it does not open */
} Resources;

static Resources opened(String uri) {
    Resources it = {uri ? path_of(uri) : NULL, -1, "", NULL};
    if (it.path) it.folder = open(it.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(it.spare, sizeof it.spare, "/proc/self/fd/%d", it.folder);
    if (it.folder >= 0) it.readable = strstr(it.path, "%20") || strstr(it.path, "file://") ? it.spare : it.path;
    return it;
}

static void closed(Resources *it) {
    if (it->folder >= 0) close(it->folder);
    free(it->path);
}

/* The call at hand in this thread: what pythonfmu does not tell the slave, and the slave's refusal, for pythonfmu
   knows no other answer than OK, or fatal for good. */
typedef struct {
    Status refused;
    int times;     /* how many of start and stop time were given */
    size_t values; /* room for values */
    double start, stop;
    int makes;     /* it makes an instance, with this token, which requires so many variables */
    int logging;   /* whether that tells events too */
    String token;
    const Reference *required;
    size_t n_required;
} Call;

static _Thread_local Call call;

EXPORT Call *mbdy_call(void);
EXPORT Call *mbdy_call(void) { return &call; }

/* The same function of the library behind. */
#define PASS(result, name, parameters, arguments, without)                                                     \
    EXPORT result name parameters {                                                                            \
        static result(*behind) parameters;                                                                     \
        if (!behind && library) *(void **)&behind = dlsym(library, #name);                                     \
        return behind ? behind arguments : without;                                                            \
    }
#define PASS_STATUS(name, parameters, arguments) PASS(Status, name, parameters, arguments, 4)

/* The same, after `before`, and the slave's refusal where it has one. */
#define PASS_REFUSABLE(name, parameters, arguments, before)                                                    \
    EXPORT Status name parameters {                                                                            \
        static Status(*behind) parameters;                                                                     \
        if (!behind && library) *(void **)&behind = dlsym(library, #name);                                     \
        call = (Call){0};                                                                                      \
        before;                                                                                                \
        Status answer = behind ? behind arguments : 4;                                                         \
        return answer < 3 && call.refused ? call.refused : answer;                                             \
    }

/* Before a state is set: pythonfmu ends with a fatal error where there is none. */
#define NEED(state) if (!state) return 3
/* Before the state at `state` is freed: nothing is not, and nothing is left there. */
#define TAKE(state, held)                                                                                      \
    void *held = state ? *state : NULL;                                                                        \
    if (!held) return 0;                                                                                       \
    *state = NULL

/* What the FMU does not offer: some clients look for all names as they load it. The arguments are not looked at. */
#define REFUSE(name)                                                                                           \
    EXPORT Status name(void) { return 3; }
