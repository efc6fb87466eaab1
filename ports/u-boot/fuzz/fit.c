// SPDX-License-Identifier: MIT
/*
 * fit.c - an image tree (FIT): checked, shown, hashes and signatures verified, its images found and unpacked, as the
 * commands `iminfo`, `imxtract` and `bootm` do it. Nothing is copied to a load address: the image names that itself.
 */
#include <common.h>
#include <bootm.h>
#include <bootstage.h>
#include <image.h>
#include <malloc.h>
#include <linux/libfdt.h>

#include "target.h"

#define UNPACKED_MAX (64UL << 10)

static void unpack(const void *fit, int node)
{
	const void *data;
	uint8_t compression;
	ulong end;
	size_t size;
	void *to;

	if (fit_image_get_data_and_size(fit, node, &data, &size))
		return;
	if (fit_image_get_comp(fit, node, &compression) || compression == IH_COMP_NONE)
		return;
	to = malloc(UNPACKED_MAX);
	if (to)
		image_decomp(compression, 0, 1, IH_TYPE_KERNEL, to, (void *)data, size,
			     UNPACKED_MAX, &end);
	free(to);
}

static void load(const void *fit, const char *configuration)
{
	static const struct {
		int type, stage;
	} kinds[] = {
		{IH_TYPE_KERNEL, BOOTSTAGE_ID_FIT_KERNEL_START},
		{IH_TYPE_FLATDT, BOOTSTAGE_ID_FIT_FDT_START},
		{IH_TYPE_RAMDISK, BOOTSTAGE_ID_FIT_RD_START},
		{IH_TYPE_LOADABLE, BOOTSTAGE_ID_FIT_LOADABLE_START},
	};

	for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct bootm_headers images = {.verify = 1};
		const char *name = NULL;
		ulong data, size;

		fit_image_load(&images, (ulong)fit, &name, &configuration, IH_ARCH_ARM64,
			       kinds[i].type, kinds[i].stage, FIT_LOAD_IGNORED, &data, &size);
	}
}

static int run(const unsigned char *data, unsigned long size)
{
	int images, node;

	if (size < sizeof(struct fdt_header) || fdt_totalsize(data) > size ||
	    fit_check_format(data, size))
		return 0;
	fit_print_contents(data);
	fit_all_image_verify(data);
	fit_conf_get_node(data, NULL);
	images = fdt_path_offset(data, FIT_IMAGES_PATH);
	fdt_for_each_subnode (node, data, images)
		unpack(data, node);
	load(data, NULL);
	return 0;
}

const struct fuzz_target fuzz_fit = {"fit", NULL, run};
