/* What a built library states about itself. Strings are static. */
#ifndef KATALOG_METADATA_H
#define KATALOG_METADATA_H

const char *katalog_candidate(void);   /* id in the catalog, e.g. kem-kyber */
const char *katalog_instance(void);    /* name of the parameter set */
const char *katalog_build_flags(void); /* the compiler flags it was built with */
int katalog_digest_bits(void);         /* digest length of a hash function, 0 for the other families */

#endif
