// Goal: $set and $unset of random paths. Method: a model of nested maps that knows documents only;
// what it cannot express (arrays, scalars in the way) the generator leaves out.

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "engine/query/update.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

// Order does not count here; update_test.cc has it.
struct Tree {
  std::map<std::string, Tree> fields;
  std::optional<int32_t> leaf;

  bson::Document document() const {
    bson::Builder builder;
    for (const auto& [name, tree] : fields) {
      if (tree.leaf) {
        builder.append(name, *tree.leaf);
      } else {
        builder.append(name, tree.document());
      }
    }
    return std::move(builder).finish();
  }

  static Tree of(bson::View document) {
    Tree tree;
    for (const bson::Element element : document) {
      Tree& field = tree.fields[std::string(element.key)];
      if (element.value.type() == bson::Type::kDocument) {
        field = of(element.value.as_document());
      } else {
        field.leaf = element.value.as_int32();
      }
    }
    return tree;
  }
};

TEST(UpdateModel, RandomSetsAndUnsets) {
  const uint64_t seed = bson::test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  bson::RandomBson random(seed);
  Tree model;
  for (int round = 0; round < 20'000; ++round) {
    // Names of a level are either documents' or leaves', so that nothing is in the way.
    std::string path;
    Tree* parent = &model;
    const size_t depth = random.index(3);
    std::vector<std::string> parts;
    for (size_t i = 0; i < depth; ++i) parts.push_back("d" + std::to_string(random.index(2)));
    parts.push_back("l" + std::to_string(random.index(4)));
    for (const std::string& part : parts) path += (path.empty() ? "" : ".") + part;
    const bool unset = random.chance(3);
    const auto value = static_cast<int32_t>(random.index(3));
    const bson::Document before = model.document();
    for (size_t i = 0; parent != nullptr && i < depth; ++i) {
      const auto found = parent->fields.find(parts[i]);
      if (found == parent->fields.end() && unset) {
        parent = nullptr;
      } else {
        parent = &parent->fields[parts[i]];
      }
    }
    if (unset) {
      if (parent != nullptr) parent->fields.erase(parts.back());
    } else {
      parent->fields[parts.back()].leaf = value;
    }
    bson::Builder specification;
    specification.open_document(unset ? "$unset" : "$set").append(path, value).close();
    const Result<Update> update = Update::parse(std::move(specification).finish());
    ASSERT_TRUE(update) << update.error().message();
    const Result<Update::Applied> applied = update->apply(before);
    ASSERT_TRUE(applied) << applied.error().message();
    ASSERT_TRUE(bson::validate(applied->document.view().bytes()));
    ASSERT_EQ(show(Tree::of(applied->document).document()), show(model.document()))
        << (unset ? "unset " : "set ") << path << " in " << show(before);
  }
}

}  // namespace
}  // namespace gridmount::query
