// Goal: updates of random documents by random operators give the right result, byte for byte, or
// fail with the right code.
// Method: a model that changes a tree of nodes in place, one operator after the other. The engine
// instead rebuilds the document in one pass for all of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "engine/query/update/update.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/engine/query/parse_json.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

constexpr int kBadValue = 2;
constexpr int kTypeMismatch = 14;
constexpr int kPathNotViable = 28;
constexpr int kConflict = 40;

using Names = std::vector<std::string>;

struct Node {
  // The kinds are in comparison order, except that the two integers are one kind.
  enum class Kind { kNull, kInt32, kInt64, kText, kDocument, kArray };
  Kind kind = Kind::kNull;
  int64_t number = 0;
  std::string text;
  // A document has names, an array does not. There are two vectors, because a vector of pairs would
  // need Node to be complete.
  std::vector<std::string> names;
  std::vector<Node> children;

  bool is_number() const { return kind == Kind::kInt32 || kind == Kind::kInt64; }

  std::optional<size_t> find(const std::string& name) const {
    if (kind == Kind::kArray) {
      const auto at = static_cast<size_t>(std::stoul(name));
      return at < children.size() ? std::optional(at) : std::nullopt;
    }
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::nullopt;
    return static_cast<size_t>(at - names.begin());
  }

  void add(const std::string& name, Node child) {
    names.push_back(name);
    children.push_back(std::move(child));
  }

  void append_to(bson::Builder& builder, const std::string& name) const {
    switch (kind) {
      case Kind::kNull:
        builder.append_null(name);
        break;
      case Kind::kInt32:
        builder.append(name, static_cast<int32_t>(number));
        break;
      case Kind::kInt64:
        builder.append(name, number);
        break;
      case Kind::kText:
        builder.append(name, text);
        break;
      case Kind::kDocument:
        builder.append(name, document());
        break;
      case Kind::kArray:
        builder.append_array(name, document());
        break;
    }
  }

  bson::Document document() const {
    bson::Builder builder;
    for (size_t i = 0; i < children.size(); ++i) {
      children[i].append_to(builder, kind == Kind::kArray ? std::to_string(i) : names[i]);
    }
    return std::move(builder).finish();
  }
};

Node node_of(int64_t number, bool wide) {
  Node node;
  const bool fits = number >= std::numeric_limits<int32_t>::min() &&
                    number <= std::numeric_limits<int32_t>::max();
  node.kind = wide || !fits ? Node::Kind::kInt64 : Node::Kind::kInt32;
  node.number = number;
  return node;
}

bool is_number(const std::string& name) {
  return name.find_first_not_of("0123456789") == std::string::npos;
}

int compare(const Node& a, const Node& b) {
  if (a.is_number() && b.is_number()) return (a.number > b.number) - (a.number < b.number);
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  return a.kind == Node::Kind::kText ? a.text.compare(b.text) : 0;
}

struct Operation {
  std::string name;
  Names path;
  Node operand;
  Names source;  // of a $rename, which is listed at its target
};

std::string dotted(const Names& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

bool meet(const Names& a, const Names& b) {
  return std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin());
}

// Fields are created in the order of names, and positions in numeric order.
bool comes_before(const Names& a, const Names& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const std::string& x, const std::string& y) {
        return is_number(x) && is_number(y) ? std::stoul(x) < std::stoul(y) : x < y;
      });
}

class Model {
 public:
  Node root;
  std::set<int> errors;

  explicit Model(Node document) : root(std::move(document)), before_(root) {}

  void apply(const Operation& operation) {
    if (operation.name == "$setOnInsert") return;
    if (operation.name == "$unset") return remove(operation.path);
    if (operation.name == "$rename") return rename(operation);
    const Node* const current = find(root, operation.path).node;
    if (operation.name == "$set" || current == nullptr) {
      Node made = operation.operand;
      if (operation.name == "$mul") made.number = 0;
      return set(operation.path, made);
    }
    if (operation.name == "$min" || operation.name == "$max") {
      const int order = compare(operation.operand, *current);
      if (operation.name == "$min" ? order < 0 : order > 0) set(operation.path, operation.operand);
      return;
    }
    if (!current->is_number()) {
      errors.insert(kTypeMismatch);
      return;
    }
    int64_t result = 0;
    const bool overflow =
        operation.name == "$inc"
            ? __builtin_add_overflow(current->number, operation.operand.number, &result)
            : __builtin_mul_overflow(current->number, operation.operand.number, &result);
    if (overflow) {
      errors.insert(kBadValue);
    } else {
      set(operation.path, node_of(result, current->kind == Node::Kind::kInt64 ||
                                              operation.operand.kind == Node::Kind::kInt64));
    }
  }

