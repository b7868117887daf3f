// Projections: which fields of a found document are returned.
// Source: MongoDB manual, "Project Fields to Return from Query".
#pragma once

#include <memory>

#include "engine/bson/document.h"
#include "engine/error.h"

namespace gridmount::query {

class Projection {
 public:
  // {a: 1, "b.c": 1} includes, {a: 0} excludes, _id stays unless {_id: 0}. Mixing is refused as the
  // server does (code 31254 / 31253), unknown operators too.
  static Result<Projection> parse(bson::View specification);

  Projection(Projection&&) noexcept;
  Projection& operator=(Projection&&) noexcept;
  ~Projection();

  bson::Document apply(bson::View document) const;

 private:
  struct State;
  explicit Projection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
