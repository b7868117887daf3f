// Hashes a key string (engine/bson/key_string.h), for the hash tables that group values. 1, 1.0 and
// NumberLong(1) have the same key string. Internal to engine/query. Thread-safety: a pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace gridmount::query {

uint64_t hash_of_key(std::string_view key);

}  // namespace gridmount::query
