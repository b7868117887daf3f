// Goal: filters of all operators and schemas match the right documents, and the explanation of a
// mismatch is a valid document.
// Method: random filters on random documents, both from small domains so that they often match,
// compared with the reference of filter_model.h. The seed is printed on failure, and
// GRIDMOUNT_TEST_SEED replays it.

#include "tests/engine/query/filter_model.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "engine/bson/builder.h"
#include "engine/query/filter/filter.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/engine/query/parse_json.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

using bson::Builder;
using bson::Value;

Value binary(std::vector<uint8_t> bytes) {
  Builder builder;
  builder.append("", bson::Binary{0, bytes.data(), static_cast<uint32_t>(bytes.size())});
  return Value((*std::move(builder).finish().view().begin()).value);
}

Value regex(std::string_view pattern) {
  Builder builder;
  builder.append_regex("", pattern, "");
  return Value((*std::move(builder).finish().view().begin()).value);
}

constexpr const char* kPatterns[] = {"^a", "b$", "ab", "^$", "a.*b"};
constexpr const char* kTypes[] = {"int", "double", "number", "string", "array", "object", "null"};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    for (int32_t i = -2; i <= 6; ++i) pool_.emplace_back(i);
    for (const double number : {1.0, 1.5, 2.0, -0.5}) pool_.emplace_back(number);
    pool_.emplace_back(std::numeric_limits<double>::quiet_NaN());
    pool_.emplace_back(std::numeric_limits<double>::infinity());
    for (const int64_t number : {2L, 5L}) pool_.emplace_back(number);
    for (const char* text : {"1", "2.5", "3"}) pool_.push_back(bson::decimal_value(text));
    for (const char* text : {"", "a", "ab", "b", "aab", "\xC3\xBC"}) pool_.emplace_back(text);
    for (const bool value : {false, true}) pool_.emplace_back(value);
    for (int i = 0; i < 3; ++i) pool_.emplace_back();  // null
    pool_.push_back(Value::min_key());
    pool_.push_back(Value::max_key());
    pool_.push_back(binary({5, 1}));
    pool_.push_back(binary({}));
    pool_.push_back(regex("^a"));
  }

  bson::Document document() {
    Builder builder;
    append_fields(builder, 3);
    return std::move(builder).finish();
  }

  bson::Document filter(int depth = 3) {
    Builder builder;
    for (size_t i = below(depth == 3 ? 3 : 2) + 1; i > 0; --i) append_condition(builder, depth);
    return std::move(builder).finish();
  }

  bson::Document schema(int depth = 3);

 private:
  using Append = std::function<void()>;

  size_t below(size_t limit) { return random_.index(limit); }
  bool one_in(size_t n) { return random_.chance(n); }
  int32_t number(size_t limit) { return static_cast<int32_t>(below(limit)); }
  template <typename T, size_t kSize>
  const T& one_of(const T (&choices)[kSize]) {
    return choices[below(kSize)];
  }
  const Value& scalar() { return pool_[below(pool_.size())]; }

  void append_fields(Builder& builder, int depth) {
    for (const char* name : {"a", "b", "0"}) {
      if (!one_in(3)) builder.append(name, value(depth - 1));
    }
  }

  Value value(int depth) {
    if (depth > 0 && one_in(3)) {
      Builder builder;
      builder.open_array("");
      for (size_t i = below(4); i > 0; --i) builder.push(value(depth - 1));
      builder.close();
      return Value((*std::move(builder).finish().view().begin()).value);
    }
    if (depth > 0 && one_in(3)) {
      Builder builder;
      append_fields(builder, depth - 1);
      return Value(std::move(builder).finish().view());
    }
    return scalar();
  }

  std::string path() {
    static constexpr const char* kPaths[] = {"a",   "b",   "a",   "b",     "a.a",   "a.b",   "b.a",
                                             "a.0", "b.0", "a.1", "a.0.b", "a.0.0", "a.b.0", "0"};
    return one_of(kPaths);
  }

  void append_condition(Builder& builder, int depth) {
    if (depth > 0 && one_in(4)) {
      static constexpr const char* kNames[] = {"$and", "$or", "$nor"};
      builder.open_array(one_of(kNames));
      for (size_t i = below(3) + 1; i > 0; --i) builder.push(filter(depth - 1));
      builder.close();
    } else if (one_in(20)) {
      builder.append(one_in(2) ? "$alwaysTrue" : "$alwaysFalse", 1);
    } else if (one_in(8)) {
      builder.append("$jsonSchema", schema(depth));
    } else if (one_in(10)) {
      static constexpr const char* kNames[] = {"$eq", "$gt", "$lt"};
      builder.open_document("$expr").open_array(one_of(kNames));
      builder.push(Value(one_in(2) ? "$a" : "$b"));
      builder.push_open_document().append("$literal", scalar()).close();
      builder.close().close();
    } else if (one_in(4)) {
      builder.append(path(), one_in(6) ? regex(one_of(kPatterns)) : value(2));
    } else {
      builder.append(path(), operators(2));
    }
  }

  bson::Document operators(int depth) {
    Builder builder;
    std::vector<std::string> used;
    for (size_t i = one_in(3) ? 2 : 1; i > 0; --i) {
      Builder one;
      append_operator(one, depth);
      const bson::Document document = std::move(one).finish();
      const bson::Element element = *document.view().begin();
      if (std::find(used.begin(), used.end(), element.key) != used.end()) continue;
      used.emplace_back(element.key);
      builder.append(element.key, element.value);
    }
    return std::move(builder).finish();
  }

  // Returns a value that is not a regular expression, because comparisons refuse those.
  Value operand() {
    while (true) {
      Value drawn = value(2);
      if (drawn.type() != bson::Type::kRegex) return drawn;
    }
  }

  void append_list(Builder& builder, std::string_view name, bool regexes) {
    builder.open_array(name);
    for (size_t i = below(4); i > 0; --i) {
      builder.push(regexes && one_in(4) ? regex(one_of(kPatterns)) : operand());
    }
    builder.close();
  }

  void append_operator(Builder& builder, int depth) {
    static constexpr const char* kComparisons[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"};
    static constexpr const char* kBits[] = {"$bitsAllSet", "$bitsAnySet", "$bitsAllClear",
                                            "$bitsAnyClear"};
    switch (below(depth > 0 ? 12 : 10)) {
      case 0:
        builder.append("$exists", one_in(2));
        break;
      case 1:
        append_list(builder, one_in(2) ? "$in" : "$nin", true);
        break;
      case 2:
        builder.append("$type", one_of(kTypes));
        break;
      case 3:
        builder.append("$regex", one_of(kPatterns));
        break;
      case 4:
        builder.open_array("$mod").push(Value(number(3) + 1)).push(Value(number(3) - 1)).close();
        break;
      case 5:
        append_bits(builder, one_of(kBits));
        break;
      case 6:
        builder.append("$size", number(4));
        break;
      case 7:
        append_list(builder, "$all", false);
        break;
      case 10:
        builder.append("$not", operators(depth - 1));
        break;
      case 11:
        builder.append("$elemMatch", one_in(2) ? operators(depth - 1) : fields_filter(depth - 1));
        break;
      default:
        builder.append(one_of(kComparisons), operand());
    }
  }

  // Returns a filter that begins with a field or $or.
  bson::Document fields_filter(int depth) {
    Builder builder;
    if (one_in(4)) {
      builder.open_array("$or").push(fields_filter(0)).push(fields_filter(0)).close();
    } else {
      builder.append(path(), depth > 0 ? Value(operators(depth).view()) : operand());
    }
    return std::move(builder).finish();
  }

  void append_bits(Builder& builder, std::string_view name) {
    if (one_in(3)) {
      builder.append(name, number(8));
    } else if (one_in(3)) {
      builder.append(name, one_in(2) ? binary({4}) : binary({1, 1, 0, 0, 0, 0, 0, 0, 1}));
    } else {
      builder.open_array(name);
      static constexpr int32_t kPositions[] = {0, 1, 2, 8, 31, 63, 64, 1000};
      for (size_t i = below(3); i > 0; --i) builder.push(Value(one_of(kPositions)));
      builder.close();
    }
  }

  void append_schemas(Builder& builder, std::string_view name, int depth, size_t least) {
    builder.open_array(name);
    for (size_t i = below(3) + least; i > 0; --i) builder.push(schema(depth));
    builder.close();
  }

  bson::Document named_schemas(int depth, bool patterns) {
    Builder builder;
    if (patterns) {
      builder.append(one_of(kPatterns), schema(depth));
    } else {
      for (const char* name : {"a", "b"}) {
        if (one_in(2)) builder.append(name, schema(depth));
      }
    }
    return std::move(builder).finish();
  }

  std::vector<Append> keywords(Builder& out, int depth);

  bson::RandomBson random_;
  std::vector<Value> pool_;
};

