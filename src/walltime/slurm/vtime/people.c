/* The users and groups of the simulated site, which this machine does not know.

   A file with a line for each: `name:uid:gid` for a user, `@name:gid:user,user` for a group. */
#include "vtime.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct person {
    char *name;
    uid_t user;
    gid_t group;
};
struct circle {
    char *name, *members;
    gid_t group;
};
static struct person *people;
static struct circle *circles;
static int person_count, circle_count, disguised;
static uid_t disguise;

void vtime_read_people(const char *path) {
    char line[65536];
    FILE *file = fopen(path, "re");
    if (!file) vtime_die("cannot open the list of users %s", path);
    while (fgets(line, sizeof line, file)) {
        char *rest = line, *name = strsep(&rest, ":\n"), *first = strsep(&rest, ":\n"), *second = strsep(&rest, ":\n");
        if (!first || !second) continue;
        if (*name == '@') {
            circles = realloc(circles, (circle_count + 1) * sizeof *circles);
            circles[circle_count++] = (struct circle){strdup(name + 1), strdup(second), strtoul(first, 0, 10)};
        } else {
            people = realloc(people, (person_count + 1) * sizeof *people);
            people[person_count++] = (struct person){strdup(name), strtoul(first, 0, 10), strtoul(second, 0, 10)};
        }
    }
    fclose(file);
    const char *as = getenv("VTIME_USER");
    disguised = as != 0;
    disguise = as ? strtoul(as, 0, 10) : 0;
}

static struct person *find_person(const char *name, uid_t user) {
    for (int i = 0; i < person_count; i++)
        if (name ? !strcmp(people[i].name, name) : people[i].user == user) return &people[i];
    return 0;
}

static int describe(const struct person *p, struct passwd *out, char *buffer, size_t size, struct passwd **result) {
    size_t length = strlen(p->name) + 1;
    if (length + 10 > size) {
        *result = 0;
        return ERANGE;
    }
    memcpy(buffer, p->name, length);
    char *rest = buffer + length;
    memcpy(rest, "x\0/", 4);
    *out = (struct passwd){.pw_name = buffer, .pw_passwd = rest, .pw_uid = p->user, .pw_gid = p->group,
                           .pw_gecos = rest, .pw_dir = rest + 2, .pw_shell = rest + 2};
    *result = out;
    return 0;
}

EXPORT int getpwuid_r(uid_t user, struct passwd *out, char *buffer, size_t size, struct passwd **result) {
    struct person *p = find_person(0, user);
    return p ? describe(p, out, buffer, size, result) : REAL(getpwuid_r)(user, out, buffer, size, result);
}

EXPORT int getpwnam_r(const char *name, struct passwd *out, char *buffer, size_t size, struct passwd **result) {
    struct person *p = find_person(name, 0);
    return p ? describe(p, out, buffer, size, result) : REAL(getpwnam_r)(name, out, buffer, size, result);
}

static struct passwd shared;
static char shared_buffer[256];

EXPORT struct passwd *getpwuid(uid_t user) {
    struct passwd *result;
    struct person *p = find_person(0, user);
    if (!p) return REAL(getpwuid)(user);
    return describe(p, &shared, shared_buffer, sizeof shared_buffer, &result) ? 0 : result;
}

EXPORT struct passwd *getpwnam(const char *name) {
    struct passwd *result;
    struct person *p = find_person(name, 0);
    if (!p) return REAL(getpwnam)(name);
    return describe(p, &shared, shared_buffer, sizeof shared_buffer, &result) ? 0 : result;
}

static int describe_circle(const struct circle *c, struct group *out, char *buffer, size_t size, struct group **result) {
    size_t count = 1, name = strlen(c->name) + 1, list = strlen(c->members) + 1;
    for (const char *at = c->members; *at; at++) count += *at == ',';
    size_t table = (count + 1) * sizeof(char *);
    *result = 0;
    if (table + name + list > size) return ERANGE;
    char **members = (char **)buffer, *text = buffer + table;
    memcpy(text, c->name, name);
    memcpy(text + name, c->members, list);
    char *rest = text + name, *member;
    size_t used = 0;
    while ((member = strsep(&rest, ",")))
        if (*member) members[used++] = member;
    members[used] = 0;
    *out = (struct group){.gr_name = text, .gr_passwd = text + name + list - 1, .gr_gid = c->group, .gr_mem = members};
    *result = out;
    return 0;
}

static struct circle *find_circle(const char *name, gid_t group) {
    for (int i = 0; i < circle_count; i++)
        if (name ? !strcmp(circles[i].name, name) : circles[i].group == group) return &circles[i];
    return 0;
}

EXPORT int getgrnam_r(const char *name, struct group *out, char *buffer, size_t size, struct group **result) {
    struct circle *c = find_circle(name, 0);
    return c ? describe_circle(c, out, buffer, size, result) : REAL(getgrnam_r)(name, out, buffer, size, result);
}

EXPORT int getgrgid_r(gid_t group, struct group *out, char *buffer, size_t size, struct group **result) {
    struct circle *c = find_circle(0, group);
    return c ? describe_circle(c, out, buffer, size, result) : REAL(getgrgid_r)(group, out, buffer, size, result);
}

EXPORT int getgrouplist(const char *name, gid_t group, gid_t *groups, int *count) {
    if (!find_person(name, 0)) return REAL(getgrouplist)(name, group, groups, count);
    int room = *count;
    *count = 1;
    if (room < 1) return -1;
    groups[0] = group;
    return 1;
}

/* A client that speaks for one of the simulated users. */
EXPORT uid_t getuid(void) { return disguised && clock_only ? disguise : REAL(getuid)(); }
EXPORT uid_t geteuid(void) { return disguised && clock_only ? disguise : REAL(geteuid)(); }
