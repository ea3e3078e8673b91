/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of containers in the texts of their tools, and the pages and files of this process. */
#include "check.h"
#include "session/keep/label_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ID "da1bdd84c8b25938081afe48da7075e2a211d2b1a62e01c894b4e5f3ffab670a"

static void check_text(struct labels *l, const char *want)
{
	struct buf text = {0};

	labels_text(l, &text);
	CHECK_STR(buf_text(&text), want);
	buf_done(&text);
	labels_done(l);
}

static void links_of_the_kubelet_have_three_names(void)
{
	struct labels l = {0};

	CHECK(label_reader_log_name("shop-7d9f_web_nginx-proxy-" ID ".log", &l));
	check_text(&l, "container.name=nginx-proxy\nk8s.container.name=nginx-proxy\n"
	               "k8s.namespace.name=web\nk8s.pod.name=shop-7d9f");
	CHECK(!label_reader_log_name("shop_web-" ID ".log", &l));
	CHECK(!label_reader_log_name("a_b_" ID ".log", &l));
	CHECK(!label_reader_log_name("a_b_-" ID ".log", &l));
	CHECK(!label_reader_log_name("", &l));
	CHECK_EQ(l.items.count, 0);
}

static void docker_has_the_name_in_json(void)
{
	static const char json[] =
	        "{\"State\":{\"Name\":\"no\"},\"ID\":\"x\",\"Name\":\"/web_1\",\"A\":1}";
	struct labels l = {0};

	CHECK(label_reader_docker_name(json, sizeof(json) - 1, &l));
	check_text(&l, "container.name=web_1");
	CHECK(!label_reader_docker_name("{\"Name\":1}", 10, &l));
	CHECK(!label_reader_docker_name("[]", 2, &l));
	CHECK(!label_reader_docker_name("", 0, &l));
	CHECK_EQ(l.items.count, 0);
}

static void publish(uint8_t *at, uint32_t size, uint64_t time_ns, const void *payload)
{
	uint32_t version = 2;
	uint64_t address = (uint64_t)(uintptr_t)payload;

	memcpy(at, "OTEL_CTX", 8);
	memcpy(at + 8, &version, 4);
	memcpy(at + 12, &size, 4);
	memcpy(at + 16, &time_ns, 8);
	memcpy(at + 24, &address, 8);
}

static void pages_are_found_read_once_and_read_again(void)
{
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct label_page page = {0};
	struct buf bytes = {0};
	uint8_t *at;

	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), -ENOENT);
	CHECK_EQ(ftruncate(fd, 4096), 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), -ENOENT);
	publish(at, 4, 0, "good");
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), -EAGAIN);
	publish(at, 4, 7, "good");
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), 0);
	CHECK(bytes.size == 4 && !memcmp(bytes.data, "good", 4));
	CHECK_EQ(page.address, (uint64_t)(uintptr_t)at);
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), -EALREADY);
	publish(at, 5, 8, "later");
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), 0);
	CHECK(bytes.size == 5 && !memcmp(bytes.data, "later", 5));
	/* Addresses and sizes that lead nowhere. */
	publish(at, 5, 9, NULL);
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), -EFAULT);
	publish(at, 60000, 10, at);
	CHECK(label_reader_page(NULL, getpid(), &page, &bytes) == -EFAULT || bytes.size == 60000);
	publish(at, 0xffffffff, 11, at);
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), -ENOENT);
	publish(at, 0, 12, NULL);
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), 0);
	CHECK_EQ(bytes.size, 0);
	munmap(at, 4096);
	CHECK_EQ(label_reader_page(NULL, getpid(), &page, &bytes), -ENOENT);
	CHECK(label_reader_page(NULL, 0x7ffffff0, &page, &bytes) < 0);
	buf_done(&bytes);
}

static void files_are_regular_and_small(void)
{
	char directory[] = "/tmp/assay-labels-XXXXXX", path[64];
	struct buf bytes = {0};
	FILE *f;

	CHECK(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/labels", directory);
	f = fopen(path, "w");
	fputs("a=\"b\"\n", f);
	fclose(f);
	CHECK_EQ(label_reader_file(NULL, getpid(), path, &bytes), 0);
	CHECK(bytes.size == 6 && !memcmp(bytes.data, "a=\"b\"\n", 6));
	CHECK_EQ(truncate(path, (off_t)LABEL_FILE_BYTES + 1), 0);
	CHECK_EQ(label_reader_file(NULL, getpid(), path, &bytes), -EFBIG);
	unlink(path);
	CHECK_EQ(label_reader_file(NULL, getpid(), path, &bytes), -ENOENT);
	CHECK_EQ(symlink("/dev/zero", path), 0);
	CHECK_EQ(label_reader_file(NULL, getpid(), path, &bytes), -ENOENT);
	unlink(path);
	CHECK_EQ(label_reader_file(NULL, getpid(), directory, &bytes), -ENOENT);
	rmdir(directory);
	buf_done(&bytes);
}

int main(void)
{
	RUN(links_of_the_kubelet_have_three_names);
	RUN(docker_has_the_name_in_json);
	RUN(pages_are_found_read_once_and_read_again);
	RUN(files_are_regular_and_small);
	return check_end();
}