std::vector<Generator::Append> Generator::keywords(Builder& out, int depth) {
  const int below_it = depth - 1;
  std::vector<Append> all = {
      [&] { out.append("type", one_in(2) ? "string" : "object"); },
      [&] { out.append("bsonType", one_of(kTypes)); },
      [&] { out.open_array("bsonType").push(Value("array")).push(Value("int")).close(); },
      [&] { out.append("minimum", number(4)).append("exclusiveMinimum", one_in(2)); },
      [&] { out.append("maximum", 2.0).append("exclusiveMaximum", one_in(2)); },
      [&] { out.append("multipleOf", one_in(2) ? 0.5 : 2.0); },
      [&] { out.append("minLength", number(3)).append("maxLength", number(3)); },
      [&] { out.append("pattern", one_of(kPatterns)); },
      [&] { out.append("minItems", number(3)); },
      [&] { out.append("maxItems", number(3)); },
      [&] { out.append("uniqueItems", !one_in(4)); },
      [&] { out.append("minProperties", number(3)); },
      [&] { out.append("maxProperties", number(3)); },
      [&] { out.open_array("required").push(Value(one_in(2) ? "a" : "b")).close(); },
      [&] { out.open_document("dependencies").open_array("a").push(Value("b")).close().close(); },
      [&] { out.open_array("enum").push(value(2)).close(); },
  };
  if (depth <= 0) return all;
  const std::vector<Append> nesting = {
      [this, &out, below_it] { out.append("items", schema(below_it)); },
      [this, &out, below_it] {
        append_schemas(out, "items", below_it, 0);
        if (one_in(2)) {
          out.append("additionalItems", false);
        } else {
          out.append("additionalItems", schema(below_it));
        }
      },
      [this, &out, below_it] { out.append("properties", named_schemas(below_it, false)); },
      [this, &out, below_it] { out.append("properties", named_schemas(below_it, false)); },
      [this, &out, below_it] {
        out.append("properties", named_schemas(below_it, false));
        if (one_in(2)) out.append("patternProperties", named_schemas(below_it, true));
        if (one_in(2)) {
          out.append("additionalProperties", false);
        } else {
          out.append("additionalProperties", schema(below_it));
        }
      },
      [this, &out, below_it] {
        out.open_document("dependencies").append("a", schema(below_it)).close();
      },
      [this, &out, below_it] { append_schemas(out, "allOf", below_it, 1); },
      [this, &out, below_it] { append_schemas(out, "anyOf", below_it, 1); },
      [this, &out, below_it] { append_schemas(out, "oneOf", below_it, 1); },
      [this, &out, below_it] { out.append("not", schema(below_it)); },
  };
  for (int i = 0; i < 3; ++i) all.insert(all.end(), nesting.begin(), nesting.end());
  return all;
}

