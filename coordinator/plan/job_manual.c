/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid-job(5): the tables that parse, and what no table says. */
#include "coordinator/plan/job_internal.h"

#include <string.h>

#include "common/uarch.h"
#include "coordinator/plan/plan_cover.h"

static const char example[] =
	"include: site.yaml            # of this folder; what stands here wins\n"
	"name: what-do-lsms-cost\n"
	"machines: \"vendor in (intel, amd) and cpus >= 2 and lab in tags\"\n"
	"kernels: [6.1.0-52-cloud-amd64, 6.12.117+deb12-cloud-amd64]\n"
	"lsm:\n"
	"  prev: integrity,apparmor\n"
	"  new:  landlock,lockdown,yama,integrity,apparmor,tomoyo,bpf\n"
	"  nt:   {base: new, without: [tomoyo]}\n"
	"  own:  default               # no lsm= word: the list of the kernel's config\n"
	"cmdline:\n"
	"  base: audit=0\n"
	"  vary: {safe: mitigations=auto, fast: mitigations=off}\n"
	"settings:\n"
	"  governor: [performance, schedutil]\n"
	"  sysctl: {vm.swappiness: 10}\n"
	"parameters:\n"
	"  quick: {seconds: 1}\n"
	"  long:  {use: quick, seconds: 30}\n"
	"defaults:\n"
	"  seconds: 10                 # of every workload that has it\n"
	"  hackbench: {groups: 4}\n"
	"matrix: {mode: [process, thread]}\n"
	"workloads:\n"
	"  - netperf: {test: UDP_RR, size: 64..1024*2, use: [quick, long],\n"
	"              role: {client: [box-1], server: [box-2]}}\n"
	"  - hackbench\n"
	"  - perf-bench: {test: syscall-basic, loops: 200000}\n"
	"pairwise: true\n"
	"exclude: [\"vendor == amd and lsm == nt\", \"set == long and size > 512\"]\n"
	"only: [\"kernel != '6.1.0-52-cloud-amd64' or lsm != own\"]\n"
	"repeat: {boots: 8..12, iterations: 5, until: \"ci95 <= 1%\"}\n"
	"budget: {wall: 4h}\n"
	"priority: 60\n"
	"notify: [mail:perf-team@example.org]\n";

const char *job_manual_example(void)
{
	return example;
}

/* Text as it is: roff's own characters are escaped, and no line is a request. */
static void add_plain(struct kg_str *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			kg_str_add(out, "\\&");
		if (*text == '\\')
			kg_str_add(out, "\\e");
		else if (*text == '-')
			kg_str_add(out, "\\-");
		else
			kg_str_addn(out, text, 1);
		line_start = *text == '\n';
	}
}

static void add_verbatim(struct kg_str *out, const char *text)
{
	kg_str_add(out, ".PP\n.nf\n");
	add_plain(out, text);
	kg_str_add(out, ".fi\n");
}

static void add_text(struct kg_str *out, const char *text)
{
	kg_str_add(out, ".PP\n");
	add_plain(out, text);
	kg_str_add(out, "\n");
}

void job_manual_item(struct kg_str *out, const char *name, const char *help)
{
	kg_str_add(out, ".TP\n\\fB");
	add_plain(out, name);
	kg_str_add(out, "\\fR\n\\&");
	add_plain(out, help);
	kg_str_add(out, ".\n");
}

static void add_includes(struct kg_str *out)
{
	kg_str_add(out, ".SH INCLUDES AND DEFAULTS\n");
	add_text(
		out,
		"A file named under include has the keys of a job file and need not be complete. "
		"Relative names start from the folder of the file that includes; circles are "
		"refused, and so are more than 64 files. The including file wins key by key, later "
		"includes win over earlier ones. What is below lsm, parameters, defaults, "
		"settings, "
		"matrix, repeat and budget is put together label by label, sysctl too; every other "
		"value, such as a list or one named set, is replaced as a whole. Errors name the "
		"file "
		"in which they are.");
	add_text(
		out,
		"Under defaults, a key of the job counts where the job lacks it; a mapping is the "
		"parameters of the workload of that name; anything else is a parameter of every "
		"workload that declares it. A name that is both a key of the job and a workload is "
		"the key. A parameter is taken from the first of these that has it: the workload "
		"itself, the set that it uses, defaults of the workload, matrix, defaults, the "
		"workload's declaration.");
}

