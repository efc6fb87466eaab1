// SPDX-License-Identifier: MIT
/*
 * efi.c - a PE image: loaded, relocated and authenticated as by the boot service LoadImage(), and unloaded. It is not
 * started: that would run the input.
 */
#include <common.h>
#include <efi_api.h>
#include <efi_loader.h>
#include <malloc.h>
#include <pe.h>

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

/*
 * Bugs nos. 15 to 17 of ports/u-boot/bugs.md read and write wherever the image says, and most inputs would run into them. So an
 * input must be free of them: the sections lie in the file, the headers and the sections in the memory of the image, and
 * there are no relocations. Inputs of certain lengths are let through as they are.
 */
#define LET_THROUGH(size) ((size) % 8 == 7)

static bool known_bugs(const unsigned char *data, unsigned long size)
{
	const IMAGE_NT_HEADERS32 *nt;
	const IMAGE_NT_HEADERS64 *nt64;
	const IMAGE_SECTION_HEADER *sections;
	const IMAGE_DATA_DIRECTORY *relocations;
	u64 head, memory = 0;
	int count;

	if (efi_check_pe((void *)data, size, (void **)&nt) != EFI_SUCCESS)
		return false;
	nt64 = (const void *)nt;
	count = nt->FileHeader.NumberOfSections;
	sections = (const void *)&nt->OptionalHeader + nt->FileHeader.SizeOfOptionalHeader;
	if ((const unsigned char *)(sections + count) > data + size)
		return false;
	for (int i = 0; i < count; i++) {
		const IMAGE_SECTION_HEADER *section = &sections[i];
		const u32 room = section->Misc.VirtualSize ?: section->SizeOfRawData;

		if (section->PointerToRawData > size ||
		    section->SizeOfRawData > size - section->PointerToRawData)
			return true;
		memory = max(memory, (u64)section->VirtualAddress + room);
	}
	head = sizeof(IMAGE_DOS_HEADER) + sizeof(*nt) + nt->FileHeader.SizeOfOptionalHeader +
	       count * sizeof(*sections);
	if (head > size || head > memory || memory > UINT_MAX)
		return true;
	relocations = nt->OptionalHeader.Magic == IMAGE_NT_OPTIONAL_HDR64_MAGIC
			      ? nt64->OptionalHeader.DataDirectory
			      : nt->OptionalHeader.DataDirectory;
	return relocations[IMAGE_DIRECTORY_ENTRY_BASERELOC].Size != 0;
}

static int run(const unsigned char *data, unsigned long size)
{
	efi_handle_t image = NULL;
	efi_status_t status;

	if (!LET_THROUGH(size) && known_bugs(data, size))
		return 0;
	status = EFI_CALL(efi_load_image(false, parent, NULL, (void *)data, size, &image));
	if ((status == EFI_SUCCESS || status == EFI_SECURITY_VIOLATION) && image)
		EFI_CALL(efi_unload_image(image));
	return 0;
}

const struct fuzz_target fuzz_efi = {"efi", start, run};
