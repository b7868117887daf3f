#include "engine/local/queries/observation.h"

#include <string>
#include <utility>

#include "engine/bson/text.h"

namespace gridmount::local {
namespace {

std::string index_scan(const IndexMetadata& index, std::string stage = "IXSCAN") {
  std::string summary = std::move(stage) + " {";
  const char* separator = " ";
  for (const bson::Element& part : index.definition.keys.view()) {
    summary += separator;
    summary += part.key;
    summary += ": ";
    summary += bson::to_text(part.value);
    separator = ", ";
  }
  return summary + " }";
}

std::string plan_summary(const CollectionMetadata& metadata, const query::Plan& plan) {
  switch (plan.kind) {
    case query::Plan::Kind::kCollectionScan:
      return "COLLSCAN";
    case query::Plan::Kind::kIndexScan:
      return index_scan(metadata.indexes[plan.index]);
    case query::Plan::Kind::kUnion:
      break;
  }
  std::string summary;
  for (const query::Plan& branch : plan.branches) {
    if (!summary.empty()) summary += ", ";
    summary += plan_summary(metadata, branch);
  }
  return summary;
}

// Adds each plan once, so that the summary does not grow with the statements of a batch, or with
// the documents for which $lookup reads others.
void report_plan(engine::ReadObserver& observer, const std::string& summary) {
  if (observer.plan_summary.find(summary) != std::string::npos) return;
  if (!observer.plan_summary.empty()) observer.plan_summary += ", ";
  observer.plan_summary += summary;
}

}  // namespace

void add_keyspaces(const CollectionMetadata& metadata, const query::Plan& plan,
                   std::vector<Keyspace>& keyspaces) {
  if (plan.kind == query::Plan::Kind::kIndexScan) {
    keyspaces.push_back(metadata.indexes[plan.index].keyspace);
  }
  for (const query::Plan& branch : plan.branches) add_keyspaces(metadata, branch, keyspaces);
}

void record_missing(ReadView& read_view) {
  if (read_view.observer() != nullptr) report_plan(*read_view.observer(), "EOF");
}

void record_plan(ReadView& read_view, const CollectionMetadata& metadata, const query::Plan& plan,
                 bool distinct) {
  std::vector<Keyspace> keyspaces;
  add_keyspaces(metadata, plan, keyspaces);
  for (const Keyspace& keyspace : keyspaces) read_view.index_usage().note(keyspace);
  if (read_view.observer() == nullptr) return;
  report_plan(*read_view.observer(), distinct
                                         ? index_scan(metadata.indexes[plan.index], "DISTINCT_SCAN")
                                         : plan_summary(metadata, plan));
}

void record_by_id(ReadView& read_view, const CollectionMetadata& metadata) {
  read_view.index_usage().note(metadata.indexes.front().keyspace);
  if (read_view.observer() != nullptr) report_plan(*read_view.observer(), "IDHACK");
}

void record_lookup(ReadView& read_view, const CollectionMetadata& metadata,
                   const IndexMetadata& index, bool found) {
  read_view.index_usage().note(index.keyspace);
  if (read_view.observer() == nullptr) return;
  const bool by_id = &index == metadata.indexes.data();
  report_plan(*read_view.observer(), by_id ? "IDHACK" : index_scan(index));
  record_examined(read_view.observer().get(), found ? 1 : 0, found ? 1 : 0);
}

void record_examined(engine::ReadObserver* observer, int64_t keys, int64_t documents) {
  if (observer == nullptr) return;
  observer->keys_examined += keys;
  observer->documents_examined += documents;
}

}  // namespace gridmount::local
