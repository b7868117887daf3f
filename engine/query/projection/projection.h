// A projection selects the fields of a document that a find returns, and adds computed fields.
//
// Thread-safety: not thread-safe. A Projection must be used by one thread at a time.
//
// Source: MongoDB manual, "Project Fields to Return from Query" and "Projection Operators". The
// error codes are those of servers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/collation/collator.h"

namespace gridmount::query {

struct ProjectionOptions {
  // The filter of the query, which {"a.$": 1} needs. parse() copies what it needs of this filter
  // and of `variables`, so the filter and the variables need not outlive parse().
  std::optional<bson::View> filter;
  // The variables that expressions may use ($$x), as {name: value, ...}.
  bson::View variables;
  // $$NOW, the same for a whole command.
  bson::Date now = {};
  // The order of strings in expressions, in $elemMatch, and in the filter. Null: as bytes.
  SharedCollator collator = nullptr;
  // True if the query has a $text. Then {$meta: "textScore"} has a value.
  bool has_text_score = false;
};

class Projection {
 public:
  // Parses a projection:
  // - {a: 1, "b.c": 1, d: {e: 1}} includes fields, and {a: 0} excludes fields. _id is included
  //   unless the projection has {_id: 0}.
  // - {a: {$slice: 2}}, {a: {$elemMatch: {b: 1}}} and {"a.$": 1} select elements of arrays.
  // - Any other value than a number or a boolean is an expression ("$b", {$add: ["$b", 1]},
  //   "literal") that computes the field.
  // Fails with the codes of servers: with 31253 or 31254 if inclusions and exclusions are mixed,
  // with 31249 or 31250 if paths collide, and with other codes for other mistakes. Also fails with
  // the errors of an expression, and with FailedToParse for a name in `variables` that no variable
  // may have.
  static Result<Projection> parse(bson::View specification, const ProjectionOptions& options = {});

  Projection(Projection&&) noexcept;
  Projection& operator=(Projection&&) noexcept;
  ~Projection();

  // Returns the projected document. `text_score` is the value of {$meta: "textScore"}. The result
  // is a view, which is valid until the next call of apply(), and only as long as `document` is
  // valid. Fails if an expression fails, if the result is larger than bson::kMaxDocumentBytes
  // (BSONObjectTooLarge) or nested too deep (Overflow), or if {"a.$": 1} finds no element (51246,
  // 51247).
  Result<bson::View> apply(bson::View document, std::optional<double> text_score = std::nullopt);

  // If the projection only includes fields, returns their paths: a and b.c for {a: 1, "b.c": 1,
  // _id: 0}. Otherwise returns nullopt.
  std::optional<std::vector<std::string>> included_paths() const;

  // Returns whether the projection has a {$meta: "textScore"}.
  bool uses_text_score() const;

  // Returns true if apply() needs documents that match the filter, because the projection has an
  // {"a.$": 1}.
  bool needs_match() const;

 private:
  struct State;
  explicit Projection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
