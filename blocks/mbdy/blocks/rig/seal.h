/* SHA-256 (FIPS 180-4) and HMAC (RFC 2104) of packets. */

#ifndef MBDY_SEAL_H
#define MBDY_SEAL_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

/* What a key makes of the two hashes before a message comes. */
struct seal_key {
    struct sha256 inner, outer;
};

void seal_prepare(struct seal_key *key, const unsigned char *bytes, size_t n);
void seal_make(const struct seal_key *key, const unsigned char *bytes, size_t n, unsigned char seal[32]);
/* Whether the seal is right, in a time that does not tell how much of it is. */
int seal_holds(const struct seal_key *key, const unsigned char *bytes, size_t n, const unsigned char *seal);

#endif
