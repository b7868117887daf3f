#include "engine/local/queries/explain.h"

#include <string>

#include "engine/bson/count.h"
#include "engine/bson/json.h"

namespace gridmount::local {
namespace {

using bson::Builder;
using query::Plan;

std::string shown(const query::Interval& interval, bool backward) {
  const auto text = [](const bson::Value& value) {
    if (value.type() == bson::Type::kMinKey) return std::string("MinKey");
    if (value.type() == bson::Type::kMaxKey) return std::string("MaxKey");
    return bson::to_json(value.view(), bson::JsonForm::kRelaxed);
  };
  const std::string low = text(interval.low);
  const std::string high = text(interval.high);
  if (backward) {
    return (interval.high_inclusive ? "[" : "(") + high + ", " + low +
           (interval.low_inclusive ? "]" : ")");
  }
  return (interval.low_inclusive ? "[" : "(") + low + ", " + high +
         (interval.high_inclusive ? "]" : ")");
}

class Stages {
 public:
  Stages(const ExplainedQuery& query, const Execution* execution)
      : query_(query), execution_(execution) {}

  // The stages behind one another, each the inputStage of the one before.
  void write(Builder& out, const Plan& plan) const {
    if (!query_.options.projection.empty()) {
      out.append("stage", query_.covered ? "PROJECTION_COVERED" : "PROJECTION_DEFAULT");
      returned(out);
      out.append("transformBy", query_.options.projection);
      limit(out.open_document("inputStage"), plan);
      out.close();
    } else {
      limit(out, plan);
    }
  }

  void source(Builder& out, const Plan& plan, bool filtered) const {
    switch (plan.kind) {
      case Plan::Kind::kCollectionScan:
        out.append("stage", "COLLSCAN");
        if (filtered && !query_.filter.empty()) out.append("filter", query_.filter);
        returned(out);
        out.append("direction", plan.backward ? "backward" : "forward");
        documents_examined(out);
        break;
      case Plan::Kind::kIndexScan:
        if (query_.covered) return index_scan(out, plan);
        out.append("stage", "FETCH");
        if (filtered && !plan.bounds_are_exact && !query_.filters_entries) {
          out.append("filter", query_.filter);
        }
        returned(out);
        documents_examined(out);
        index_scan(out.open_document("inputStage"), plan);
        out.close();
        break;
      case Plan::Kind::kUnion:
        out.append("stage", "FETCH");
        if (filtered) out.append("filter", query_.filter);
        returned(out);
        documents_examined(out);
        alternatives(out.open_document("inputStage"), plan);
        out.close();
        break;
    }
  }

 private:
  void limit(Builder& out, const Plan& plan) const {
    if (query_.options.limit == 0) return skip(out, plan);
    out.append("stage", "LIMIT");
    returned(out);
    out.append("limitAmount", query_.options.limit);
    skip(out.open_document("inputStage"), plan);
    out.close();
  }

  void skip(Builder& out, const Plan& plan) const {
    if (query_.options.skip == 0) return sort(out, plan);
    out.append("stage", "SKIP");
    returned(out);
    out.append("skipAmount", query_.options.skip);
    sort(out.open_document("inputStage"), plan);
    out.close();
  }

  void sort(Builder& out, const Plan& plan) const {
    if (!query_.sorts) return source(out, plan, true);
    out.append("stage", "SORT");
    returned(out);
    out.append("sortPattern", query_.options.sort);
    out.append("memLimit", static_cast<int64_t>(query_.options.sort_bytes_max));
    source(out.open_document("inputStage"), plan, true);
    out.close();
  }

  void alternatives(Builder& out, const Plan& plan) const {
    out.append("stage", "OR");
    Builder& branches = out.open_array("inputStages");
    for (const Plan& branch : plan.branches) {
      Builder& inner = branches.push_open_document();
      if (branch.kind == Plan::Kind::kIndexScan) {
        index_scan(inner, branch);
      } else if (branch.kind == Plan::Kind::kUnion) {
        alternatives(inner, branch);
      } else {
        source(inner, branch, false);
      }
      inner.close();
    }
    branches.close();
  }

