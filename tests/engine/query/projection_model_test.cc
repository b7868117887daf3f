// Goal: projections of random documents leave the right fields.
// Method: a reference that works differently from the engine. Instead of walking the document with
// a tree of names, it decides about each field by its whole path, and slices arrays path by path.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/query/projection/projection.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/engine/query/parse_json.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Names = std::vector<std::string>;

std::string dotted(const Names& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

bool begins_with(const Names& path, const Names& beginning) {
  return beginning.size() <= path.size() &&
         std::equal(beginning.begin(), beginning.end(), path.begin());
}

struct Slice {
  Names path;
  int32_t skip;
  int32_t limit;
};

// Answers the questions about a field by which a projection decides.
struct Model {
  bool inclusive;
  std::vector<Names> paths;
  std::vector<Slice> slices;

  // Returns true if the whole field is included or excluded.
  bool is_named(const Names& field) const {
    return std::any_of(paths.begin(), paths.end(),
                       [&](const Names& path) { return begins_with(field, path); });
  }
  bool leads_on(const Names& field) const {
    return std::any_of(paths.begin(), paths.end(),
                       [&](const Names& path) { return begins_with(path, field); });
  }

  // Returns nothing if the field is removed. Elements of arrays have the array's path.
  std::optional<bson::Value> project(const Names& field, ValueView value) const {
    if (is_named(field)) return inclusive ? std::optional(bson::Value(value)) : std::nullopt;
    if (!leads_on(field)) return inclusive ? std::nullopt : std::optional(bson::Value(value));
    bson::Builder builder;
    if (value.type() == Type::kArray) {
      builder.open_array("");
      for (const bson::Element element : value.as_document()) {
        if (const auto left = project(field, element.value)) builder.push(*left);
      }
    } else if (value.type() == Type::kDocument) {
      builder.open_document("");
      for (const bson::Element element : value.as_document()) {
        Names inner = field;
        inner.emplace_back(element.key);
        if (const auto left = project(inner, element.value)) builder.append(element.key, *left);
      }
    } else {
      return inclusive ? std::nullopt : std::optional(bson::Value(value));
    }
    builder.close();
    const bson::Document holder = std::move(builder).finish();
    return bson::Value((*holder.view().begin()).value);
  }

  bson::Document apply(bson::View document) const {
    bson::Value left = *project({}, bson::Value(document));
    for (const Slice& slice : slices) left = sliced(left, slice, 0, false);
    return bson::Document(left.view().as_document());
  }

  static bson::Value sliced(ValueView value, const Slice& slice, size_t depth, bool in_array) {
    const bool at_end = depth == slice.path.size();
    bson::Builder builder;
    if (value.type() == Type::kArray && !in_array) {
      const bson::View array = value.as_document();
      const auto count = static_cast<int32_t>(std::distance(array.begin(), array.end()));
      const int32_t begin = slice.skip < 0 ? std::max(count + slice.skip, 0) : slice.skip;
      int32_t at = 0;
      builder.open_array("");
      for (const bson::Element element : array) {
        if (!at_end) {
          builder.push(sliced(element.value, slice, depth, true));
        } else if (at >= begin && at < begin + slice.limit) {
          builder.push(element.value);
        }
        ++at;
      }
    } else if (value.type() == Type::kDocument && !at_end) {
      builder.open_document("");
      for (const bson::Element element : value.as_document()) {
        const bool named = element.key == slice.path[depth];
        builder.append(element.key, named ? sliced(element.value, slice, depth + 1, false)
                                          : bson::Value(element.value));
      }
    } else {
      return bson::Value(value);
    }
    builder.close();
    const bson::Document holder = std::move(builder).finish();
    return bson::Value((*holder.view().begin()).value);
  }
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  bool chance(uint64_t one_in) { return random_.chance(one_in); }
  int32_t number(size_t limit) { return static_cast<int32_t>(random_.index(limit)); }

  void fill(bson::Builder& builder, int depth) {
    for (const char* name : {"a", "b", "c"}) {
      if (!chance(4)) append(builder, name, depth);
    }
  }

  Names path() {
    Names path(1 + random_.index(3));
    for (std::string& name : path) name = std::string(1, "abc"[random_.index(3)]);
    return path;
  }

 private:
  void append(bson::Builder& builder, const char* name, int depth) {
    if (depth == 0 || chance(4)) {
      builder.append(name, number(9));
    } else if (chance(2)) {
      builder.open_document(name);
      fill(builder, depth - 1);
      builder.close();
    } else {
      builder.open_array(name);
      elements(builder, depth - 1);
      builder.close();
    }
  }

  void elements(bson::Builder& builder, int depth) {
    for (size_t i = random_.index(4); i > 0; --i) {
      if (depth == 0 || chance(4)) {
        builder.push(bson::Value(number(9)));
      } else if (chance(4)) {
        builder.push_open_array();
        elements(builder, depth - 1);
        builder.close();
      } else {
        builder.push_open_document();
        fill(builder, depth - 1);
        builder.close();
      }
    }
  }

  bson::RandomBson random_;
};

// Writes a dotted path, or the first name with a document for the rest.
void name_path(bson::Builder& builder, const Names& path, bool nested, ValueView value) {
  if (!nested || path.size() == 1) {
    builder.append(dotted(path), value);
    return;
  }
  builder.open_document(path[0]).append(dotted(Names(path.begin() + 1, path.end())), value).close();
}

TEST(ProjectionModel, RandomProjections) {
  const uint64_t seed = bson::test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  Generator random(seed);
  int cut = 0;
  int with_slices = 0;
  for (int round = 0; round < random_rounds(20'000); ++round) {
    bson::Builder made;
    random.fill(made, 5);
    const bson::Document document = std::move(made).finish();
    Model model{random.chance(2), {}, {}};
    bson::Builder specification;
    std::vector<Names> used;
    for (int32_t i = random.number(4); i >= 0; --i) {
      const Names path = random.path();
      const bool meets = std::any_of(used.begin(), used.end(), [&](const Names& other) {
        return begins_with(path, other) || begins_with(other, path);
      });
      if (meets) continue;
      used.push_back(path);
      // The last field is a plain one, which determines the kind of the projection.
      if (i > 0 && random.chance(3)) {
        const Slice slice{path, random.number(7) - 3, 1 + random.number(3)};
        const bson::Document operand = parse_json("{'$slice': [" + std::to_string(slice.skip) +
                                                  ", " + std::to_string(slice.limit) + "]}");
        name_path(specification, path, random.chance(2), bson::Value(operand.view()));
        model.slices.push_back(slice);
        if (model.inclusive) model.paths.push_back(path);
        continue;
      }
      name_path(specification, path, random.chance(2),
                bson::Value(static_cast<int32_t>(model.inclusive)));
      model.paths.push_back(path);
    }
    // A projection of slices alone is an exclusion of nothing.
    if (model.paths.size() == model.slices.size() && model.inclusive) continue;
    const bson::Document projection = std::move(specification).finish();
    SCOPED_TRACE(show(projection) + " of " + show(document));
    Result<Projection> parsed = Projection::parse(projection);
    ASSERT_TRUE(parsed) << parsed.error().message();
    const Result<bson::View> result = parsed->apply(document);
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_EQ(show(*result), show(model.apply(document)));
    ASSERT_TRUE(bson::validate(result->bytes()));
    if (result->size() != document.view().size() && !result->empty()) ++cut;
    if (!model.slices.empty()) ++with_slices;
  }
  EXPECT_GT(cut, random_rounds(5000));
  EXPECT_GT(with_slices, random_rounds(2000));
}

}  // namespace
}  // namespace gridmount::query
