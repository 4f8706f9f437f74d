/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/store/query.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store/query_min_effect.h"

#define CONNECTIONS_MAX 16

struct query {
	char *path;
	unsigned n;
	struct min_effect_cache *min_effects;
	struct query_texts texts; /* read NULL: none */
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	struct db *db[CONNECTIONS_MAX]; /* NULL: not open yet */
	bool busy[CONNECTIONS_MAX];
};

void query_set_texts(struct query *q, const struct query_texts *texts)
{
	q->texts = *texts;
}

const struct query_texts *query_texts(const struct query *q)
{
	return &q->texts;
}

/* ---- the pool ---- */

int query_open(const char *path, unsigned connections, struct query **ret_q, struct kg_err *err)
{
	struct query *q = calloc(1, sizeof(*q));

	if (q) {
		q->path = strdup(path);
		q->min_effects = min_effect_cache_new();
	}
	if (!q || !q->path || !q->min_effects) {
		if (q) {
			min_effect_cache_free(q->min_effects);
			free(q->path);
		}
		free(q);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	q->n = connections ? connections : 2;
	if (q->n > CONNECTIONS_MAX)
		q->n = CONNECTIONS_MAX;
	pthread_mutex_init(&q->mutex, NULL);
	pthread_cond_init(&q->cond, NULL);
	*ret_q = q;
	return 0;
}

void query_close(struct query *q)
{
	if (!q)
		return;
	for (unsigned i = 0; i < q->n; i++) {
		if (q->db[i])
			db_close(q->db[i]);
		free(q->db[i]);
	}
	min_effect_cache_free(q->min_effects);
	pthread_cond_destroy(&q->cond);
	pthread_mutex_destroy(&q->mutex);
	free(q->path);
	free(q);
}

struct min_effect_cache *query_min_effects(struct query *q)
{
	return q->min_effects;
}

static unsigned acquire(struct query *q)
{
	unsigned i;

	pthread_mutex_lock(&q->mutex);
	for (;;) {
		for (i = 0; i < q->n && q->busy[i]; i++)
			;
		if (i < q->n)
			break;
		pthread_cond_wait(&q->cond, &q->mutex);
	}
	q->busy[i] = true;
	pthread_mutex_unlock(&q->mutex);
	return i;
}

static void release(struct query *q, unsigned i)
{
	pthread_mutex_lock(&q->mutex);
	q->busy[i] = false;
	pthread_cond_signal(&q->cond);
	pthread_mutex_unlock(&q->mutex);
}

static int open_connection(struct query *q, struct db **slot, struct kg_err *err)
{
	struct db *db = calloc(1, sizeof(*db));
	int rc = db ? db_open_reader(db, q->path, err) : -ENOMEM;

	if (rc < 0)
		free(db);
	else
		*slot = db;
	return rc;
}

int query_begin(struct query *q, struct db **ret_db, struct kg_err *err)
{
	unsigned i = acquire(q);
	int rc = 0;

	if (!q->db[i])
		rc = open_connection(q, &q->db[i], err);
	if (rc == 0)
		rc = db_exec(q->db[i], err, "BEGIN", NIL);
	if (rc < 0) {
		release(q, i);
		return rc;
	}
	*ret_db = q->db[i];
	return 0;
}

int query_end(struct query *q, struct db *db, int rc)
{
	unsigned i = 0;

	while (q->db[i] != db)
		i++;
	if (!sqlite3_get_autocommit(db->h))
		(void)db_exec(db, NULL, "ROLLBACK", NIL);
	release(q, i);
	return rc;
}

/* ---- replies ---- */

int reply_oom(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

int reply_text(char **field, const char *text)
{
	if (!text)
		return 0;
	*field = strdup(text);
	return *field ? 0 : -ENOMEM;
}

int reply_bytes(ProtobufCBinaryData *field, const void *bytes, size_t len)
{
	field->data = malloc(len ? len : 1);
	if (!field->data)
		return -ENOMEM;
	if (len)
		memcpy(field->data, bytes, len);
	field->len = len;
	return 0;
}

void *reply_new(const ProtobufCMessageDescriptor *d)
{
	ProtobufCMessage *m = malloc(d->sizeof_message);

	if (m)
		protobuf_c_message_init(d, m);
	return m;
}

void reply_free(void *message)
{
	if (message)
		protobuf_c_message_free_unpacked(message, NULL);
}

int reply_push(void *items, size_t *n, void *item, const ProtobufCMessageDescriptor *d)
{
	void **array;

	if (!item)
		return -ENOMEM;
	memcpy(&array, items, sizeof(array)); /* whatever type the pointer to pointers has */
	if ((*n & (*n - 1)) == 0) {	      /* 0 or a power of two: full */
		void **grown = realloc(array, (*n ? 2 * *n : 1) * sizeof(*grown));

		if (!grown) {
			if (d)
				reply_free(item);
			else
				free(item);
			return -ENOMEM;
		}
		array = grown;
		memcpy(items, &array, sizeof(array));
	}
	memcpy(&array[(*n)++], &item, sizeof(item));
	return 0;
}

int reply_push_text(char ***items, size_t *n, const char *text)
{
	return reply_push(items, n, strdup(text), NULL);
}
