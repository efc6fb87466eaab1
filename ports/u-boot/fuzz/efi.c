// SPDX-License-Identifier: MIT
/*
 * efi.c - a PE image: loaded, relocated and authenticated as by the boot service LoadImage(), and unloaded. It is not
 * started: that would run the input.
 */
#include <common.h>
#include <efi_api.h>
#include <efi_loader.h>
#include <malloc.h>

#include "target.h"

static efi_handle_t parent;

static const char *start(void)
{
	struct efi_loaded_image_obj *object;
	struct efi_loaded_image *info;

	if (efi_init_obj_list() != EFI_SUCCESS ||
	    efi_setup_loaded_image(NULL, NULL, &object, &info) != EFI_SUCCESS)
		return "fuzz: no EFI";
	parent = &object->header;
	return NULL;
}

static int run(const unsigned char *data, unsigned long size)
{
	efi_handle_t image = NULL;
	efi_status_t status;

	status = EFI_CALL(efi_load_image(false, parent, NULL, (void *)data, size, &image));
	if ((status == EFI_SUCCESS || status == EFI_SECURITY_VIOLATION) && image)
		EFI_CALL(efi_unload_image(image));
	return 0;
}

const struct fuzz_target fuzz_efi = {"efi", start, run};
