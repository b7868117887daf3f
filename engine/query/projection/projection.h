// Projections: which fields of a found document are returned, and which computed fields are added.
// A Projection is used by one thread at a time.
//
// Source: MongoDB manual, "Project Fields to Return from Query" and "Projection Operators". The
// error codes are the server's.
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
  // The query that finds the documents, which {"a.$": 1} needs. The options' views need not outlive
  // parse().
  std::optional<bson::View> filter;
  // The values, by name, of the variables that expressions may use ($$x).
  bson::View variables;
  // $$NOW, the same for a whole command.
  bson::Date now = {};
};

class Projection {
 public:
  // {a: 1, "b.c": 1, d: {e: 1}} includes fields, and {a: 0} excludes fields. _id is kept unless
  // {_id: 0}. Like servers, fails if both are mixed (31253, 31254) and if paths collide (31249,
  // 31250). {a: {$slice: 2}}, {a: {$elemMatch: {b: 1}}} and {"a.$": 1} select elements of arrays.
  // Any value other than a number or boolean is an expression ("$b", {$add: ["$b", 1]}, "literal")
  // that computes the field.
  static Result<Projection> parse(bson::View specification, const ProjectionOptions& options = {});

  Projection(Projection&&) noexcept;
  Projection& operator=(Projection&&) noexcept;
  ~Projection();

  // Fails if an expression fails, if the result is too large or nested too deep, or if {"a.$": 1}
  // finds no element (51246, 51247). The view is valid as long as the document, and until the next
  // call.
  Result<bson::View> apply(bson::View document);

  // Returns the paths to include if the projection does nothing else: a and b.c for {a: 1, "b.c":
  // 1, _id: 0}. Otherwise returns nullopt.
  std::optional<std::vector<std::string>> included_paths() const;

  // Returns whether apply() takes only documents that match the filter.
  bool needs_match() const;

 private:
  struct State;
  explicit Projection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
