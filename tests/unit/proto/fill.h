/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages with every field set, made from their descriptors. */
#ifndef KG_TESTS_FILL_H
#define KG_TESTS_FILL_H

#include <protobuf-c/protobuf-c.h>

#include "common/arena.h"

/* `variant` chooses values, and which field of each oneof is set. Lives in the arena. */
ProtobufCMessage *fill_message(struct kg_arena *a, const ProtobufCMessageDescriptor *d,
			       unsigned variant);

#endif
