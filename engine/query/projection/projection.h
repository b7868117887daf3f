// Projections: which fields of a found document are returned, and what is computed beside them.
// Source: MongoDB manual, "Project Fields to Return from Query" and "Projection Operators"; codes
// as the server's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::query {

struct ProjectionOptions {
  // The query the documents are found by, which {"a.$": 1} needs. Views are not kept.
  std::optional<bson::View> filter;
  // The values of variables that expressions may name ($$x), by name.
  bson::View variables;
  // $$NOW, one for a whole command.
  bson::Date now = {};
};

class Projection {
 public:
  // {a: 1, "b.c": 1, d: {e: 1}} includes, {a: 0} excludes, _id stays unless {_id: 0}. Mixing is
  // refused as the server does (31253, 31254), as are paths that meet (31249, 31250).
  // {a: {$slice: 2}}, {a: {$elemMatch: {b: 1}}} and {"a.$": 1} cut arrays; any other value than a
  // number or boolean is an expression ("$b", {$add: ["$b", 1]}, "literal") and computes the field.
  static Result<Projection> parse(bson::View specification, const ProjectionOptions& options = {});

  Projection(Projection&&) noexcept;
  Projection& operator=(Projection&&) noexcept;
  ~Projection();

  // Fails only where expressions fail, where what they make is too large or nested too deep, or
  // where {"a.$": 1} finds no element (51246, 51247). The view is valid as long as the document and
  // until the next call. One thread at a time.
  Result<bson::View> apply(bson::View document);

  // The paths it keeps if it does nothing else: {a: 1, "b.c": 1, _id: 0} gives a and b.c.
  std::optional<std::vector<std::string>> included_paths() const;

  // Whether the document must be one that the filter matches.
  bool needs_match() const;

 private:
  struct State;
  explicit Projection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