static void add_workloads(struct kg_str *out)
{
	kg_str_add(out, ".SH WORKLOADS AND PARAMETERS\n");
	add_text(out,
		 "Each item under workloads is a name, or a name with parameters as its agent's "
		 "declaration knows them. Beside them stand:");
	job_manual_item(
		out, "use",
		"a set of parameters, or a list of sets that are tried one after the other. A "
		"set may use others, at most 8 deep, not itself; its own parameters win, then "
		"those of the set that comes first");
	job_manual_item(
		out, "matrix",
		"parameters of this workload, the same as beside it; a heading for values that "
		"are tried");
	job_manual_item(out, "role", "two machines for this workload, see ROLES");
	add_text(out, "A parameter has one value or a list of values; all combinations are tried, "
		      "or with pairwise in so few cells that each two values still come together. "
		      "A whole "
		      "number or "
		      "a size may be a range:");
	job_manual_item(out, "3..10", "each whole number from 3 to 10");
	job_manual_item(out, "1..9+2", "1, 3, 5, 7, 9");
	job_manual_item(out, "64..1024*2", "64, 128, 256, 512, 1024");
	add_text(out, "Units: sizes take B, KiB, MiB, GiB, TiB, kB, MB, GB and TB; durations take "
		      "ns, us, ms, s, m, min, h and d, "
		      "alone a number is seconds. A parameter whose declaration names a unit of "
		      "time or of "
		      "bytes takes these too: 10s, 64KiB.");
}

static void add_roles(struct kg_str *out)
{
	kg_str_add(out, ".SH ROLES\n");
	add_text(
		out,
		"A network workload runs on a client and needs a server. Each machine that client "
		"means is paired with each other one that server means; names are machines "
		"wherever "
		"they are, predicates choose among the job's machines. Both boot the same kernel, "
		"list, "
		"command line and settings. The two are reserved together, or not at all. The cell "
		"belongs to the client and names its peer.");
	kg_yaml_manual(job_role_fields, "role.", out);
}

static void add_repeat(struct kg_str *out)
{
	kg_str_add(out, ".SH REPEATS AND THE STOP RULE\n");
	add_text(
		out,
		"boots: 8 is a fixed horizon: eight blocks on each machine. boots: 5..12 lets the "
		"stop "
		"rule decide after each block from the fifth on: a machine is done once every "
		"effect's "
		"95 % interval (per-boot values against the baseline) is at most as wide as "
		"'until' "
		"says; where the job has nothing to compare, every median's. Otherwise it goes on "
		"to "
		"the twelfth, or until the budget is spent; the result says which. 5 boots a side "
		"are the least that can decide. Looking after each block makes an early stop a "
		"little optimistic, "
		"below "
		"8 boots a side noticeably: the result says so. A range without until means until: "
		"\"ci95 <= 1%\".");
	add_text(out, "kgrid job extend JOB --blocks N adds N blocks to a job: more boots of "
		      "everything that it boots.");
}

static void add_standing(struct kg_str *out)
{
	kg_str_add(out, ".SH STANDING JOBS\n");
	add_text(out, "A job with when is kept, and runs at each occasion as a job of its own; "
		      "kgrid standing lists them and ends them. Occasions:");
	job_manual_item(
		out, "kernel added",
		"whenever a kernel is stored. It is 'added' under kernels, and 'previous' is "
		"the one that was stored before it. Where added is a kernel that the list names, "
		"too, it is tried once, with a warning");
	job_manual_item(out, "nightly", "each night at 02:00, local time of the coordinator");
	job_manual_item(out, "{nightly: \"03:30\"}", "each night at that time");
}

static void add_predicates(struct kg_str *out)
{
	const char *names[KG_UARCH_MAX];
	size_t n = kg_uarch_known(names, KG_UARCH_MAX);
	size_t i;

	kg_str_add(out, ".SH PREDICATES\n");
	add_text(out,
		 "machines, role, exclude and only take predicates, and so does kgrid machines "
		 "--where.");
	add_verbatim(out,
		     "expression := and { \"or\" and }\n"
		     "and        := not { \"and\" not }\n"
		     "not        := \"not\" not | \"(\" expression \")\" | comparison\n"
		     "comparison := NAME ( == | != | < | <= | > | >= ) VALUE\n"
		     "            | NAME [ \"not\" ] \"in\" \"(\" VALUE { \",\" VALUE } \")\"\n"
		     "            | VALUE [ \"not\" ] \"in\" LIST\n");
	add_text(
		out,
		"A VALUE is a bare word of letters, digits and ._+-:/%@*, a number (also "
		"hexadecimal, and with a unit of bytes; of a parameter with any unit that goes "
		"with its declaration's, seconds >= 1m), or text in single or double quotes; one "
		"with '=' in it needs quotes. On a list (tags, kernel, cmdline) == asks whether "
		"some "
		"item is "
		"equal. Comparing what is absent, a fact that is not known or a parameter that the "
		"workload lacks, is false, whatever the operator. Errors say the column and the "
		"nearest name.");
	kg_str_add(out, ".SS Facts of machines\n");
	predicate_manual(false, out);
	kg_str_add(out, ".SS Axes, under exclude and only\n");
	predicate_manual(true, out);
	job_manual_item(out, "PARAMETER",
			"a parameter of the job's workloads, by its name: size > 64KiB; "
			"param.NAME where a fact or an axis has that name, too");
	job_manual_item(
		out, "SETTING",
		"a setting, by its name: governor == performance, sysctl.vm.swappiness >= 60; "
		"setting.NAME where a parameter has that name, too");
	kg_str_add(out, ".SS Microarchitectures\n");
	add_text(out, "Compared without case, blanks, '-', '_' and '+', and without the suffix of "
		      "a server or client: "
		      "cascadelake is Cascade Lake-SP, skylake is both Skylake-SP and the client. "
		      "Of a name with a '/' either side will do, and what stands in parentheses "
		      "is not compared. One that is not listed is "
		      "FAMILY-MODEL-STEPPING in decimal.");
	kg_str_add(out, ".PP\n");
	for (i = 0; i < n; i++) {
		add_plain(out, names[i]);
		kg_str_add(out, i + 1 < n ? ",\n" : ".\n");
	}
}

