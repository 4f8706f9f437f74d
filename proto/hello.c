/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proto/hello.h"

#include "common/str.h"

int kg_hello_check(const Kgrid__V1__Hello *peer, uint32_t *ret_minor, struct kg_err *err)
{
	const char *software = peer->software ? peer->software : "of unknown software";

	if (!peer->has_role || peer->role < KGRID__V1__ROLE__ROLE_AGENT ||
	    peer->role > KGRID__V1__ROLE__ROLE_COORDINATOR)
		return kg_err_set(err, KG_EPROTO, "HELLO without a known role");
	if (!peer->has_version_min || !peer->has_version_max ||
	    peer->version_min > peer->version_max)
		return kg_err_set(err, KG_EPROTO, "HELLO without a version window");
	if (peer->version_max < KG_PROTO_MINOR_OLDEST || peer->version_min > KG_PROTO_MINOR)
		return kg_err_set(err, KG_EVERSION,
				  "peer (%.80s) speaks protocol 1.%u to 1.%u, this program "
				  "(kgrid " KGRID_VERSION ") 1.%d to 1.%d",
				  software, peer->version_min, peer->version_max,
				  KG_PROTO_MINOR_OLDEST, KG_PROTO_MINOR);
	if (peer->role == KGRID__V1__ROLE__ROLE_AGENT) {
		if (!peer->machine || !peer->machine[0])
			return kg_err_set(err, KG_EPROTO, "HELLO of an agent without a machine");
		if (!kg_name_valid(peer->machine))
			return kg_err_set(err, KG_EPROTO,
					  "HELLO of an agent: '%.63s' is not a machine's name",
					  peer->machine);
	}
	*ret_minor = peer->version_max < KG_PROTO_MINOR ? peer->version_max : KG_PROTO_MINOR;
	return 0;
}
