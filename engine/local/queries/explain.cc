#include "engine/local/queries/explain.h"

#include <cstdio>
#include <string>

#include "engine/bson/count.h"
#include "engine/checksum/crc32c.h"
#include "engine/local/queries/explained_stages.h"
#include "engine/query/filter/canonical_form.h"
#include "engine/query/text/text_query.h"

namespace gridmount::local {
namespace {

using bson::Builder;
using query::Plan;

std::string hexadecimal(uint32_t hash) {
  char text[9];
  std::snprintf(text, sizeof text, "%08X", hash);
  return text;
}

// queryHash is the same for queries of one shape. planCacheKey also depends on the indexes to
// choose from.
void append_hashes(Builder& out, const ExplainedQuery& query, bson::View canonical_form) {
  uint32_t hash = crc32c(query::shape_of(canonical_form).view().bytes());
  hash = crc32c(query.options.sort.bytes(), hash);
  hash = crc32c(query.options.projection.bytes(), hash);
  out.append("queryHash", hexadecimal(hash));
  if (query.metadata != nullptr) {
    for (const IndexMetadata& index : query.metadata->indexes) {
      const std::string& name = index.definition.name;
      // Includes the NUL at the end, which separates the names.
      hash = crc32c({reinterpret_cast<const uint8_t*>(name.c_str()), name.size() + 1}, hash);
    }
  }
  out.append("planCacheKey", hexadecimal(hash));
}

// Returns the filter with the defaults of its $text filled in.
bson::Document with_whole_text(bson::View filter, std::string_view language) {
  Builder out;
  for (const bson::Element element : filter) {
    const bool is_list = element.value.type() == bson::Type::kArray;
    if (element.key == "$text") {
      out.append("$text", query::complete_text_operand(element.value.as_document(), language));
    } else if (is_list && (element.key == "$and" || element.key == "$or")) {
      Builder& list = out.open_array(element.key);
      for (const bson::Element branch : element.value.as_document()) {
        list.push(with_whole_text(branch.value.as_document(), language).view());
      }
      list.close();
    } else {
      out.append(element.key, element.value);
    }
  }
  return std::move(out).finish();
}

bson::Document canonical_form_of(const ExplainedQuery& query) {
  const auto* const text = query.metadata != nullptr ? query.metadata->text_index.get() : nullptr;
  if (text == nullptr) return query::canonical_form(query.filter);
  return query::canonical_form(with_whole_text(query.filter, text->default_language_name()));
}

}  // namespace

bson::Document explanation(const ExplainedQuery& query, const Execution* execution) {
  const Plan* winning = query.plan != nullptr ? &query.plan->plan : nullptr;
  Builder out;
  out.append("explainVersion", "1");
  Builder& planner = out.open_document("queryPlanner");
  planner.append("namespace", query.ns.full()).append("indexFilterSet", false);
  const bson::Document canonical_form = canonical_form_of(query);
  planner.append("parsedQuery", canonical_form);
  if (query.collator != nullptr) {
    planner.append("collation", query.collator->collation().document());
  }
  append_hashes(planner, query, canonical_form);
  for (const char* const limit : {"maxIndexedOrSolutionsReached", "maxIndexedAndSolutionsReached",
                                  "maxScansToExplodeReached"}) {
    planner.append(limit, false);
  }
  append_stages(planner.open_document("winningPlan"), query, winning, nullptr);
  planner.close();
  Builder& rejected = planner.open_array("rejectedPlans");
  if (query.plan != nullptr) {
    for (const Plan& plan : query.plan->rejected) {
      ExplainedQuery other = query;
      other.covered = query.counts && plan.is_exact();
      other.filters_entries = false;
      other.by_id = false;
      other.distinct = false;
      other.sorts = !query.options.sort.empty() && !plan.provides_sort;
      append_stages(rejected.push_open_document(), other, &plan, nullptr);
      rejected.close();
    }
  }
  rejected.close();
  out.close();
  if (execution != nullptr) {
    const ExecutionStats& stats = execution->stats;
    Builder& section = out.open_document("executionStats");
    section.append("executionSuccess", true);
    bson::append_count(section, "nReturned", query.counts ? 0 : stats.given);
    bson::append_count(section, "executionTimeMillis", execution->milliseconds);
    bson::append_count(section, "totalKeysExamined", stats.scan.keys_examined);
    bson::append_count(section, "totalDocsExamined", stats.documents_examined);
    append_stages(section.open_document("executionStages"), query, winning, execution);
    section.close();
    out.close();
  }
  return std::move(out).finish();
}

}  // namespace gridmount::local