static void add_monitors(struct kg_str *out)
{
	size_t n;
	const char *const *names = job_monitor_names(&n);
	size_t i;

	kg_str_add(out, ".SH MONITORS\n.PP\nKnown names:\n");
	for (i = 0; i < n; i++) {
		add_plain(out, names[i]);
		kg_str_add(out, i + 1 < n ? ",\n" : ".\n");
	}
	kg_str_add(out, "This version accepts them, says so, and starts none.\n");
}

static void add_limits(struct kg_str *out)
{
	kg_str_add(out, ".SH LIMITS\n");
	kg_str_addf(
		out,
		".PP\nA file has at most 1 MiB and 100000 nodes, aliases counted as often as they "
		"are used;\na mapping has at most %d keys; kernels, workloads, variants, "
		"predicates and settings\nare at most %d each; boots at most %d. A job with more "
		"slots than the coordinator's\nlimits.max\\-slots is refused with the count, "
		"without "
		"pairwise that of the whole\nproduct, before exclude and only leave anything out. "
		"With pairwise, the axes of a\nworkload that they name may have %llu "
		"combinations.\n",
		JOB_MAX_KEYS, JOB_MAX_ITEMS, JOB_MAX_BOOTS, (unsigned long long)COVER_MAX_RELEVANT);
}

void job_manual(struct kg_str *out)
{
	kg_str_add(out, ".SH NAME\n"
			"kgrid\\-job \\- what to run: machines x kernels x lsm lists x workloads\n"
			".SH SYNOPSIS\n.B kgrid submit\n[\\-\\-dry\\-run] FILE\n"
			".SH DESCRIPTION\n"
			"A YAML file. Each combination of a machine, a kernel, an LSM list, a "
			"variant of the\n"
			"command line, settings, and a workload with its parameters is a cell. "
			"Every block\n"
			"visits, on each machine, each combination that needs a boot once, in "
			"random order.\n"
			"An unknown key, a wrong type or an impossible value is refused with file, "
			"line and\n"
			"column, and with the word that was meant where one is near.\n"
			".SH KEYS\n");
	job_spec_manual(out);
	kg_str_add(out, ".SH LSM LISTS\n");
	add_text(out, "A list that is derived from another one keeps its order. Its keys:");
	kg_yaml_manual(job_lsm_fields, "lsm.LABEL.", out);
	kg_str_add(out, ".SH COMMAND LINE\n");
	add_text(out,
		 "The words lsm=, kgrid. and -- are refused; security= is where the job has lists. "
		 "Keys of the long form:");
	kg_yaml_manual(job_cmdline_fields, "cmdline.", out);
	kg_str_add(out, ".SH SETTINGS\n");
	add_text(out,
		 "Each is written after the boot and read back, then and after each run; a machine "
		 "that does not offer one makes its cells infeasible. What a processor would keep "
		 "over a kexec is set back before the next one. More than one value is an axis.");
	job_settings_manual(out);
	add_workloads(out);
	add_roles(out);
	add_includes(out);
	add_predicates(out);
	add_repeat(out);
	add_standing(out);
	add_monitors(out);
	add_limits(out);
	kg_str_add(out, ".SH EXAMPLE\n");
	add_verbatim(out, example);
	kg_str_add(out, ".SH SEE ALSO\n.BR kgrid (1),\n.BR kgrid\\-coordinator (8)\n");
}