 private:
  struct Found {
    Node* node = nullptr;
    bool viable = true;
    bool through_array = false;
  };

  static Found find(Node& root, const Names& path) {
    Found found;
    Node* at = &root;
    for (const std::string& name : path) {
      if (at->kind == Node::Kind::kArray) found.through_array = true;
      if ((at->kind == Node::Kind::kArray && !is_number(name)) ||
          (at->kind != Node::Kind::kArray && at->kind != Node::Kind::kDocument)) {
        found.viable = false;
        return found;
      }
      const std::optional<size_t> child = at->find(name);
      if (!child) return found;
      at = &at->children[*child];
    }
    found.node = at;
    return found;
  }

  void set(const Names& path, const Node& value) {
    if (!find(root, path).viable) {
      errors.insert(kPathNotViable);
      return;
    }
    Node* at = &root;
    for (const std::string& name : path) {
      // A node created on the way is a document.
      if (at->kind == Node::Kind::kNull) at->kind = Node::Kind::kDocument;
      std::optional<size_t> child = at->find(name);
      if (!child && at->kind == Node::Kind::kArray) {
        child = std::stoul(name);
        at->names.resize(*child + 1);
        at->children.resize(*child + 1);
        at->children[*child].kind = Node::Kind::kDocument;
      } else if (!child) {
        child = at->children.size();
        at->add(name, Node());
        at->children.back().kind = Node::Kind::kDocument;
      }
      at = &at->children[*child];
    }
    *at = value;
  }

  void remove(const Names& path) {
    if (find(root, path).node == nullptr) return;
    Node* const parent = find(root, Names(path.begin(), path.end() - 1)).node;
    const size_t child = *parent->find(path.back());
    if (parent->kind == Node::Kind::kArray) {
      parent->children[child] = Node();
    } else {
      parent->names.erase(parent->names.begin() + static_cast<ptrdiff_t>(child));
      parent->children.erase(parent->children.begin() + static_cast<ptrdiff_t>(child));
    }
  }

  void rename(const Operation& operation) {
    // Reads the document as it was before, without the nulls with which other operators pad an
    // array.
    const Found source = find(before_, operation.source);
    if (!source.viable) errors.insert(kPathNotViable);
    if (source.node == nullptr) return;
    if (source.through_array || find(before_, operation.path).through_array) {
      errors.insert(kBadValue);
      return;
    }
    set(operation.path, *source.node);
    remove(operation.source);
  }

  Node before_;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  size_t index(size_t limit) { return random_.index(limit); }

  Node scalar() {
    Node node;
    switch (random_.index(6)) {
      case 0:
        return node;
      case 1:
        node.kind = Node::Kind::kText;
        node.text = std::string(random_.index(3), 'x');
        return node;
      default:
        return number();
    }
  }

  Node number() {
    const int64_t kNumbers[] = {0, 1, 2, -3, 2147483647, -2147483648, INT64_MAX, INT64_MIN};
    // Mostly the small numbers, because otherwise hardly any update would succeed.
    return node_of(kNumbers[random_.index(random_.chance(4) ? 8 : 4)], random_.chance(3));
  }

  Node document(int depth) {
    Node node;
    node.kind = Node::Kind::kDocument;
    for (const char* name : kNames) {
      if (random_.chance(2)) node.add(name, value(depth));
    }
    return node;
  }

  Node value(int depth) {
    if (depth == 0 || random_.chance(3)) return scalar();
    if (random_.chance(2)) return document(depth - 1);
    Node node;
    node.kind = Node::Kind::kArray;
    const size_t count = random_.index(4);
    for (size_t i = 0; i < count; ++i) node.add("", value(depth - 1));
    return node;
  }

