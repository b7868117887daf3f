#include "engine/query/projection.h"

#include <utility>

#include "engine/query/projection_tree.h"

namespace gridmount::query {

struct Projection::State {
  FindProjection tree;
};

Projection::Projection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Projection::Projection(Projection&&) noexcept = default;
Projection& Projection::operator=(Projection&&) noexcept = default;
Projection::~Projection() = default;

Result<Projection> Projection::parse(bson::View specification, const ProjectionOptions& options) {
  auto state = std::make_unique<State>();
  GM_ASSIGN(state->tree, parse_projection(specification, options));
  return Projection(std::move(state));
}

Result<bson::Document> Projection::apply(bson::View document) const {
  return apply_projection(state_->tree, document);
}

bool Projection::needs_match() const {
  return state_->tree.filter.has_value();
}

}  // namespace gridmount::query
