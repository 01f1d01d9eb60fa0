/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL keeps the files of its hugepages when it ends, and only the next start with the same prefix
 * takes them away: until then their memory is nobody's and yet not free. EAL's --huge-unlink=always
 * would leave none, but then no secondary process (a capture) could attach. So the files are
 * removed at the end; where EAL put them is read from the process's own mappings.
 */
#include "instance.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <rte_eal.h>

struct page_file {
	SLIST_ENTRY(page_file) entry;
	char path[];
};

SLIST_HEAD(instance_pages, page_file);

pid_t instance_owner(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[4096];

	snprintf(path, sizeof(path), "%s/config", rte_eal_get_runtime_dir());
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	int rc = fcntl(fd, F_GETLK, &lock);
	close(fd);
	return rc == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

/* Pages of other instances are mapped, too, when they are at the other end of a vhost port. */
static bool is_own_page(const char *path)
{
	const char *prefix = strrchr(rte_eal_get_runtime_dir(), '/'), *name = strrchr(path, '/');
	size_t length = strlen(prefix);
	struct statfs status;

	return strncmp(name, prefix, length) == 0 && strncmp(name + length, "map_", 4) == 0 &&
	       statfs(path, &status) == 0 && status.f_type == HUGETLBFS_MAGIC;
}

static void add_page(struct instance_pages *pages, const char *path)
{
	const struct page_file *newest = SLIST_FIRST(pages);
	struct page_file *file;

	/* A file of several mappings has them side by side. */
	if ((newest != NULL && strcmp(newest->path, path) == 0) || !is_own_page(path))
		return;
	file = malloc(sizeof(*file) + strlen(path) + 1);
	if (file == NULL)
		return;
	strcpy(file->path, path);
	SLIST_INSERT_HEAD(pages, file, entry);
}

struct instance_pages *instance_pages_find(void)
{
	struct instance_pages *pages;
	char *line = NULL;
	size_t size = 0;
	FILE *maps;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return NULL;
	pages = malloc(sizeof(*pages));
	maps = fopen("/proc/self/maps", "re");
	if (pages != NULL)
		SLIST_INIT(pages);
	while (pages != NULL && maps != NULL && getline(&line, &size, maps) > 0) {
		char *path = strchr(line, '/');

		if (path != NULL) {
			path[strcspn(path, "\n")] = '\0';
			add_page(pages, path);
		}
	}
	free(line);
	if (maps != NULL)
		fclose(maps);
	return pages;
}

void instance_pages_remove(struct instance_pages *pages)
{
	struct page_file *file;

	if (pages == NULL)
		return;
	while ((file = SLIST_FIRST(pages)) != NULL) {
		SLIST_REMOVE_HEAD(pages, entry);
		unlink(file->path);
		free(file);
	}
	free(pages);
}
