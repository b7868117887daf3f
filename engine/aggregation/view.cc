#include "engine/aggregation/view.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/pipeline/pipeline.h"

namespace gridmount::aggregation {
namespace {

constexpr size_t kDepthMax = 20;
constexpr ErrorCode kGraphContainsCycle{5};
constexpr ErrorCode kViewDepthLimitExceeded{165};
constexpr ErrorCode kOptionNotSupportedOnView{167};

Result<std::optional<engine::CollectionOptions>> collection_options(engine::Database& database,
                                                                    engine::Snapshot& snapshot,
                                                                    const std::string& collection) {
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            database.collection_info(snapshot, collection));
  if (!info) return std::optional<engine::CollectionOptions>();
  GM_ASSIGN(engine::CollectionOptions options,
            engine::CollectionOptions::parse({database.name(), collection}, info->options));
  return std::optional(std::move(options));
}

Result<std::optional<engine::CollectionOptions>> view_options(engine::Database& database,
                                                              engine::Snapshot& snapshot,
                                                              const std::string& collection) {
  GM_ASSIGN(std::optional<engine::CollectionOptions> options,
            collection_options(database, snapshot, collection));
  if (!options || !options->is_view()) return std::optional<engine::CollectionOptions>();
  return std::optional(*std::move(options));
}

tl::unexpected<Error> too_deep(const engine::Namespace& ns) {
  return fail(kViewDepthLimitExceeded,
              "View depth too deep or view cycle detected; maximum depth "
              "is " +
                  std::to_string(kDepthMax) + ", at " + ns.full());
}

// Returns the collections of the database that the pipeline of a view reads, except its input.
Result<std::set<std::string>> read_by(const std::string& database, bson::View stages) {
  query::VariableScope scope;
  GM_ASSIGN(const query::Pipeline pipeline,
            query::Pipeline::parse(stages, scope, {.over_collection = true, .may_write = false}));
  std::set<std::string> names;
  for (const query::CollectionName& other : pipeline.other_collections()) {
    if (other.database.empty() || other.database == database) names.insert(other.collection);
  }
  return names;
}

// Fails if the view `name` is among the collections that `below` leads to, through any number of
// views. Reading such a view would not end.
Status check_cycle(engine::Database& database, engine::Snapshot& snapshot, std::string_view name,
                   std::vector<std::string> below) {
  std::set<std::string> met(below.begin(), below.end());
  while (!below.empty()) {
    const std::string next = std::move(below.back());
    below.pop_back();
    if (next == name) {
      return fail(kGraphContainsCycle, "View cycle detected: " + database.name() + "." +
                                           std::string(name) + " reads itself");
    }
    GM_ASSIGN(std::optional<engine::CollectionOptions> view,
              view_options(database, snapshot, next));
    if (!view) continue;
    std::set<std::string> read;
    if (view->pipeline) {
      GM_ASSIGN(read, read_by(database.name(), *view->pipeline));
    }
    read.insert(view->view_on);
    for (const std::string& one : read) {
      if (met.insert(one).second) below.push_back(one);
    }
  }
  return {};
}

// Refuses system collections, except those that every reader of the database may read.
Status check_source(const std::string& database, const std::string& collection) {
  if (!collection.starts_with("system.") || collection == "system.js") return {};
  return fail(ErrorCode::kInvalidNamespace, "a view cannot read " + database + "." + collection);
}

}  // namespace

Result<ResolvedView> resolve_view(const Databases& databases, engine::Snapshot& snapshot,
                                  const engine::Namespace& ns) {
  const std::shared_ptr<engine::Database> database = databases(ns.database);
  ResolvedView resolved{ns, bson::Document()};
  std::vector<bson::Document> pipelines;  // the pipeline of the outermost view first
  while (true) {
    GM_ASSIGN(std::optional<engine::CollectionOptions> view,
              collection_options(*database, snapshot, resolved.ns.collection));
    if (view && view->collation && pipelines.empty()) resolved.collation = *view->collation;
    if (!view || !view->is_view()) break;
    if (pipelines.size() == kDepthMax) return too_deep(ns);
    resolved.ns.collection = view->view_on;
    pipelines.push_back(view->pipeline ? *std::move(view->pipeline) : bson::Document());
  }
  if (pipelines.empty()) return resolved;
  bson::Builder stages;
  size_t position = 0;
  for (size_t i = pipelines.size(); i-- > 0;) {
    for (const bson::Element stage : pipelines[i].view()) {
      stages.append(std::to_string(position++), stage.value);
    }
  }
  resolved.stages = std::move(stages).finish();
  return resolved;
}

Status check_view(engine::Database& database, engine::Snapshot& snapshot, std::string_view name,
                  std::string_view view_on, bson::View stages, bson::View collation) {
  GM_ASSIGN(std::set<std::string> below, read_by(database.name(), stages));
  below.emplace(view_on);
  for (const std::string& source : below) {
    GM_TRY(check_source(database.name(), source));
    GM_ASSIGN(const std::optional<engine::CollectionOptions> view,
              view_options(database, snapshot, source));
    if (!view) continue;
    const bson::View own = view->collation ? view->collation->view() : bson::View();
    if (bson::compare(own, collation) != 0) {
      return fail(kOptionNotSupportedOnView, "View " + database.name() + "." + std::string(name) +
                                                 " has conflicting collation with view " +
                                                 database.name() + "." + source);
    }
  }
  GM_TRY(check_cycle(database, snapshot, name, {below.begin(), below.end()}));
  std::string on(view_on);
  for (size_t depth = 1; depth <= kDepthMax; ++depth) {
    GM_ASSIGN(std::optional<engine::CollectionOptions> view, view_options(database, snapshot, on));
    if (!view) return {};
    on = view->view_on;
  }
  return too_deep({database.name(), std::string(name)});
}

Result<bson::Document> effective_collation(const engine::Namespace& ns, const ResolvedView& view,
                                           bson::View given) {
  GM_ASSIGN(const query::SharedCollator own, query::Collator::parse(view.collation));
  bool use_own = given.empty();
  if (!given.empty() && view.ns != ns) {
    GM_ASSIGN(const query::SharedCollator wanted, query::Collator::parse(given));
    if (!query::same_collation(own.get(), wanted.get())) {
      return fail(kOptionNotSupportedOnView, "Cannot override a view's default collation");
    }
    use_own = true;
  }
  if (!use_own) return bson::Document(given);
  if (own != nullptr) return view.collation;
  bson::Builder simple;
  simple.append("locale", "simple");
  return std::move(simple).finish();
}

Status check_views_collation(const Databases& databases, engine::Snapshot& snapshot,
                             const engine::Namespace& ns, const query::Pipeline& pipeline,
                             const query::Collator* collator) {
  for (const query::CollectionName& name : pipeline.other_collections()) {
    const engine::Namespace other{name.database.empty() ? ns.database : name.database,
                                  name.collection};
    GM_ASSIGN(const ResolvedView resolved, resolve_view(databases, snapshot, other));
    if (resolved.ns == other) continue;
    GM_ASSIGN(const query::SharedCollator own, query::Collator::parse(resolved.collation));
    if (!query::same_collation(own.get(), collator)) {
      return fail(kOptionNotSupportedOnView,
                  "Cannot override a view's default collation: " + other.full());
    }
  }
  return {};
}

}  // namespace gridmount::aggregation
