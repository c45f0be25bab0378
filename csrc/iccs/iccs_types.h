/*
 * The two argument shapes of the ICCS interface, in bytes.
 *
 *   IN  x: the buffer, then its length by value. Not const: the interface lets a function write there.
 *   OUT x: the buffer, then a pointer to its length. The caller sets the length to the getter's value before
 *          each call, the function sets it to what it wrote.
 */
#ifndef KATALOG_ICCS_TYPES_H
#define KATALOG_ICCS_TYPES_H

#define ICCS_IN(name) unsigned char *name, unsigned long long name##_len_bytes
#define ICCS_OUT(name) unsigned char *name, unsigned long long *name##_len_bytes

typedef unsigned long long iccs_length(void);

#endif
