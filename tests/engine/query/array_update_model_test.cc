// Goal: array operators leave the right documents, byte for byte, on arrays named directly, by
// position, by `$`, `$[]` and `$[id]`.
// Method: random updates of random documents, compared with vectors of numbers that the test
// changes itself in the most obvious way.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/bson/builder.h"
#include "engine/query/update/update.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/engine/query/parse_json.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

using Numbers = std::vector<int32_t>;

// The document {d: [{k: 1, v: [...]}, ...], v: [...]}.
struct Model {
  struct Group {
    int32_t k;
    Numbers v;
  };
  std::vector<Group> groups;
  Numbers numbers;

  bson::Document document() const {
    bson::Builder builder;
    builder.open_array("d");
    for (const Group& group : groups) {
      builder.push_open_document().append("k", group.k);
      append(builder, "v", group.v);
      builder.close();
    }
    builder.close();
    append(builder, "v", numbers);
    return std::move(builder).finish();
  }

  static void append(bson::Builder& builder, const char* name, const Numbers& numbers) {
    builder.open_array(name);
    for (const int32_t number : numbers) builder.push(bson::Value(number));
    builder.close();
  }
};

std::string text_of(const Numbers& numbers) {
  std::string text = "[";
  for (const int32_t number : numbers) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return text + "]";
}

// One operator with its operand as JSON, and its effect on an array.
struct Operation {
  std::string name;
  std::string operand;
  std::function<void(Numbers&)> apply;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  bool chance(uint64_t one_in) { return random_.chance(one_in); }
  int32_t number(size_t limit) { return static_cast<int32_t>(random_.index(limit)); }
  Numbers numbers() {
    Numbers made(random_.index(6));
    for (int32_t& each : made) each = number(5);
    return made;
  }

  Model model() {
    Model model;
    model.numbers = numbers();
    model.groups.resize(random_.index(5));
    for (Model::Group& group : model.groups) group = {number(3), numbers()};
    return model;
  }

  Operation operation() {
    switch (random_.index(7)) {
      case 0:
        return push();
      case 1: {
        const bool front = chance(2);
        return {"$pop", front ? "-1" : "1", [front](Numbers& array) {
                  if (!array.empty()) array.erase(front ? array.begin() : array.end() - 1);
                }};
      }
      case 2: {
        const int32_t limit = number(5);
        return {"$pull", "{'$gte': " + std::to_string(limit) + "}", [limit](Numbers& array) {
                  std::erase_if(array, [=](int n) { return n >= limit; });
                }};
      }
      case 3: {
        const int32_t value = number(5);
        return {"$pull", std::to_string(value) + ".0",
                [value](Numbers& array) { std::erase(array, value); }};
      }
      case 4: {
        const Numbers values = numbers();
        return {"$pullAll", text_of(values), [values](Numbers& array) {
                  for (const int32_t value : values) std::erase(array, value);
                }};
      }
      case 5: {
        const Numbers values = numbers();
        return {"$addToSet", "{'$each': " + text_of(values) + "}", [values](Numbers& array) {
                  for (const int32_t value : values) {
                    if (std::count(array.begin(), array.end(), value) == 0) array.push_back(value);
                  }
                }};
      }
      default: {
        const Numbers values = numbers();
        return {"$pushAll", text_of(values), [values](Numbers& array) {
                  for (const int32_t value : values) array.push_back(value);
                }};
      }
    }
  }

