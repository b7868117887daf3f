#include "engine/aggregation/access.h"

#include <set>
#include <string>
#include <vector>

namespace gridmount::aggregation {
namespace {

thread_local Access* current = nullptr;

engine::Namespace in_database(const query::CollectionName& name, const std::string& database) {
  return {name.database.empty() ? database : name.database, name.collection};
}

// The namespaces that a pipeline reaches, each once.
class Reached {
 public:
  explicit Reached(std::string database) : database_(std::move(database)) {}

  void add(const engine::Namespace& ns) {
    if (met_.insert(ns).second) waiting_.push_back(ns);
  }
  void add_others(const query::Pipeline& pipeline) {
    for (const query::CollectionName& other : pipeline.other_collections()) {
      add(in_database(other, database_));
    }
  }
  bool done() const { return waiting_.empty(); }
  engine::Namespace take() {
    engine::Namespace ns = std::move(waiting_.back());
    waiting_.pop_back();
    return ns;
  }

 private:
  const std::string database_;
  std::set<engine::Namespace> met_;
  std::vector<engine::Namespace> waiting_;
};

Status follow_view(const Databases& databases, engine::Snapshot& snapshot,
                   const engine::Namespace& ns, Reached& reached) {
  GM_ASSIGN(const ResolvedView view, resolve_view(databases, snapshot, ns));
  if (view.ns == ns) return {};
  reached.add(view.ns);
  query::VariableScope scope;
  GM_ASSIGN(const query::Pipeline pipeline,
            query::Pipeline::parse(view.stages, scope, {.over_collection = true}));
  reached.add_others(pipeline);
  return {};
}

}  // namespace

AccessScope::AccessScope(Access& access) {
  current = &access;
}

AccessScope::~AccessScope() {
  current = nullptr;
}

Status check_access(const Databases& databases, engine::Snapshot& snapshot,
                    const engine::Namespace& ns, const ResolvedView& view,
                    const query::Pipeline& pipeline, bool bypass_validation) {
  Access* const access = current;
  if (access == nullptr) return {};
  Reached reached(ns.database);
  if (view.ns != ns) reached.add(view.ns);
  reached.add_others(pipeline);
  while (!reached.done()) {
    const engine::Namespace next = reached.take();
    GM_TRY(access->may_read(next));
    GM_TRY(follow_view(databases, snapshot, next, reached));
  }
  const std::optional<query::CollectionName> target = pipeline.target();
  if (!target) return {};
  const bool replaces = pipeline.own_stages().back() == "$out";
  return access->may_write(in_database(*target, ns.database),
                           replaces ? WriteKind::kReplace : WriteKind::kMerge, bypass_validation);
}

}  // namespace gridmount::aggregation
