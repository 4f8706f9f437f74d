/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the driver share. */
#ifndef KG_AGENT_DRIVER_INTERNAL_H
#define KG_AGENT_DRIVER_INTERNAL_H

#include "agent/agent.h"
#include "agent/boot_fetch.h"
#include "agent/cache.h"
#include "agent/connect.h"
#include "agent/driver.h"
#include "agent/document.h"
#include "agent/fact_list.h"
#include "agent/provenance.h"
#include "agent/provenance_facts.h"
#include "agent/settings.h"
#include "agent/spool.h"
#include "agent/state.h"
#include "agent/workload_group.h"
#include "agent/workload_registry.h"
#include "agent/workload_run.h"
#include "common/cmdline.h"
#include "common/str.h"
#include "proto/messages.h"

#define DRIVER_QUEUE 8

/* An event that came up while another was carried out; texts are copies. */
struct driver_queued {
	struct agent_event ev;
	char outcome[24];
	char reason[AGENT_REASON_SIZE];
};

struct driver_load { /* building the image and loading the kernel, on a worker thread */
	uv_work_t work;
	bool busy;
	bool cancelled; /* fenced meanwhile: take it out again */
	struct driver *d;
	struct boot_artifact artifact;
	char kernel_digest[KG_SHA256_HEX_SIZE];
	char cmdline[2 * KG_CMDLINE_MAX];
	const char *method; /* result */
	int code;
	struct kg_err err;
};

struct driver_describe { /* facts and documents of the boot, read on the worker thread */
	uv_work_t work;
	bool busy;
	struct driver *d;
	struct provenance_input in;
	int code;
	bool wanted; /* else only the settings are made */
	uint64_t took_ns;
	struct fact_list facts;
	struct document_list documents;
	struct kg_params settings; /* owned: to be applied before */
	int settings_code;
	struct kg_err settings_err;
};

struct driver {
	uv_loop_t *loop;
	const struct agent_config *config;
	struct agent agent;
	struct agent_state state;
	struct kg_msg *order_msg;	   /* owned; NULL: idle */
	const Kgrid__V1__BootOrder *order; /* borrows from order_msg */
	struct kg_msg *offered;		   /* owned; during AGENT_EV_ORDER only */
	struct provenance provenance;
	struct workload_registry registry;
	struct workload_group group;
	struct spool *spool; /* NULL: idle */
	struct connect *connect;
	struct boot_fetch *fetch;
	uint32_t fetch_id; /* of the last blob request */
	struct workload_run *run;
	bool peer_wanted; /* the run in progress waits for its server, for as long as `wait` says */
	uint16_t peer_port; /* the run in progress serves here; 0: it does not */
	const struct kg_workload *run_workload; /* borrows from the run: its metrics */
	const struct kg_params *run_params;
	struct driver_load load;
	struct driver_describe describe;
	struct fact_list before; /* of the run in progress */
	struct kg_str boot_log;	 /* what the kernel complained about while it booted */
	Kgrid__V1__LogChunk boot_chunk;
	uv_timer_t flush, wait; /* wait: before a hop, or for a server */
	uv_timer_t down;	/* a shutdown has begun, and has to be over by then */
	uv_signal_t term, intr;
	unsigned handles;
	bool stopping, connect_closed;
	bool busy; /* an event is being carried out */
	struct driver_queued queue[DRIVER_QUEUE];
	size_t n_queued;
	uint64_t sent_seq; /* over this connection */
	uint64_t rewound_ns;
	int lock_fd;
	char state_id[33];
	char host_boot_id[AGENT_HOST_BOOT_ID_SIZE];
	char state_path[CACHE_PATH_SIZE];
	char spool_dir[CACHE_PATH_SIZE];
	char cache_dir[CACHE_PATH_SIZE];
	char digests_path[CACHE_PATH_SIZE];
	char undo_path[CACHE_PATH_SIZE];
	struct settings_undo undo;
};

/* driver.c */
void driver_event(struct driver *d, const struct agent_event *ev);
void driver_done(struct driver *d, enum agent_event_kind kind, const char *outcome,
		 const char *reason);
/* Once the event that is being carried out is done. Texts of a run's record must be static. */
void driver_later(struct driver *d, const struct agent_event *ev);
/* Logs and ends the process: the service manager starts it again. */
__attribute__((noreturn, format(printf, 2, 3))) void driver_die(struct driver *d, const char *fmt,
								...);
void driver_close_handles(struct driver *d);
/* The state directory has one owner. KG_EBUSY: it is another. */
int driver_lock(struct driver *d, struct kg_err *err);

/* driver_records.c */
void driver_record(struct driver *d, const struct agent_record *r);
void driver_flush(struct driver *d); /* sends what is not sent, as far as the queue allows */
void driver_resend(struct driver *d);
void driver_acked(struct driver *d, const Kgrid__V1__RecordAck *ack);

/* driver_facts.c */
void driver_send_facts(struct driver *d);
void driver_send_state(struct driver *d);

/* driver_boot.c */
void driver_begin_fetch(struct driver *d);
void driver_begin_load(struct driver *d);
void driver_cancel(struct driver *d);
void driver_hop(struct driver *d);
void driver_reboot(struct driver *d);
void driver_force(struct driver *d);
void driver_verify(struct driver *d);
/* Whether this kernel was booted for the order that is held. */
bool driver_nonce_seen(const struct driver *d);

/* driver_provenance.c */
void driver_describe(struct driver *d);
/* Facts around the run in progress: the first right before its first process, the second once
 * nothing of it is left. The second makes invalid-env of a pass, in place, where the machine was
 * disturbed or is no longer set as the order wants it; `reason` (AGENT_REASON_SIZE) holds the text. */
void driver_before_run(struct driver *d);
void driver_after_run(struct driver *d, struct agent_run_end *end, char *reason);
/* What the records of the held order may contain. */
bool driver_records_provenance(const struct driver *d);

/* driver_run.c */
void driver_start_run(struct driver *d, uint32_t index);
void driver_kill_run(struct driver *d);
/* The other machine of a pair: messages, and saying our part again over a new connection. */
void driver_peer_ready(struct driver *d, const Kgrid__V1__PeerReady *p);
void driver_peer_done(struct driver *d, const Kgrid__V1__PeerDone *p);
void driver_peer_resend(struct driver *d);
/* Something the run has to say; the run is stopped where the spool has no room for it. */
void driver_run_record(struct driver *d, enum agent_record_kind kind, const ProtobufCMessage *body);

#endif