 private:
  Operation push() {
    const Numbers values = numbers();
    std::string operand = "{'$each': " + text_of(values);
    std::optional<int32_t> position;
    std::optional<int32_t> slice;
    int32_t order = 0;
    if (chance(2)) position = number(9) - 4;
    if (chance(2)) slice = number(9) - 4;
    if (chance(2)) order = chance(2) ? 1 : -1;
    if (slice) operand += ", '$slice': " + std::to_string(*slice);
    if (position) operand += ", '$position': " + std::to_string(*position);
    if (order != 0) operand += ", '$sort': " + std::to_string(order);
    return {"$push", operand + "}", [=](Numbers& array) {
              const auto count = static_cast<int32_t>(array.size());
              int32_t at = position.value_or(count);
              if (at < 0) at = std::max(count + at, 0);
              at = std::min(at, count);
              array.insert(array.begin() + at, values.begin(), values.end());
              std::sort(array.begin(), order == 0 ? array.begin() : array.end());
              if (order < 0) std::reverse(array.begin(), array.end());
              while (slice && array.size() > static_cast<size_t>(std::abs(*slice))) {
                array.erase(*slice < 0 ? array.begin() : array.end() - 1);
              }
            }};
  }

  bson::RandomBson random_;
};

// Selects the groups whose arrays an update changes, and the form of the path.
struct Target {
  std::string path;
  std::string filter = "{}";
  std::string array_filters = "[]";
  std::vector<size_t> groups;
};

Target target_of(Generator& random, const Model& model) {
  Target target;
  const int32_t k = random.number(3);
  const std::string condition = std::to_string(k);
  for (size_t i = 0; i < model.groups.size(); ++i) {
    if (model.groups[i].k == k) target.groups.push_back(i);
  }
  switch (random.number(4)) {
    case 0:
      target.path = "d.$[].v";
      target.groups.clear();
      for (size_t i = 0; i < model.groups.size(); ++i) target.groups.push_back(i);
      break;
    case 1:
      target.path = "d.$[g].v";
      target.array_filters = "[{'g.k': " + condition + "}]";
      break;
    case 2:
      if (!target.groups.empty()) {
        target.path = "d.$.v";
        target.filter = random.chance(2) ? "{'d.k': " + condition + "}"
                                         : "{'d': {'$elemMatch': {'k': " + condition + "}}}";
        target.groups.resize(1);
        break;
      }
      [[fallthrough]];
    default: {
      target.groups.clear();
      if (model.groups.empty()) {
        target.path = "d.$[].v";
        break;
      }
      const auto at = static_cast<size_t>(random.number(model.groups.size()));
      target.path = "d." + std::to_string(at) + ".v";
      target.groups.push_back(at);
    }
  }
  return target;
}

TEST(ArrayUpdateModel, RandomUpdates) {
  const uint64_t seed = bson::test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  Generator random(seed);
  int changed = 0;
  int several = 0;
  for (int round = 0; round < random_rounds(20'000); ++round) {
    Model model = random.model();
    const bson::Document before = model.document();
    const Target target = target_of(random, model);
    const Operation in_groups = random.operation();
    const Operation beside = random.operation();
    const bool both = in_groups.name != beside.name;
    const std::string text =
        "{'" + in_groups.name + "': {'" + target.path + "': " + in_groups.operand + "}" +
        (both ? ", '" + beside.name + "': {'v': " + beside.operand + "}" : "") + "}";
    SCOPED_TRACE(text + target.filter + target.array_filters + show(before));

    const bson::Document array_filters = parse_json("{'f': " + target.array_filters + "}");
    const Result<Update> update =
        Update::parse(parse_json(text), {array_filters.view()["f"].as_document()});
    ASSERT_TRUE(update) << update.error().message();
    const Result<Filter> filter = Filter::parse(parse_json(target.filter));
    ASSERT_TRUE(filter->matches(before));
    const Result<Update::Applied> applied = update->apply(before, filter->matched_position(before));
    ASSERT_TRUE(applied) << applied.error().message();

    for (const size_t group : target.groups) in_groups.apply(model.groups[group].v);
    if (both) beside.apply(model.numbers);
    ASSERT_EQ(show(applied->document), show(model.document()));
    ASSERT_EQ(applied->modified, show(before) != show(model.document()));
    ASSERT_TRUE(bson::validate(applied->document.view().bytes()));
    if (applied->modified) ++changed;
    if (target.groups.size() > 1) ++several;
  }
  EXPECT_GT(changed, random_rounds(5000));
  EXPECT_GT(several, random_rounds(2000));
}

}  // namespace
}  // namespace gridmount::query