bson::Document Generator::schema(int depth) {
  Builder builder;
  std::vector<std::string> used;
  for (size_t i = below(3); i > 0; --i) {
    Builder one;
    const std::vector<Append> choices = keywords(one, depth);
    choices[below(choices.size())]();
    const bson::Document document = std::move(one).finish();
    bool is_new = true;
    for (const bson::Element element : document.view()) {
      const std::string_view name = element.key == "bsonType" ? "type" : element.key;
      is_new = is_new && std::find(used.begin(), used.end(), name) == used.end();
    }
    if (!is_new) continue;
    for (const bson::Element element : document.view()) {
      used.emplace_back(element.key == "bsonType" ? "type" : element.key);
      builder.append(element.key, element.value);
    }
  }
  return std::move(builder).finish();
}

TEST(FilterModelTest, RandomFilters_MatchWhatTheyMean) {
  const uint64_t seed = bson::test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  Generator generator(seed);
  int matching = 0;
  for (int round = 0; round < random_rounds(3000); ++round) {
    const bson::Document specification = round % 3 == 0 ? [&] {
      Builder builder;
      builder.append("$jsonSchema", generator.schema());
      return std::move(builder).finish();
    }() : generator.filter();
    const Result<Filter> filter = Filter::parse(specification, {.explains_failures = true});
    ASSERT_TRUE(filter) << filter.error().message() << "\n" << show(specification);
    for (int i = 0; i < 10; ++i) {
      const bson::Document document = generator.document();
      const bool expected = model::matches(specification, document);
      const Result<bool> result = filter->evaluate(document);
      ASSERT_TRUE(result) << result.error().message() << "\n" << show(specification);
      ASSERT_EQ(*result, expected) << show(specification) << "\non " << show(document);
      matching += expected ? 1 : 0;
      if (expected) continue;
      const bson::Document explanation = filter->explain_failure(document);
      ASSERT_TRUE(bson::validate(explanation.view().bytes()));
      ASSERT_TRUE(explanation.find("operatorName")) << show(specification);
    }
  }
  // Some documents match, but not all.
  EXPECT_GT(matching, random_rounds(3000));
  EXPECT_LT(matching, random_rounds(27'000));
}

}  // namespace
}  // namespace gridmount::query
