// Makes random values and documents of all types except DBPointer and code with scope. Many of them
// are equal or nearly equal.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Returns GRIDMOUNT_TEST_SEED or a new seed. The caller prints it when the test fails.
uint64_t test_seed();

class RandomBson {
 public:
  explicit RandomBson(uint64_t seed) : random_(seed) {}

  // Returns an index below `limit`.
  size_t index(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }
  bool chance(size_t one_in) { return index(one_in) == 0; }

  // Returns a value with at most `depth` levels of nesting.
  Value value(int depth = 2);
  Value number();
  std::string text();
  // Returns a document with fields named a to e, each at most once.
  Document document(int depth = 2);
  Document array(int depth = 2);

 private:
  std::mt19937_64 random_;
};

Decimal128 decimal(const std::string& text);
Value decimal_value(const std::string& text);

}  // namespace gridmount::bson
