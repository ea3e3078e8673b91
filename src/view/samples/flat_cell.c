/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/flat_cell.h"

#include "view/groups/frame_groups.h"
#include "view/samples/process_key.h"

#include <inttypes.h>

static void who_cell(const struct flat *f, const struct profile_row *row, enum flat_key key,
                     bool brief, struct buf *out)
{
	const struct process_table *t = f->view->profile->processes;
	const struct thread *thread = process_table_thread_at(t, row->thread);
	const struct process *process = process_table_process(t, thread->process);
	uint32_t counted = view_counted_process(f->view, row);
	const char *name = view_process_name(f->view, counted);

	if (key == FLAT_PROCESS || counted == ID_NONE)
		buf_puts(out, name);
	else if (process_key_is(key))
		process_key_text(t, process, key, f->request.labels, brief, out);
	else if (key == FLAT_CGROUP)
		buf_puts(out, process->cgroup == ID_NONE ? "[not recorded]"
		                                         : process_table_name(t, process->cgroup));
	else if (key == FLAT_INSTANCE)
		buf_addf(out, "%s#%" PRIu32 " (%d)", name, process->instance, process->pid);
	else
		buf_addf(out, "%s (%d)", process_table_name(t, thread->name), thread->tid);
}

static void image_cell(const struct flat *f, uint32_t image, bool brief, struct buf *out)
{
	if (image == REGION_NONE || image == ID_NONE)
		buf_puts(out, "[none]");
	else
		buf_puts(out, brief ? view_image_short(f->view, image)
		                    : image_path(&f->view->profile->images, image));
}

void flat_cell(const struct flat *f, const struct flat_row *row, enum flat_key key, bool brief,
               struct buf *out)
{
	const struct profile *p = f->view->profile;
	const struct profile_row *example = &p->rows.items[row->example];
	uint32_t image = row->frame == ID_NONE ? ID_NONE : p->frames.items[row->frame].frame.image;

	switch (key) {
	case FLAT_PROCESS:
	case FLAT_INSTANCE:
	case FLAT_THREAD:
	case FLAT_CGROUP:
	case FLAT_SERVICE:
	case FLAT_CONTAINER:
	case FLAT_POD:
	case FLAT_LABEL:
	case FLAT_LABEL_LAST:
		who_cell(f, example, key, brief, out);
		break;
	case FLAT_CPU:
		if (example->cpu == PROFILE_CPU_UNKNOWN)
			buf_puts(out, "[not recorded]");
		else
			buf_addf(out, "%u", example->cpu);
		break;
	case FLAT_IMAGE:
		image_cell(f, image, brief, out);
		break;
	case FLAT_FUNCTION:
		buf_puts(out, flat_function(f, row));
		break;
	case FLAT_LINE:
		if (row->frame == ID_NONE)
			buf_puts(out, VIEW_NO_ADDRESS);
		else
			view_line_text(f->view, row->frame, brief, out);
		break;
	case FLAT_ADDRESS:
		buf_addf(out, "%#" PRIx64, flat_address(f, row));
		break;
	case FLAT_MODE:
		buf_puts(out, view_mode_name(flat_mode(f, row)));
		break;
	case FLAT_GROUP:
		buf_puts(out, frame_groups_name(f->groups, frame_groups_of(f->groups, row->path),
		                                row->path));
		break;
	case FLAT_REGION:
		image_cell(f, example->region, brief, out);
		break;
	case FLAT_FIELD:
	case FLAT_FIELD_LAST:
	default:
		if (flat_key_is_label(key)) {
			who_cell(f, example, key, brief, out);
			break;
		}
		buf_puts(out, sample_fields_text(&p->fields, example->region, key - FLAT_FIELD));
		break;
	}
}
