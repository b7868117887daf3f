#include "engine/query/projection.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/path.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kPathCollision{31250};        // with a path that is the same or goes on
constexpr ErrorCode kPathCollisionWithin{31249};  // with the beginning of this one
constexpr ErrorCode kEmptySubProjection{51270};
constexpr ErrorCode kInclusionInExclusion{31253};
constexpr ErrorCode kExclusionInInclusion{31254};

// The paths named, as a tree; a node without children is named itself.
struct Node {
  std::string name;
  std::vector<Node> children;

  const Node* find(std::string_view child) const {
    const auto at = std::find_if(children.begin(), children.end(),
                                 [&](const Node& node) { return node.name == child; });
    return at == children.end() ? nullptr : &*at;
  }
};

Status add_path(Node& root, const bson::Path& path) {
  Node* node = &root;
  for (size_t i = 0; i < path.parts().size(); ++i) {
    const std::string& part = path.parts()[i];
    const bool last = i + 1 == path.parts().size();
    auto* known = const_cast<Node*>(node->find(part));
    if (known != nullptr && last) {
      return fail(kPathCollision, "Path collision at " + path.dotted());
    }
    if (known != nullptr && known->children.empty()) {
      std::string rest = path.parts()[i + 1];
      for (size_t j = i + 2; j < path.parts().size(); ++j) rest += "." + path.parts()[j];
      return fail(kPathCollisionWithin,
                  "Path collision at " + path.dotted() + " remaining portion " + rest);
    }
    if (known == nullptr) {
      node->children.push_back({part, {}});
      known = &node->children.back();
    }
    node = known;
  }
  return {};
}

class Parser {
 public:
  Node root;
  std::optional<bool> inclusive;  // unset: only _id was named, or nothing
  std::optional<bool> id;

  Status add_all(const std::string& prefix, bson::View specification) {
    for (const bson::Element element : specification) {
      const std::string path = prefix + std::string(element.key);
      if (element.value.type() == Type::kDocument) {
        GM_TRY(add_nested(path, element.value.as_document()));
      } else {
        GM_TRY(add(path, element.value));
      }
    }
    return {};
  }

 private:
  Status add_nested(const std::string& path, bson::View specification) {
    if (specification.empty()) {
      return fail(
          kEmptySubProjection,
          "An empty sub-projection is not a valid value. Found empty object at path " + path);
    }
    const std::string_view first = (*specification.begin()).key;
    if (first.starts_with('$')) {
      return fail(ErrorCode::kBadValue,
                  "unknown operator in projection of '" + path + "': " + std::string(first));
    }
    return add_all(path + ".", specification);
  }

  Status add(const std::string& dotted, ValueView value) {
    const bson::Path path(dotted);
    for (const std::string& part : path.parts()) {
      if (part.empty()) {
        return fail(ErrorCode::kBadValue,
                    "the projected path '" + dotted + "' has an empty field name");
      }
      if (part[0] == '$') {
        return fail(ErrorCode::kBadValue, "the projected path '" + dotted +
                                              "' has a part that begins with '$', which is not "
                                              "supported");
      }
    }
    if (!value.is_number() && value.type() != Type::kBool) {
      return fail(ErrorCode::kBadValue, "the projection of '" + dotted +
                                            "' is neither a number nor a boolean but of type " +
                                            std::string(bson::type_alias(value.type())) +
                                            "; computed fields are not supported");
    }
    const bool include = value.type() == Type::kBool ? value.as_bool() : value.number() != 0.0;
    if (dotted == "_id") {
      if (id || root.find("_id") != nullptr) {
        return fail(kPathCollision, "Path collision at _id");
      }
      id = include;
      return {};
    }
    if (id && path.parts()[0] == "_id") {
      return fail(kPathCollisionWithin,
                  "Path collision at " + dotted + " remaining portion " + dotted.substr(4));
    }
    if (inclusive.value_or(include) != include) {
      return include ? fail(kInclusionInExclusion,
                            "Cannot do inclusion on field " + dotted + " in exclusion projection")
                     : fail(kExclusionInInclusion,
                            "Cannot do exclusion on field " + dotted + " in inclusion projection");
    }
    inclusive = include;
    return add_path(root, path);
  }
};

void project_array(const Node& node, bson::View elements, bool inclusive, bson::Builder& builder);

void project_document(const Node& node, bson::View document, bool inclusive,
                      bson::Builder& builder) {
  for (const bson::Element element : document) {
    const Node* const child = node.find(element.key);
    const bool named = child != nullptr && child->children.empty();
    if (child == nullptr || named) {
      if (named == inclusive) builder.append(element.key, element.value);
    } else if (element.value.type() == Type::kDocument) {
      builder.open_document(element.key);
      project_document(*child, element.value.as_document(), inclusive, builder);
      builder.close();
    } else if (element.value.type() == Type::kArray) {
      builder.open_array(element.key);
      project_array(*child, element.value.as_document(), inclusive, builder);
      builder.close();
    } else if (!inclusive) {
      builder.append(element.key, element.value);
    }
  }
}

void project_array(const Node& node, bson::View elements, bool inclusive, bson::Builder& builder) {
  for (const bson::Element element : elements) {
    if (element.value.type() == Type::kDocument) {
      builder.push_open_document();
      project_document(node, element.value.as_document(), inclusive, builder);
      builder.close();
    } else if (element.value.type() == Type::kArray) {
      builder.push_open_array();
      project_array(node, element.value.as_document(), inclusive, builder);
      builder.close();
    } else if (!inclusive) {
      builder.push(element.value);
    }
  }
}

}  // namespace

struct Projection::State {
  Node root;
  bool inclusive = false;
};

Projection::Projection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Projection::Projection(Projection&&) noexcept = default;
Projection& Projection::operator=(Projection&&) noexcept = default;
Projection::~Projection() = default;

Result<Projection> Projection::parse(bson::View specification) {
  Parser parser;
  GM_TRY(parser.add_all("", specification));
  auto state = std::make_unique<State>();
  // {_id: 1} alone asks for that field only, {} for all.
  state->inclusive = parser.inclusive.value_or(parser.id.value_or(false));
  state->root = std::move(parser.root);
  // In an inclusion _id stays unless it is ruled out or only a part of it is asked for; in an
  // exclusion naming it rules it out.
  if (parser.id.value_or(true) == state->inclusive && state->root.find("_id") == nullptr) {
    state->root.children.push_back({"_id", {}});
  }
  return Projection(std::move(state));
}

bson::Document Projection::apply(bson::View document) const {
  bson::Builder builder;
  project_document(state_->root, document, state_->inclusive, builder);
  return std::move(builder).finish();
}

}  // namespace gridmount::query
