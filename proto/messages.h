/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of messages: frame type number, name, protobuf-c message, who may send it. Numbers
 * are never reused. Everything that dispatches or logs by type is made from this table.
 */
#ifndef KG_PROTO_MESSAGES_H
#define KG_PROTO_MESSAGES_H

#include <protobuf-c/protobuf-c.h>

#include "kgrid/v1/agent.pb-c.h"
#include "kgrid/v1/control.pb-c.h"
#include "kgrid/v1/link.pb-c.h"

enum kg_sender {
	KG_FROM_AGENT = 1,
	KG_FROM_CLIENT = 2,
	KG_FROM_COORDINATOR = 4,
};
#define KG_FROM_ANY (KG_FROM_AGENT | KG_FROM_CLIENT | KG_FROM_COORDINATOR)

/* X(number, NAME, C type, descriptor prefix, senders) */
#define KG_MESSAGES(X)                                                                             \
	X(1, HELLO, Kgrid__V1__Hello, kgrid__v1__hello, KG_FROM_ANY)                               \
	X(2, ERROR, Kgrid__V1__Error, kgrid__v1__error, KG_FROM_ANY)                               \
	X(3, PING, Kgrid__V1__Ping, kgrid__v1__ping, KG_FROM_ANY)                                  \
	X(4, PONG, Kgrid__V1__Pong, kgrid__v1__pong, KG_FROM_ANY)                                  \
	X(5, DONE, Kgrid__V1__Done, kgrid__v1__done, KG_FROM_COORDINATOR)                          \
	X(10, FACTS, Kgrid__V1__MachineFacts, kgrid__v1__machine_facts, KG_FROM_AGENT)             \
	X(11, AGENT_STATE, Kgrid__V1__AgentState, kgrid__v1__agent_state, KG_FROM_AGENT)           \
	X(12, BOOT_ORDER, Kgrid__V1__BootOrder, kgrid__v1__boot_order, KG_FROM_COORDINATOR)        \
	X(13, FENCE_BOOT, Kgrid__V1__FenceBoot, kgrid__v1__fence_boot, KG_FROM_COORDINATOR)        \
	X(14, BLOB_REQUEST, Kgrid__V1__BlobRequest, kgrid__v1__blob_request, KG_FROM_AGENT)        \
	X(15, BLOB_CHUNK, Kgrid__V1__BlobChunk, kgrid__v1__blob_chunk, KG_FROM_COORDINATOR)        \
	X(16, RECORD, Kgrid__V1__Record, kgrid__v1__record, KG_FROM_AGENT)                         \
	X(17, RECORD_ACK, Kgrid__V1__RecordAck, kgrid__v1__record_ack, KG_FROM_COORDINATOR)        \
	X(18, PEER_SERVING, Kgrid__V1__PeerServing, kgrid__v1__peer_serving, KG_FROM_AGENT)        \
	X(19, PEER_WANTED, Kgrid__V1__PeerWanted, kgrid__v1__peer_wanted, KG_FROM_AGENT)           \
	X(20, PEER_READY, Kgrid__V1__PeerReady, kgrid__v1__peer_ready, KG_FROM_COORDINATOR)        \
	X(21, PEER_DONE, Kgrid__V1__PeerDone, kgrid__v1__peer_done, KG_FROM_COORDINATOR)           \
	X(40, INFO, Kgrid__V1__InfoRequest, kgrid__v1__info_request, KG_FROM_CLIENT)               \
	X(41, INFO_REPLY, Kgrid__V1__InfoReply, kgrid__v1__info_reply, KG_FROM_COORDINATOR)        \
	X(42, SUBMIT, Kgrid__V1__SubmitRequest, kgrid__v1__submit_request, KG_FROM_CLIENT)         \
	X(43, SUBMIT_REPLY, Kgrid__V1__SubmitReply, kgrid__v1__submit_reply, KG_FROM_COORDINATOR)  \
	X(44, JOBS, Kgrid__V1__JobsRequest, kgrid__v1__jobs_request, KG_FROM_CLIENT)               \
	X(45, JOBS_REPLY, Kgrid__V1__JobsReply, kgrid__v1__jobs_reply, KG_FROM_COORDINATOR)        \
	X(46, JOB, Kgrid__V1__JobRequest, kgrid__v1__job_request, KG_FROM_CLIENT)                  \
	X(47, JOB_REPLY, Kgrid__V1__JobReply, kgrid__v1__job_reply, KG_FROM_COORDINATOR)           \
	X(48, JOB_CANCEL, Kgrid__V1__JobCancelRequest, kgrid__v1__job_cancel_request,              \
	  KG_FROM_CLIENT)                                                                          \
	X(49, JOB_RETRY, Kgrid__V1__JobRetryRequest, kgrid__v1__job_retry_request, KG_FROM_CLIENT) \
	X(50, WATCH, Kgrid__V1__WatchRequest, kgrid__v1__watch_request, KG_FROM_CLIENT)            \
	X(51, WATCH_UPDATE, Kgrid__V1__WatchUpdate, kgrid__v1__watch_update, KG_FROM_COORDINATOR)  \
	X(52, STREAM_END, Kgrid__V1__StreamEnd, kgrid__v1__stream_end, KG_FROM_COORDINATOR)        \
	X(53, MACHINES, Kgrid__V1__MachinesRequest, kgrid__v1__machines_request, KG_FROM_CLIENT)   \
	X(54, MACHINES_REPLY, Kgrid__V1__MachinesReply, kgrid__v1__machines_reply,                 \
	  KG_FROM_COORDINATOR)                                                                     \
	X(55, MACHINE, Kgrid__V1__MachineRequest, kgrid__v1__machine_request, KG_FROM_CLIENT)      \
	X(56, MACHINE_REPLY, Kgrid__V1__MachineReply, kgrid__v1__machine_reply,                    \
	  KG_FROM_COORDINATOR)                                                                     \
	X(57, KERNELS, Kgrid__V1__KernelsRequest, kgrid__v1__kernels_request, KG_FROM_CLIENT)      \
	X(58, KERNELS_REPLY, Kgrid__V1__KernelsReply, kgrid__v1__kernels_reply,                    \
	  KG_FROM_COORDINATOR)                                                                     \
	X(59, KERNEL_OFFER, Kgrid__V1__KernelOffer, kgrid__v1__kernel_offer, KG_FROM_CLIENT)       \
	X(60, KERNEL_OFFER_REPLY, Kgrid__V1__KernelOfferReply, kgrid__v1__kernel_offer_reply,      \
	  KG_FROM_COORDINATOR)                                                                     \
	X(61, BLOB_PUT, Kgrid__V1__BlobPut, kgrid__v1__blob_put, KG_FROM_CLIENT)                   \
	X(62, BLOB_PUT_REPLY, Kgrid__V1__BlobPutReply, kgrid__v1__blob_put_reply,                  \
	  KG_FROM_COORDINATOR)                                                                     \
	X(63, KERNEL_COMMIT, Kgrid__V1__KernelCommit, kgrid__v1__kernel_commit, KG_FROM_CLIENT)    \
	X(64, KERNEL_REPLY, Kgrid__V1__KernelReply, kgrid__v1__kernel_reply, KG_FROM_COORDINATOR)  \
	X(65, KERNEL, Kgrid__V1__KernelRequest, kgrid__v1__kernel_request, KG_FROM_CLIENT)         \
	X(66, KERNEL_REMOVE, Kgrid__V1__KernelRemove, kgrid__v1__kernel_remove, KG_FROM_CLIENT)    \
	X(67, COMPARE, Kgrid__V1__CompareRequest, kgrid__v1__compare_request, KG_FROM_CLIENT)      \
	X(68, COMPARE_REPLY, Kgrid__V1__CompareReply, kgrid__v1__compare_reply,                    \
	  KG_FROM_COORDINATOR)                                                                     \
	X(69, SAMPLES, Kgrid__V1__SamplesRequest, kgrid__v1__samples_request, KG_FROM_CLIENT)      \
	X(70, SAMPLES_REPLY, Kgrid__V1__SamplesReply, kgrid__v1__samples_reply,                    \
	  KG_FROM_COORDINATOR)                                                                     \
	X(71, LOGS, Kgrid__V1__LogsRequest, kgrid__v1__logs_request, KG_FROM_CLIENT)               \
	X(72, LOGS_REPLY, Kgrid__V1__LogsReply, kgrid__v1__logs_reply, KG_FROM_COORDINATOR)        \
	X(73, EPOCHS, Kgrid__V1__EpochsRequest, kgrid__v1__epochs_request, KG_FROM_CLIENT)         \
	X(74, EPOCHS_REPLY, Kgrid__V1__EpochsReply, kgrid__v1__epochs_reply, KG_FROM_COORDINATOR)  \
	X(75, DIFF, Kgrid__V1__DiffRequest, kgrid__v1__diff_request, KG_FROM_CLIENT)               \
	X(76, DIFF_REPLY, Kgrid__V1__DiffReply, kgrid__v1__diff_reply, KG_FROM_COORDINATOR)        \
	X(77, PROVENANCE, Kgrid__V1__ProvenanceRequest, kgrid__v1__provenance_request,             \
	  KG_FROM_CLIENT)                                                                          \
	X(78, PROVENANCE_REPLY, Kgrid__V1__ProvenanceReply, kgrid__v1__provenance_reply,           \
	  KG_FROM_COORDINATOR)                                                                     \
	X(79, HISTORY, Kgrid__V1__HistoryRequest, kgrid__v1__history_request, KG_FROM_CLIENT)      \
	X(80, HISTORY_REPLY, Kgrid__V1__HistoryReply, kgrid__v1__history_reply,                    \
	  KG_FROM_COORDINATOR)                                                                     \
	X(81, REGRESSIONS, Kgrid__V1__RegressionsRequest, kgrid__v1__regressions_request,          \
	  KG_FROM_CLIENT)                                                                          \
	X(82, REGRESSIONS_REPLY, Kgrid__V1__RegressionsReply, kgrid__v1__regressions_reply,        \
	  KG_FROM_COORDINATOR)                                                                     \
	X(83, REGRESSION_ACTION, Kgrid__V1__RegressionAction, kgrid__v1__regression_action,        \
	  KG_FROM_CLIENT)                                                                          \
	X(84, CALIBRATE, Kgrid__V1__CalibrateRequest, kgrid__v1__calibrate_request,                \
	  KG_FROM_CLIENT)                                                                          \
	X(85, NOISE, Kgrid__V1__NoiseRequest, kgrid__v1__noise_request, KG_FROM_CLIENT)            \
	X(86, NOISE_REPLY, Kgrid__V1__NoiseReply, kgrid__v1__noise_reply, KG_FROM_COORDINATOR)     \
	X(87, IMPORT, Kgrid__V1__ImportRequest, kgrid__v1__import_request, KG_FROM_CLIENT)         \
	X(88, IMPORTS, Kgrid__V1__ImportsRequest, kgrid__v1__imports_request, KG_FROM_CLIENT)      \
	X(89, IMPORTS_REPLY, Kgrid__V1__ImportsReply, kgrid__v1__imports_reply,                    \
	  KG_FROM_COORDINATOR)                                                                     \
	X(90, REPLY_PART, Kgrid__V1__ReplyPart, kgrid__v1__reply_part, KG_FROM_COORDINATOR)        \
	X(91, LSM_RESOLVE, Kgrid__V1__LsmResolveRequest, kgrid__v1__lsm_resolve_request,           \
	  KG_FROM_CLIENT)                                                                          \
	X(92, LSM_RESOLVE_REPLY, Kgrid__V1__LsmResolveReply, kgrid__v1__lsm_resolve_reply,         \
	  KG_FROM_COORDINATOR)                                                                     \
	X(93, WHY, Kgrid__V1__WhyRequest, kgrid__v1__why_request, KG_FROM_CLIENT)                  \
	X(94, WHY_REPLY, Kgrid__V1__WhyReply, kgrid__v1__why_reply, KG_FROM_COORDINATOR)           \
	X(95, REPRODUCE, Kgrid__V1__ReproduceRequest, kgrid__v1__reproduce_request,                \
	  KG_FROM_CLIENT)                                                                          \
	X(96, REPRODUCE_REPLY, Kgrid__V1__ReproduceReply, kgrid__v1__reproduce_reply,              \
	  KG_FROM_COORDINATOR)                                                                     \
	X(97, JOB_CHANGE, Kgrid__V1__JobChange, kgrid__v1__job_change, KG_FROM_CLIENT)             \
	X(98, MACHINE_CHANGE, Kgrid__V1__MachineChange, kgrid__v1__machine_change, KG_FROM_CLIENT) \
	X(99, STANDING, Kgrid__V1__StandingRequest, kgrid__v1__standing_request, KG_FROM_CLIENT)   \
	X(100, STANDING_REPLY, Kgrid__V1__StandingReply, kgrid__v1__standing_reply,                \
	  KG_FROM_COORDINATOR)

enum kg_msg_type {
#define X(number, NAME, type, prefix, from) KG_MSG_##NAME = (number),
	KG_MESSAGES(X)
#undef X
};

struct kg_msg_info {
	uint16_t type;
	const char *name; /* "BOOT_ORDER" */
	const ProtobufCMessageDescriptor *descriptor;
	unsigned senders; /* kg_sender bits */
};

/* NULL for an unknown number. Static storage. */
const struct kg_msg_info *kg_msg_find(uint16_t type);

#endif
