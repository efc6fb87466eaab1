/* SPDX-License-Identifier: MIT */
/* bugs.h - the planted bugs. */
#ifndef BUGS_H
#define BUGS_H

/** plant_bugs() - make each bug once, behind a line "bug NAME". Each must be reported. */
void plant_bugs(void);

#endif /* BUGS_H */
