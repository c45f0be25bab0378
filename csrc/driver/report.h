/* The result document of `driver time`. */
#ifndef KATALOG_REPORT_H
#define KATALOG_REPORT_H

#include "json.h"
#include "trial.h"

/* Writes the members of the open object; reorders the trial's readings. */
void write_report(struct trial *trial, struct json *json);

#endif
