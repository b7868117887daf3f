// A projection as a tree of field names, and how it is applied. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/error.h"
#include "engine/query/filter/filter.h"
#include "engine/query/projection/projected_expressions.h"

namespace gridmount::query {

// The elements that {$slice: n} or {$slice: [skip, n]} leaves; from the end if negative.
struct ArraySlice {
  std::optional<int32_t> skip;
  int32_t limit = 0;
};

struct FindProjectionNode {
  enum class Kind { kPath, kIncluded, kExcluded, kSliced, kElementMatched, kComputed };

  std::string name;
  Kind kind = Kind::kPath;
  std::vector<FindProjectionNode> children;  // kPath; in the order they were named

  ArraySlice slice;                        // kSliced
  std::optional<Filter> element;           // kElementMatched; on the whole document
  std::unique_ptr<Expression> expression;  // kComputed

  // On the path of {"a.b.$": 1}, or at its end.
  bool positional = false;
  // Something below is computed, or it is itself.
  bool computes = false;

  const FindProjectionNode* find(std::string_view child) const;
  FindProjectionNode* find(std::string_view child);
  FindProjectionNode& add(std::string_view child);
  void remove(std::string_view child);

 private:
  // Positions of children, if there are too many to look at each.
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, size_t, NameHash, std::equal_to<>> positions_;
};

struct FindProjection {
  FindProjectionNode root;
  bool inclusive = false;
  // For {"a.$": 1}.
  std::optional<Filter> filter;
  ProjectedExpressions expressions;
};

struct ProjectionOptions;
Result<FindProjection> parse_projection(bson::View specification, const ProjectionOptions& options);

Result<bson::Document> apply_projection(const FindProjection& tree, bson::View document);

}  // namespace gridmount::query
