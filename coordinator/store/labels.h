/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a cell is called wherever it is shown or is the key of a column or row: SQL expressions over
 * table `cell`, the only place that knows. Static text.
 *
 * Where a job varies its command line or settings, its lists are as many columns: "nt" becomes
 * "nt+mitigations=off". Where a workload has a server on another machine, that is part of the row:
 * "size=64 peer=lab-amd".
 */
#ifndef KG_COORDINATOR_STORE_LABELS_H
#define KG_COORDINATOR_STORE_LABELS_H

#define CELL_LSM "iif(cell.variant = '', cell.lsm_label, cell.lsm_label || '+' || cell.variant)"
/* The same for what was requested: the detector's key of a list. */
#define CELL_REQUEST \
	"iif(cell.variant = '', cell.lsm_request, cell.lsm_request || '+' || cell.variant)"
#define CELL_PARAMS "iif(cell.peer = '', cell.params, ltrim(cell.params || ' peer=' || cell.peer))"
/* A list that a person names: all of its variants, or one as it is shown. */
#define CELL_LSM_IS(n) "(cell.lsm_label = " n " OR (cell.variant <> '' AND " CELL_LSM " = " n "))"

#endif
