#include "seal.h"

#include <string.h>

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t beginning[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void take_block(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        const uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                             rounds[i] + w[i];
        const uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += one, s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void take(struct sha256 *it, const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        it->block[it->bytes++ % 64] = bytes[i];
        if (it->bytes % 64 == 0) take_block(it->state, it->block);
    }
}

static void end(struct sha256 *it, unsigned char digest[32]) {
    const uint64_t bits = 8 * it->bytes;
    take(it, (const unsigned char[]){0x80}, 1);
    while (it->bytes % 64 != 56) take(it, (const unsigned char[]){0}, 1);
    for (int i = 0; i < 8; i++) take(it, (const unsigned char[]){(unsigned char)(bits >> (56 - 8 * i))}, 1);
    for (int i = 0; i < 32; i++) digest[i] = (unsigned char)(it->state[i / 4] >> (24 - 8 * (i % 4)));
}

static void begin(struct sha256 *it) {
    memset(it, 0, sizeof *it);
    memcpy(it->state, beginning, sizeof beginning);
}

void seal_prepare(struct seal_key *key, const unsigned char *bytes, size_t n) {
    unsigned char block[64] = {0};
    if (n > sizeof block) {
        begin(&key->inner), take(&key->inner, bytes, n), end(&key->inner, block);
    } else {
        memcpy(block, bytes, n);
    }
    begin(&key->inner), begin(&key->outer);
    for (int i = 0; i < 64; i++) block[i] ^= 0x36;
    take(&key->inner, block, sizeof block);
    for (int i = 0; i < 64; i++) block[i] ^= 0x36 ^ 0x5c;
    take(&key->outer, block, sizeof block);
}

void seal_make(const struct seal_key *key, const unsigned char *bytes, size_t n, unsigned char seal[32]) {
    struct sha256 hash = key->inner;
    take(&hash, bytes, n), end(&hash, seal);
    hash = key->outer;
    take(&hash, seal, 32), end(&hash, seal);
}

int seal_holds(const struct seal_key *key, const unsigned char *bytes, size_t n, const unsigned char *seal) {
    unsigned char right[32], wrong = 0;
    seal_make(key, bytes, n, right);
    for (int i = 0; i < 32; i++) wrong |= right[i] ^ seal[i];
    return !wrong;
}
