#include "tests/bench/engine/documents.h"

#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

#include "engine/bson/builder.h"

namespace gridmount::bench {
namespace {

constexpr uint32_t kFirstSecond = 1'700'000'000;
constexpr int32_t kFirstCount = 1'000'000;
constexpr size_t kTextBytes = 110;
constexpr size_t kLongTextBytes = 310;

// The mixing function of splitmix64, which is a bijection.
uint64_t mix(uint64_t n) {
  uint64_t z = (n + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::string category(Number n) {
  std::string number = std::to_string(mix(n) % 100);
  return "category-" + std::string(3 - number.size(), '0') + number;
}

double amount(Number n) {
  return static_cast<double>(mix(n) / 100 % 4000) / 4;
}

bool active(Number n) {
  return mix(n) % 2 == 0;
}

std::string text(Number n) {
  std::string result;
  for (uint64_t i = 0; result.size() < kTextBytes; ++i) {
    std::array<char, 17> word{};
    std::snprintf(word.data(), word.size(), "%016llx",
                  static_cast<unsigned long long>(mix(n + (i << 40))));
    result += word.data();
    result += ' ';
  }
  result.resize(kTextBytes);
  return result;
}

}  // namespace

Documents::Documents(Number count) : permutation_(count) {
  std::iota(permutation_.begin(), permutation_.end(), Number{0});
  for (Number i = count; i > 1; --i) {
    std::swap(permutation_[i - 1], permutation_[mix(i) % i]);
  }
}

bson::ObjectId Documents::id(Number n) {
  // A thousand ids per second, made by one process.
  const uint32_t seconds = kFirstSecond + n / 1000;
  bson::ObjectId::Bytes bytes{};
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(seconds >> (24 - 8 * i));
  for (size_t i = 4; i < 9; ++i) bytes[i] = static_cast<uint8_t>(0x51 * i);
  for (size_t i = 9; i < 12; ++i) bytes[i] = static_cast<uint8_t>(n >> (88 - 8 * i));
  return bson::ObjectId(bytes);
}

std::string Documents::email(Number n) {
  std::array<char, 32> result{};
  std::snprintf(result.data(), result.size(), "%016llx@example.com",
                static_cast<unsigned long long>(mix(n)));
  return result.data();
}

bson::Document Documents::bson(Number n) const {
  bson::Builder builder;
  builder.append("_id", id(n))
      .append("email", email(n))
      .append("number", int64_t{permutation_[n]})
      .append("category", category(n))
      .append("amount", amount(n))
      .append("count", kFirstCount)
      .append("active", active(n));
  builder.open_array("tags")
      .push(bson::Value("embedded").view())
      .push(bson::Value("store").view())
      .close();
  builder.append("text", text(n));
  return std::move(builder).finish();
}

std::string Documents::json(Number n) const {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.2f", amount(n));
  return R"({"_id":{"$oid":")" + id(n).hex() + R"("},"email":")" + email(n) + R"(","number":)" +
         std::to_string(permutation_[n]) + R"(,"category":")" + category(n) + R"(","amount":)" +
         number.data() + R"(,"count":)" + std::to_string(kFirstCount) + R"(,"active":)" +
         (active(n) ? "true" : "false") + R"(,"tags":["embedded","store"],"text":")" + text(n) +
         R"("})";
}

const std::string& Documents::long_text() {
  static const std::string text(kLongTextBytes, 'x');
  return text;
}

}  // namespace gridmount::bench
