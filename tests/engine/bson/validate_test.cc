// Goal: bytes of unknown origin are either refused or safe to walk.
// Method: known defects, and random documents with flipped, removed and added bytes. Every document
// that passes is walked to its last byte.

#include <gtest/gtest.h>

#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "tests/engine/bson/random_bson.h"

namespace gridmount::bson {
namespace {

std::vector<uint8_t> bytes_of(const Document& document) {
  const auto bytes = document.view().bytes();
  return {bytes.begin(), bytes.end()};
}

std::optional<ErrorCode> code_of(const std::vector<uint8_t>& bytes) {
  const Result<View> view = validate(bytes);
  return view ? std::nullopt : std::optional(view.error().code());
}

Document one_field(Type type, const std::vector<uint8_t>& value) {
  Builder builder;
  builder.append("a", ValueView(type, value.data(), static_cast<uint32_t>(value.size())));
  return std::move(builder).finish();
}

TEST(Validate, GoodDocuments) {
  EXPECT_EQ(code_of({5, 0, 0, 0, 0}), std::nullopt);
  Builder builder;
  builder.append("a", 1).append("a", "twice").append("", "empty name");
  EXPECT_EQ(code_of(bytes_of(std::move(builder).finish())), std::nullopt);
}

TEST(Validate, Lengths) {
  EXPECT_EQ(code_of({}), ErrorCode::kInvalidBson);
  EXPECT_EQ(code_of({5, 0, 0}), ErrorCode::kInvalidBson);
  EXPECT_EQ(code_of({4, 0, 0, 0, 0}), ErrorCode::kInvalidBson);
  EXPECT_EQ(code_of({6, 0, 0, 0, 0}), ErrorCode::kInvalidBson);
  EXPECT_EQ(code_of({5, 0, 0, 0, 1}), ErrorCode::kInvalidBson);
  EXPECT_EQ(code_of({5, 0, 0, 0, 0, 0}), ErrorCode::kInvalidBson);
  EXPECT_EQ(code_of({0xFF, 0xFF, 0xFF, 0xFF, 0}), ErrorCode::kInvalidBson);
}

TEST(Validate, Values) {
  const std::pair<Type, std::vector<uint8_t>> kBad[] = {
      {Type::kBool, {2}},
      {Type::kInt32, {1, 2, 3}},
      {Type::kString, {0, 0, 0, 0}},
      {Type::kString, {2, 0, 0, 0, 'a', 'b'}},
      {Type::kString, {9, 0, 0, 0, 'a', 0}},
      {Type::kString, {0xFF, 0xFF, 0xFF, 0xFF, 0}},
      {Type::kBinary, {9, 0, 0, 0, 0, 1}},
      {Type::kBinary, {4, 0, 0, 0, 2, 1, 0, 0, 0}},
      {Type::kDocument, {4, 0, 0, 0}},
      {Type::kArray, {6, 0, 0, 0, 0}},
      {Type::kRegex, {'a', 0}},
      {Type::kObjectId, {1, 2, 3}},
      {Type::kDbPointer, {1, 0, 0, 0, 0, 1, 2}},
      {Type::kCodeWithScope, {13, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0}},
      {static_cast<Type>(0x20), {}},
      {static_cast<Type>(0x80), {}},
  };
  for (const auto& [type, value] : kBad) {
    // These bytes are written by hand, with the right length of the document.
    std::vector<uint8_t> bytes{0, 0, 0, 0, static_cast<uint8_t>(type), 'a', 0};
    bytes.insert(bytes.end(), value.begin(), value.end());
    bytes.push_back(0);
    bytes[0] = static_cast<uint8_t>(bytes.size());
    EXPECT_EQ(code_of(bytes), ErrorCode::kInvalidBson) << static_cast<int>(type);
  }
  EXPECT_EQ(code_of(bytes_of(one_field(Type::kBinary, {5, 0, 0, 0, 2, 1, 0, 0, 0, 7}))),
            std::nullopt);
  // Strings that are not UTF-8 are accepted, because servers store them.
  EXPECT_EQ(code_of(bytes_of(one_field(Type::kString, {2, 0, 0, 0, 0xFF, 0}))), std::nullopt);
}

TEST(Validate, Depth) {
  const auto nested = [](uint32_t depth) {
    Document document;
    for (uint32_t i = 0; i < depth; ++i) {
      Builder builder;
      builder.append("a", document);
      document = std::move(builder).finish();
    }
    return bytes_of(document);
  };
  EXPECT_EQ(code_of(nested(kMaxDepth)), std::nullopt);
  EXPECT_EQ(code_of(nested(kMaxDepth + 1)), ErrorCode::kOverflow);
  EXPECT_EQ(code_of(nested(3000)), ErrorCode::kOverflow);
}

TEST(Validate, Size) {
  const std::vector<uint8_t> large(kMaxDocumentBytes + kInternalOverhead + 1);
  EXPECT_EQ(code_of(large), ErrorCode::kBsonObjectTooLarge);
  EXPECT_EQ(validate(std::vector<uint8_t>{5, 0, 0, 0, 0}, 4).error().code(),
            ErrorCode::kBsonObjectTooLarge);
}

size_t walk(View document) {
  size_t seen = 0;
  for (const Element element : document) {
    seen += element.key.size() + element.value.size() + 1;
    const Type type = element.value.type();
    if (type == Type::kDocument || type == Type::kArray) seen += walk(element.value.as_document());
    if (type == Type::kBinary) {
      const Binary binary = element.value.as_binary();
      for (uint32_t i = 0; i < binary.size; ++i) seen += binary.data[i] & 1U;
    }
    seen += static_cast<size_t>(element.value.number().value_or(0) != 0);
  }
  return seen;
}

TEST(Validate, DamagedDocuments_AreRefusedOrSafe) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  RandomBson random(seed);
  size_t passed = 0;
  size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> bytes = bytes_of(random.document(3));
    for (size_t i = random.index(4); i > 0; --i) {
      const size_t at = random.index(bytes.size());
      switch (random.index(3)) {
        case 0:
          bytes[at] = static_cast<uint8_t>(random.index(256));
          break;
        case 1:
          bytes.resize(std::max<size_t>(at, 1));
          break;
        default:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), random.index(2) ? 0 : 5);
      }
    }
    // A copy of exactly that size, so that sanitizers detect a read beyond the end.
    const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    const Result<View> view = validate(exact);
    if (!view) {
      ++refused;
      continue;
    }
    ++passed;
    EXPECT_TRUE(compare(*view, *view) == 0);
    EXPECT_GT(walk(*view) + to_json(*view, JsonForm::kCanonical).size(), 0U);
  }
  EXPECT_GT(passed, 1000U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace gridmount::bson