  void index_scan(Builder& out, const Plan& plan) const {
    const IndexEntry& index = query_.entry->indexes[plan.index];
    const query::IndexDefinition& definition = index.definition;
    out.append("stage", "IXSCAN").append("keyPattern", definition.keys);
    if (query_.filters_entries && !plan.bounds_are_exact) out.append("filter", query_.filter);
    out.append("indexName", definition.name).append("isMultiKey", index.multikey);
    out.append("isUnique", definition.unique).append("isSparse", definition.sparse);
    out.append("isPartial", definition.partial_filter.has_value());
    out.append("direction", plan.backward ? "backward" : "forward");
    Builder& bounds = out.open_document("indexBounds");
    size_t part = 0;
    for (const bson::Element key : definition.keys.view()) {
      Builder& list = bounds.open_array(key.key);
      const bool descending = key.value.number().value_or(1) < 0;
      if (part < plan.bounds.size()) {
        for (const query::Interval& interval : plan.bounds[part]) {
          list.push(bson::Value(shown(interval, plan.backward != descending)).view());
        }
      } else {
        list.push(bson::Value(plan.backward != descending ? "[MaxKey, MinKey]" : "[MinKey, MaxKey]")
                      .view());
      }
      list.close();
      ++part;
    }
    bounds.close();
    if (execution_ != nullptr && &plan == &query_.plan->plan) {
      bson::append_count(out, "keysExamined", execution_->keys_examined);
    }
  }

  // Counted for the whole query, so they are told where the whole is what the stage did.
  void returned(Builder& out) const {
    if (execution_ != nullptr) bson::append_count(out, "nReturned", execution_->returned);
  }
  void documents_examined(Builder& out) const {
    if (execution_ != nullptr)
      bson::append_count(out, "docsExamined", execution_->documents_examined);
  }

  const ExplainedQuery& query_;
  const Execution* execution_;
};

void write_plan(Builder& out, const ExplainedQuery& query, const Plan* plan,
                const Execution* execution) {
  if (plan == nullptr) {
    out.append("stage", "EOF");
  } else {
    Stages(query, execution).write(out, *plan);
  }
}

}  // namespace

bson::Document explanation(const ExplainedQuery& query, const Execution* execution) {
  const Plan* winning = query.plan != nullptr ? &query.plan->plan : nullptr;
  Builder out;
  out.append("explainVersion", "1");
  Builder& planner = out.open_document("queryPlanner");
  planner.append("namespace", query.ns.full()).append("indexFilterSet", false);
  planner.append("parsedQuery", query.filter);
  write_plan(planner.open_document("winningPlan"), query, winning, nullptr);
  planner.close();
  Builder& rejected = planner.open_array("rejectedPlans");
  if (query.plan != nullptr) {
    for (const Plan& plan : query.plan->rejected) {
      ExplainedQuery other = query;
      other.covered = false;
      other.filters_entries = false;
      other.sorts = !query.options.sort.empty() && !plan.provides_sort;
      write_plan(rejected.push_open_document(), other, &plan, nullptr);
      rejected.close();
    }
  }
  rejected.close();
  out.close();
  if (execution != nullptr) {
    Builder& stats = out.open_document("executionStats");
    stats.append("executionSuccess", true);
    bson::append_count(stats, "nReturned", execution->returned);
    bson::append_count(stats, "executionTimeMillis", execution->milliseconds);
    bson::append_count(stats, "totalKeysExamined", execution->keys_examined);
    bson::append_count(stats, "totalDocsExamined", execution->documents_examined);
    write_plan(stats.open_document("executionStages"), query, winning, execution);
    stats.close();
    out.close();
  }
  return std::move(out).finish();
}

}  // namespace gridmount::local