  Names path() {
    Names path(1 + random_.index(3));
    for (std::string& name : path) name = kNames[random_.index(std::size(kNames))];
    return path;
  }

  Operation operation() {
    const char* const kOperators[] = {"$set", "$unset", "$setOnInsert", "$inc",
                                      "$mul", "$min",   "$max",         "$rename"};
    Operation made;
    made.name = kOperators[random_.index(std::size(kOperators))];
    made.path = path();
    made.operand = made.name == "$set"                          ? value(1)
                   : made.name == "$inc" || made.name == "$mul" ? number()
                                                                : scalar();
    if (made.name == "$rename") made.source = path();
    return made;
  }

 private:
  static constexpr const char* kNames[] = {"a", "b", "0", "1", "2", "10"};
  bson::RandomBson random_;
};

// Groups the fields by operator, as a specification requires.
bson::Document specification_of(const std::vector<Operation>& operations) {
  bson::Builder builder;
  std::set<std::string> done;
  for (const Operation& first : operations) {
    if (!done.insert(first.name).second) continue;
    builder.open_document(first.name);
    for (const Operation& one : operations) {
      if (one.name != first.name) continue;
      if (one.name == "$rename") {
        builder.append(dotted(one.source), dotted(one.path));
      } else {
        one.operand.append_to(builder, dotted(one.path));
      }
    }
    builder.close();
  }
  return std::move(builder).finish();
}

std::set<int> parse_errors(const std::vector<Operation>& operations) {
  std::set<int> errors;
  std::vector<Names> paths;
  for (const Operation& one : operations) {
    paths.push_back(one.path);
    if (one.name != "$rename") continue;
    if (meet(one.source, one.path)) {
      errors.insert(kBadValue);
    } else {
      paths.push_back(one.source);
    }
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (meet(paths[i], paths[j])) errors.insert(kConflict);
    }
  }
  return errors;
}

bool same_bytes(bson::View a, bson::View b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

TEST(UpdateModel, RandomUpdates) {
  const uint64_t seed = bson::test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  Generator random(seed);
  int refused = 0;
  int failed = 0;
  int changed = 0;
  for (int round = 0; round < random_rounds(30'000); ++round) {
    const Node document = random.document(2);
    std::vector<Operation> operations(1 + random.index(3));
    for (Operation& operation : operations) operation = random.operation();
    const bson::Document before = document.document();
    const bson::Document specification = specification_of(operations);
    SCOPED_TRACE(show(specification) + " of " + show(before));

    const Result<Update> update = Update::parse(specification);
    const std::set<int> refusals = parse_errors(operations);
    ASSERT_EQ(update.has_value(), refusals.empty());
    if (!update) {
      ASSERT_TRUE(refusals.contains(static_cast<int>(update.error().code())))
          << update.error().message();
      ++refused;
      continue;
    }
    std::sort(operations.begin(), operations.end(),
              [](const Operation& a, const Operation& b) { return comes_before(a.path, b.path); });
    Model model(document);
    for (const Operation& operation : operations) model.apply(operation);
    const Result<Update::Applied> applied = update->apply(before);
    ASSERT_EQ(applied.has_value(), model.errors.empty())
        << (applied ? show(applied->document) : applied.error().message());
    if (!applied) {
      ASSERT_TRUE(model.errors.contains(static_cast<int>(applied.error().code())))
          << applied.error().message();
      ++failed;
      continue;
    }
    ASSERT_TRUE(bson::validate(applied->document.view().bytes()));
    ASSERT_TRUE(same_bytes(applied->document, model.root.document()))
        << show(applied->document) << " instead of " << show(model.root.document());
    ASSERT_EQ(applied->modified, !same_bytes(applied->document, before));
    if (applied->modified) ++changed;
  }
  // Each outcome must occur often. Otherwise nothing was tested.
  EXPECT_GT(refused, random_rounds(1000));
  EXPECT_GT(failed, random_rounds(1000));
  EXPECT_GT(changed, random_rounds(1000));
}

}  // namespace
}  // namespace gridmount::query
